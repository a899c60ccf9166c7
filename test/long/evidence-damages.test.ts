import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyEvidence } from '../../src/evidence/verify.js';
import { type MadeChain, makeChain } from '../helpers/evidence-chains.js';
import {
  changeFile,
  changeLines,
  type FileTree,
  listPack,
  readTree,
  rebuild,
  writeTree,
} from '../helpers/evidence-damages.js';
import { isFullSize, makeSeededRandom, printFigure } from '../helpers/figures.js';

const amount = isFullSize ? 10_000 : 300;
const seed = 52;

let root: string;
let made: MadeChain;
let good: FileTree;
/** Chains of the same shape: of another organisation, and of the same one with other contents. */
let others: readonly FileTree[];

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'nightscreen-damages-'));
  made = await makeChain(join(root, 'evidence'));
  good = await readTree(made.folder);
  const foreign = await makeChain(join(root, 'foreign'), { organisation: 'north' });
  const rewritten = await makeChain(join(root, 'rewritten'), { customers: 11, version: '0.2.0' });
  others = [await readTree(foreign.folder), await readTree(rewritten.folder)];
});

afterAll(() => rm(root, { recursive: true, force: true }));

/** What random numbers choose. */
class Choice {
  private readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  of<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  }
}

/** `pack`: the pack that a problem must name; null where no pack is damaged in itself. */
interface Damage {
  tree: FileTree;
  pack: string | null;
}

const toPack = (path: string): string => path.split('/').slice(0, 2).join('/');
const listPaths = (form: RegExp): readonly string[] => [...good.keys()].filter((path) => form.test(path));

function changeBytes(choose: Choice, bytes: Buffer): Buffer {
  const at = choose.below(bytes.length);
  const kind = choose.below(6);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1) return Buffer.concat([bytes, Buffer.alloc(1 + choose.below(9), choose.below(2) * 65)]);
  if (kind === 2) return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + choose.below(4))]);
  if (kind === 3) return Buffer.concat([bytes.subarray(0, at), Buffer.from([choose.below(256)]), bytes.subarray(at)]);
  const changed = Buffer.from(bytes);
  if (kind === 4) changed[at] = choose.below(256);
  else changed[at] = (changed[at] ?? 0) ^ (1 << choose.below(8));
  return changed;
}

function changeLine(choose: Choice, line: string): string {
  const at = choose.below(line.length);
  return choose.below(2) === 0
    ? line.slice(0, at) + choose.of([...'0123456789abcXYZ"{}[],:']) + line.slice(at + 1)
    : line.slice(0, at) + line.slice(at + 1);
}

function changeOrder(choose: Choice, lines: readonly string[]): readonly string[] {
  const [one, other] = [choose.below(lines.length), choose.below(lines.length)];
  const kind = choose.below(4);
  if (kind === 0) return lines.toSpliced(one, 1);
  if (kind === 1) return lines.toSpliced(one, 0, lines[other] ?? '');
  if (kind === 2) return lines.with(one, lines[other] ?? '').with(other, lines[one] ?? '');
  return lines.with(one, changeLine(choose, lines[one] ?? ''));
}

const replacePack = (tree: FileTree, pack: string, files: ReadonlyMap<string, Buffer>): FileTree => {
  const kept = [...tree].filter(([path]) => toPack(path) !== pack);
  return new Map([...kept, ...[...files].map(([name, bytes]) => [`${pack}/${name}`, bytes] as const)]);
};

const damageLines = (choose: Choice): Damage => {
  const path = choose.of(listPaths(/jsonl\.gz$/));
  return { tree: changeLines(good, path, (lines) => changeOrder(choose, lines)), pack: toPack(path) };
};

