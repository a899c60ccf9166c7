import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { EvidenceError, NightscreenError, readErrorCode, readMessage } from '../errors.js';
import { findFolderProblem, makeFolders, makePassingFolder, syncFolder } from '../files.js';
import {
  describeMistake,
  type LineFileName,
  type ListedFile,
  manifestName,
  manifestSchema,
  type PackHead,
  type PackManifest,
  type runName,
  signatureName,
  sumsName,
} from './manifest.js';

export type { PackHead } from './manifest.js';

/** Lines of JSON in batches, without their line feeds. */
type LineBatches = Iterable<readonly string[]> | AsyncIterable<readonly string[]>;

/** The content of a file of a pack. */
export type PackContent = { name: typeof runName; text: string } | { name: LineFileName; lines: LineBatches };

/** The folder of a pack in that of the evidence. */
export const toPackFolder = (directory: string, run: number | string, pack: number): string =>
  join(directory, String(run), String(pack));

/** A pack on disk: its folder, the digest of its manifest (hex), and the bytes of all its files. */
export interface WrittenPack {
  directory: string;
  sha256: string;
  bytes: number;
}

/** A pack that is to be written, in the folder of the packs of one organisation. */
interface PackToWrite {
  directory: string;
  head: PackHead;
  /** In the order of the format, run.json first; a file without lines is left out. */
  contents: Iterable<PackContent>;
  /** A private Ed25519 key. */
  signingKey?: KeyObject | undefined;
  /** The digest (hex) of its manifest, where it was written before; another one is not published. */
  mustBe?: string | undefined;
}

/**
 * Writes the pack of a run to `<directory>/<run>/<pack>`, whole or not at all, and durable when this returns. The lines are read as fast as the
 * disk takes them. A pack that is there with the same manifest is left alone. An error of `lines` is thrown on as it is. Throws EvidenceError
 * `evidence_differs` for another pack in the folder and `evidence_not_written` when the disk refuses; then nothing of this call remains.
 */
export async function writePack({ directory, head, contents, signingKey, mustBe }: PackToWrite): Promise<WrittenPack> {
  const folder = toPackFolder(directory, head.run, head.pack);
  const problem = findFolderProblem(directory);
  if (problem !== null) throw toWriteError(folder, problem);
  try {
    await makeFolders(directory);
    // It lies beside the folders of all runs: what a killed writer left is then removed by the next pack of any run.
    const passing = await makePassingFolder(directory, `${head.run}-${head.pack}`);
    try {
      const { sha256, bytes } = await fillFolder(passing, head, contents, signingKey);
      if (mustBe !== undefined && sha256 !== mustBe) throw toChangedError(folder);
      await publish(passing, directory, folder, sha256);
      return { directory: folder, sha256, bytes };
    } finally {
      await rm(passing, { recursive: true, force: true });
    }
  } catch (error) {
    if (error instanceof SourceError) throw error.cause;
    if (error instanceof NightscreenError || readErrorCode(error) === null) throw error;
    throw toWriteError(folder, readMessage(error), error);
  }
}

const fullDisk: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function toWriteError(folder: string, reason: string, cause?: unknown): EvidenceError {
  const remedy = fullDisk.has(readErrorCode(cause)) ? 'Free disk space, or name' : 'Grant the right, or name';
  const message = `the evidence could not be written to ${folder}: ${reason}; nothing was left there. ${remedy} another folder in evidence.dir`;
  return new EvidenceError('evidence_not_written', message, { cause });
}

/** A file as it is on disk. */
interface FileOnDisk {
  name: string;
  bytes: number;
  sha256: string;
}

