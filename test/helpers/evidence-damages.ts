import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';

/** The files of a folder by their paths in it. */
export type FileTree = ReadonlyMap<string, Buffer>;

/** Reads all files of a folder. */
export async function readTree(folder: string): Promise<FileTree> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const tree = new Map<string, Buffer>();
  for (const path of paths.toSorted()) tree.set(path.slice(folder.length + 1), await readFile(path));
  return tree;
}

/** Makes a folder that holds the files of `before` hold those of `after`; folders without a file go. */
export async function writeTree(folder: string, before: FileTree, after: FileTree): Promise<void> {
  for (const path of before.keys()) if (!after.has(path)) await rm(join(folder, path), { force: true });
  const isUsed = (place: string): boolean => [...after.keys()].some((path) => path.startsWith(`${place}/`));
  for (const path of before.keys())
    for (const place of [dirname(path), dirname(dirname(path))])
      if (!isUsed(place) && place !== '.') await rm(join(folder, place), { recursive: true, force: true });
  for (const [path, bytes] of after) {
    if (before.get(path)?.equals(bytes)) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/** A tree with one file changed; null removes it. */
export function changeFile(tree: FileTree, path: string, change: (bytes: Buffer) => Buffer | null): FileTree {
  const changed = new Map(tree);
  const bytes = change(changed.get(path) ?? Buffer.alloc(0));
  if (bytes === null) changed.delete(path);
  else changed.set(path, bytes);
  return changed;
}

/** A tree with the lines of one file changed, compressed or not. */
export function changeLines(tree: FileTree, path: string, change: (lines: string[]) => readonly string[]): FileTree {
  return changeFile(tree, path, (bytes) => {
    const isPacked = path.endsWith('.gz');
    const lines = (isPacked ? gunzipSync(bytes) : bytes).toString('utf8').split('\n').slice(0, -1);
    const text = Buffer.from(
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    return isPacked ? gzipSync(text) : text;
  });
}

/** The files of a pack by their names. */
export const listPack = (tree: FileTree, pack: string): ReadonlyMap<string, Buffer> =>
  new Map([...tree].flatMap(([path, bytes]) => (dirname(path) === pack ? [[path.slice(pack.length + 1), bytes]] : [])));

const manifestShape = z.looseObject({
  sequence: z.number(),
  former: z.looseObject({ sha256: z.string() }).nullable(),
  files: z.array(z.looseObject({ name: z.string() })),
  signer: z.string().nullable(),
});
export type LooseManifest = z.infer<typeof manifestShape>;

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/**
 * Makes digests, sizes and counts of packs right again, as somebody does who wants to hide a change. `packs`: those to be rebuilt, in the order
 * of the chain; each names the one before it. `change` changes a manifest further.
 */
export function rebuild(
  tree: FileTree,
  packs: readonly string[],
  change: (manifest: LooseManifest) => void = () => undefined,
): FileTree {
  const rebuilt = new Map(tree);
  let former: string | null = null;
  for (const pack of packs) {
    const manifest = manifestShape.parse(JSON.parse(String(rebuilt.get(`${pack}/manifest.json`))));
    manifest.files = manifest.files.flatMap((file) => {
      const bytes = rebuilt.get(`${pack}/${file.name}`);
      if (!bytes) return [];
      const content = file.name.endsWith('.gz') ? gunzipSync(bytes) : bytes;
      const lines = content.toString('latin1').split('\n').length - 1;
      return [{ name: file.name, bytes: content.length, lines, sha256: digest(content) }];
    });
    if (former !== null && manifest.former) manifest.former.sha256 = former;
    change(manifest);
    const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    former = digest(bytes);
    rebuilt.set(`${pack}/manifest.json`, bytes);
    sumUp(rebuilt, pack, manifest);
  }
  return rebuilt;
}

/** Writes SHA256SUMS of a pack anew. */
function sumUp(tree: Map<string, Buffer>, pack: string, { files, signer }: LooseManifest): void {
  const names = [...files.map(({ name }) => name), 'manifest.json'];
  if (signer !== null) names.push('manifest.sig');
  const lines = names.map((name) => `${digest(tree.get(`${pack}/${name}`) ?? Buffer.alloc(0))}  ${name}\n`);
  tree.set(`${pack}/SHA256SUMS`, Buffer.from(lines.join('')));
}