const kinds: Readonly<Record<string, (choose: Choice) => Damage>> = {
  'bytes of a file changed': (choose) => {
    const path = choose.of([...good.keys()]);
    return { tree: changeFile(good, path, (bytes) => changeBytes(choose, bytes)), pack: toPack(path) };
  },
  'lines changed': damageLines,
  'lines changed, and the pack rebuilt': (choose) => {
    const { tree, pack } = damageLines(choose);
    return { tree: rebuild(tree, [pack ?? '']), pack };
  },
  'lines changed, and the chain rebuilt from there on': (choose) => {
    const { tree, pack } = damageLines(choose);
    return { tree: rebuild(tree, made.paths.slice(made.paths.indexOf(pack ?? ''))), pack: null };
  },
  'a manifest changed, and the sums made right': (choose) => {
    const pack = choose.of(made.paths);
    const createdAt = new Date(Date.UTC(2027, 0, 1) + choose.below(1e9)).toISOString();
    return { tree: rebuild(good, [pack], (manifest) => Object.assign(manifest, { createdAt })), pack };
  },
  'a file removed': (choose) => {
    const path = choose.of([...good.keys()]);
    return { tree: changeFile(good, path, () => null), pack: toPack(path) };
  },
  'a file removed, and the pack rebuilt': (choose) => {
    const path = choose.of(listPaths(/jsonl\.gz$/));
    return {
      tree: rebuild(
        changeFile(good, path, () => null),
        [toPack(path)],
      ),
      pack: toPack(path),
    };
  },
  'a file replaced by that of another pack': (choose) => {
    const path = choose.of([...good.keys()]);
    const same = listPaths(new RegExp(`/${path.split('/')[2]}$`)).filter((one) => one !== path);
    const source = choose.of([good, ...others]);
    const bytes = source.get(same.length === 0 ? path : choose.of(same));
    return { tree: changeFile(good, path, () => bytes ?? null), pack: toPack(path) };
  },
  'a file added': (choose) => {
    const place = choose.of(['', '7/', ...made.paths.map((path) => `${path}/`)]);
    const name = choose.of(['notes.txt', '.x', 'run.json.bak', 'manifest.sig', '3/run.json', 'run.json~']);
    return { tree: changeFile(good, `${place}${name}`, () => Buffer.from('x')), pack: null };
  },
  'packs removed': (choose) => {
    const from = 1 + choose.below(made.paths.length - 1);
    const removed = made.paths.slice(from, from + 1 + choose.below(3));
    return { tree: removed.reduce((tree, pack) => replacePack(tree, pack, new Map()), good), pack: null };
  },
  'a pack replaced by another one': (choose) => {
    const pack = choose.of(made.paths);
    const files = listPack(choose.of([good, ...others]), choose.of(made.paths));
    return { tree: replacePack(good, pack, files), pack: null };
  },
  'two packs exchanged': (choose) => {
    const [one, other] = [choose.of(made.paths), choose.of(made.paths)];
    const tree = replacePack(replacePack(good, one, listPack(good, other)), other, listPack(good, one));
    return { tree, pack: null };
  },
  'a pack added or moved': (choose) => {
    const files = listPack(choose.of([good, ...others]), choose.of(made.paths));
    const added = replacePack(good, choose.of(['7/2', '20/1', '9/3']), files);
    return { tree: choose.below(2) === 0 ? added : replacePack(added, choose.of(made.paths), new Map()), pack: null };
  },
  'the whole chain replaced': (choose) => ({ tree: choose.of(others), pack: null }),
  'a file compressed again': (choose) => {
    const path = choose.of(listPaths(/jsonl\.gz$/));
    const level = choose.below(10);
    return { tree: changeFile(good, path, (bytes) => gzipSync(gunzipSync(bytes), { level })), pack: toPack(path) };
  },
};

const isSame = (one: FileTree, other: FileTree): boolean =>
  one.size === other.size && [...one].every(([path, bytes]) => other.get(path)?.equals(bytes));

it(`${amount} random damages are found, and those within a pack are named by the pack`, async () => {
  const choose = new Choice(makeSeededRandom(seed));
  const head = made.heads.at(-1);
  const missed: string[] = [];
  const unnamed: string[] = [];
  const counts = new Map<string, number>();
  for (let done = 0; done < amount; ) {
    const kind = choose.of(Object.keys(kinds));
    const damage = kinds[kind]?.(choose);
    // What changes nothing is no damage, such as a byte that is replaced by itself.
    if (!damage || isSame(damage.tree, good)) continue;
    done += 1;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    await writeTree(made.folder, good, damage.tree);
    const { problems } = await verifyEvidence(made.folder, { head });
    await writeTree(made.folder, damage.tree, good);
    if (problems.length === 0) missed.push(`${done}: ${kind}`);
    else if (damage.pack !== null && problems.every(({ pack }) => pack !== damage.pack))
      unnamed.push(`${done}: ${kind}`);
  }
  printFigure(`evidence: ${amount} random damages of ${counts.size} kinds (seed ${seed}), ${missed.length} missed`);
  expect({ missed, unnamed }).toEqual({ missed: [], unnamed: [] });
  expect((await verifyEvidence(made.folder, { head })).problems).toEqual([]);
}, 3_600_000);