async function fillFolder(
  folder: string,
  head: PackHead,
  contents: Iterable<PackContent>,
  signingKey?: KeyObject,
): Promise<{ sha256: string; bytes: number }> {
  const listed: ListedFile[] = [];
  const onDisk: FileOnDisk[] = [];
  for (const content of contents) {
    const written = await writeContent(folder, content);
    if (written === null) continue;
    listed.push(written.content);
    onDisk.push(written.file);
  }
  const manifest = Buffer.from(renderManifest(head, listed, signingKey));
  const written = await writeBytes(folder, manifestName, manifest);
  onDisk.push(written);
  if (signingKey) {
    const signature = sign(null, manifest, signingKey).toString('base64');
    onDisk.push(await writeBytes(folder, signatureName, Buffer.from(`${signature}\n`)));
  }
  const sums = onDisk.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
  onDisk.push(await writeBytes(folder, sumsName, Buffer.from(sums)));
  await syncFolder(folder);
  return { sha256: written.sha256, bytes: onDisk.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function renderManifest(head: PackHead, files: ListedFile[], signingKey?: KeyObject): string {
  const manifest: PackManifest = {
    schema: 'nightscreen/evidence-manifest/1',
    organisation: head.organisation,
    sequence: head.sequence,
    run: head.run,
    pack: head.pack,
    ending: head.ending,
    former: head.former && { sequence: head.former.sequence, sha256: head.former.sha256 },
    createdAt: head.createdAt,
    version: head.version,
    files,
    signer: signingKey ? exportSigner(signingKey) : null,
  };
  const { error } = manifestSchema.safeParse(manifest);
  if (error) {
    const message = `the manifest of pack ${head.sequence} is wrong (${describeMistake(error)}); nothing was written`;
    throw new EvidenceError('evidence_not_written', message, { cause: error });
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function exportSigner(signingKey: KeyObject): string {
  if (signingKey.type !== 'private' || signingKey.asymmetricKeyType !== 'ed25519') {
    const message = 'the signing key of the evidence is no private Ed25519 key; nothing was written';
    throw new EvidenceError('evidence_not_written', message);
  }
  return createPublicKey(signingKey).export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Gives what the manifest and SHA256SUMS say of the file; null for one without lines, which is not kept. */
async function writeContent(
  folder: string,
  content: PackContent,
): Promise<{ content: ListedFile; file: FileOnDisk } | null> {
  const { name } = content;
  if (!('lines' in content)) {
    const bytes = Buffer.from(content.text);
    const file = await writeBytes(folder, name, bytes);
    const lines = content.text.split('\n').length - 1;
    return { content: { name, bytes: file.bytes, lines, sha256: file.sha256 }, file };
  }
  const written = await writeLines(join(folder, name), content.lines);
  if (written.plain.lines === 0) {
    await rm(join(folder, name));
    return null;
  }
  return { content: { name, ...written.plain }, file: { name, ...written.packed } };
}

async function writeBytes(folder: string, name: string, bytes: Uint8Array): Promise<FileOnDisk> {
  await writeDurably(join(folder, name), (file) => file.writeFile(bytes));
  return { name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** Compresses lines into a file and counts both sides of the compression; no more than a few batches are in memory. */
async function writeLines(path: string, batches: LineBatches) {
  const plain = { bytes: 0, lines: 0, sha256: '' };
  const packed = { bytes: 0, sha256: '' };
  const plainHash = createHash('sha256');
  const packedHash = createHash('sha256');
  async function* readBlocks(): AsyncGenerator<Buffer> {
    for await (const batch of markErrors(batches)) {
      if (batch.length === 0) continue;
      if (batch.some((line) => line.includes('\n'))) throw new Error('a line of evidence contains a line feed');
      const block = Buffer.from(`${batch.join('\n')}\n`);
      plain.bytes += block.length;
      plain.lines += batch.length;
      plainHash.update(block);
      yield block;
    }
  }
  await writeDurably(path, (file) =>
    pipeline(readBlocks, createGzip(), async (blocks: AsyncIterable<Buffer>) => {
      for await (const block of blocks) {
        await file.writeFile(block);
        packed.bytes += block.length;
        packedHash.update(block);
      }
    }),
  );
  plain.sha256 = plainHash.digest('hex');
  packed.sha256 = packedHash.digest('hex');
  return { plain, packed };
}

/** An error of the lines themselves, which is no error of the disk even where it has the code of one. */
class SourceError extends Error {}

async function* markErrors(batches: LineBatches): AsyncGenerator<readonly string[]> {
  try {
    yield* batches;
  } catch (cause) {
    throw new SourceError('the lines could not be read', { cause });
  }
}

async function writeDurably(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await fill(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Gives a filled folder its final name. One that is there with the same manifest stays as it is. */
async function publish(passing: string, directory: string, folder: string, sha256: string): Promise<void> {
  const runFolder = join(folder, '..');
  await makeFolders(runFolder);
  try {
    await rename(passing, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(readErrorCode(error) ?? '')) throw error;
    const found = await readFile(join(folder, manifestName)).catch(() => null);
    if (found === null || createHash('sha256').update(found).digest('hex') !== sha256) throw toDiffersError(folder);
  }
  await syncFolder(runFolder);
  await syncFolder(directory);
}

function toChangedError(folder: string): EvidenceError {
  const message = `${folder} cannot be made again: the database, the signing key or the settings no longer give what it held. Restore it from a backup`;
  return new EvidenceError('evidence_differs', message);
}

function toDiffersError(folder: string): EvidenceError {
  const message = `${folder} exists and is not the pack that was to be written; nothing was changed there. Check it with \`nightscreen evidence verify\`, and move it away if it is damaged`;
  return new EvidenceError('evidence_differs', message);
}
