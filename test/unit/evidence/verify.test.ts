import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { cp, mkdir, mkdtemp, rename, rm, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type EvidenceProblem,
  type EvidenceVerdict,
  readChainEnd,
  verifyEvidence,
} from '../../../src/evidence/verify.js';
import { toPassingName } from '../../../src/files.js';
import { type MadeChain, makeChain } from '../../helpers/evidence-chains.js';
import {
  changeFile,
  changeLines,
  type FileTree,
  listPack,
  readTree,
  rebuild,
  writeTree,
} from '../../helpers/evidence-damages.js';

const night = '7/1';
const check = '8/1';
const accepted = '9/2';
const last = '10/1';
const keys = generateKeyPairSync('ed25519');
const others = generateKeyPairSync('ed25519');
const publicKey = String(keys.publicKey.export({ type: 'spki', format: 'pem' }));

let root: string;
let folder: string;
let made: MadeChain;
let good: FileTree;
/** The first packs of another organisation. */
let foreign: FileTree;
let signed: MadeChain;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'nightscreen-verify-'));
  folder = join(root, 'evidence');
  made = await makeChain(folder);
  good = await readTree(folder);
  foreign = await readTree((await makeChain(join(root, 'foreign'), { organisation: 'north' })).folder);
  signed = await makeChain(join(root, 'signed'), { signingKey: keys.privateKey });
});

afterAll(() => rm(root, { recursive: true, force: true }));

/** Verifies a damaged copy. */
async function verifyTree(
  tree: FileTree,
  options: Parameters<typeof verifyEvidence>[1] = {},
): Promise<EvidenceVerdict> {
  await writeTree(folder, good, tree);
  try {
    return await verifyEvidence(folder, options);
  } finally {
    await writeTree(folder, tree, good);
  }
}

const listProblems = async (tree: FileTree, options = {}): Promise<readonly EvidenceProblem[]> =>
  (await verifyTree(tree, options)).problems;

const problem = (pack: string | null, file: string | null, line: number | null, what: string): unknown => ({
  pack,
  file,
  line,
  what: expect.stringContaining(what),
});

it('a whole chain has no problem, and the verdict says what it proves', async () => {
  const steps: string[] = [];
  const verdict = await verifyEvidence(folder, {
    head: made.heads[2],
    onPack: (done, all) => steps.push(`${done}/${all}`),
  });
  expect(verdict).toEqual({
    organisation: 'default',
    packs: 5,
    records: 112,
    since: 1,
    head: made.heads[4],
    erased: [1, 2].map((customer) => ({
      customer,
      at: '2026-01-01T02:00:09.000Z',
      by: 'j.holm',
      reason: 'request',
      sequence: 5,
    })),
    signed: { packs: 0, signers: [] },
    unfinished: [],
    problems: [],
  });
  expect(steps).toEqual(['1/5', '2/5', '3/5', '4/5', '5/5']);
});

const contentFiles = [
  `${night}/run.json`,
  `${night}/customers.jsonl.gz`,
  `${night}/answers.jsonl.gz`,
  `${night}/changes.jsonl.gz`,
  `${check}/dispositions.jsonl.gz`,
];

it('a flipped bit anywhere in a pack is named by its file, or by SHA256SUMS', async () => {
  for (const path of [...contentFiles, `${night}/manifest.json`, `${night}/SHA256SUMS`]) {
    const [run, pack, name] = path.split('/');
    const size = good.get(path)?.length ?? 0;
    for (let at = 0; at < size; at += Math.ceil(size / 6)) {
      const flipped = changeFile(good, path, (bytes) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
        return changed;
      });
      const problems = await listProblems(flipped);
      expect(
        problems.filter((one) => one.pack === `${run}/${pack}`),
        `${path}, byte ${at}`,
      ).not.toEqual([]);
      const named = problems.map(({ file, what }) => `${file} ${what}`);
      expect(
        named.filter((text) => text.includes(name ?? '')),
        `${path}, byte ${at}`,
      ).not.toEqual([]);
    }
  }
});

it('a cut file, one with bytes after its end and one of another format are named', async () => {
  for (const path of contentFiles.slice(1)) {
    const [run, number, name = ''] = path.split('/');
    const pack = `${run}/${number}`;
    const cut = changeFile(good, path, (bytes) => bytes.subarray(0, bytes.length - 9));
    expect(await listProblems(cut)).toEqual([problem(pack, name, null, 'the compressed content is cut')]);
    const empty = changeFile(good, path, () => Buffer.alloc(0));
    expect(await listProblems(empty)).toContainEqual(problem(pack, name, null, ''));
    const longer = changeFile(good, path, (bytes) => Buffer.concat([bytes, Buffer.alloc(9)]));
    expect(await listProblems(longer)).toEqual([problem(pack, name, null, 'bytes follow the end')]);
    const plain = changeFile(good, path, () => Buffer.from('{"answer":1}\n'));
    expect(await listProblems(plain)).toContainEqual(problem(pack, name, null, 'is damaged'));
    const again = changeFile(good, path, (bytes) => Buffer.concat([bytes, gzipSync('{}\n')]));
    expect(await listProblems(again)).toContainEqual(problem(pack, name, null, ''));
  }
});

it('a removed line is named by its file, and by the lines that miss it', async () => {
  const path = `${night}/answers.jsonl.gz`;
  const removed = changeLines(good, path, (lines) => lines.toSpliced(2, 1));
  const problems = await listProblems(removed);
  expect(problems).toContainEqual(
    problem(night, 'answers.jsonl.gz', null, 'the file has 9 lines, and the manifest says 10'),
  );
  expect(problems).toContainEqual(problem(night, 'customers.jsonl.gz', 16, 'answer 5005 is not in pack 1'));
});

it('swapped, repeated and moved lines are named by their number, also where all digests are made right', async () => {
  const swap = (lines: readonly string[]): readonly string[] => lines.with(0, lines[1] ?? '').with(1, lines[0] ?? '');
  const repeat = (lines: readonly string[]): readonly string[] => [...lines.slice(0, 2), ...lines.slice(1)];
  for (const path of contentFiles.slice(1)) {
    const [run, number, name = ''] = path.split('/');
    const pack = `${run}/${number}`;
    for (const [change, line, what] of [
      [swap, 2, 'is not in ascending order'],
      [repeat, 3, 'is there twice'],
    ] as const) {
      const damaged = changeLines(good, path, change);
      const found = problem(pack, name, line, what);
      expect((await listProblems(damaged))[0]).toEqual(found);
      expect((await listProblems(rebuild(damaged, made.paths)))[0]).toEqual(found);
    }
  }
  const moved = changeLines(good, `${night}/customers.jsonl.gz`, (lines) => [
    ...lines.slice(1, 20),
    ...lines.slice(0, 1),
  ]);
  expect(await listProblems(rebuild(moved, made.paths))).toContainEqual(
    problem(night, 'customers.jsonl.gz', 20, 'record 1/1 stands after lines of a later part'),
  );
});

it('a line that misses another one is named, also where all digests are made right', async () => {
  const file = 'customers.jsonl.gz';
  const without = (pack: string, name: string, line: number): FileTree =>
    rebuild(
      changeLines(good, `${pack}/${name}`, (lines) => lines.toSpliced(line - 1, 1)),
      made.paths,
    );
  const cases: [FileTree, unknown][] = [
    [without(night, file, 2), problem(night, file, 24, 'record 2/1 is not in pack 1')],
    [without(night, file, 13), problem(night, file, 23, 'party 10 is screened, and no search line shows it')],
    [without(night, file, 15), problem(night, file, 25, 'party 30 is failed, and no search line shows it')],
    [without(night, file, 36), problem(night, 'run.json', null, 'unaccepted.row_rejected is 2, and the gaps give 1')],
    [without(night, file, 24), problem(night, 'run.json', null, 'inScope is 15, and the lines give 14')],
    [without(night, 'answers.jsonl.gz', 3), problem(night, file, 16, 'answer 5005 is not in pack 1')],
    [without(accepted, 'answers.jsonl.gz', 1), problem(accepted, file, 2, 'answer 5000009 is not in pack 4')],
    [without(accepted, file, 1), problem(accepted, file, 3, 'record 7/2 is not in pack 4')],
  ];
  for (const [tree, expected] of cases) expect(await listProblems(tree)).toContainEqual(expected);
});

const editLine = (path: string, line: number, edit: (text: string) => string): FileTree =>
  rebuild(
    changeLines(good, path, (lines) => lines.with(line - 1, edit(lines[line - 1] ?? ''))),
    made.paths,
  );

it('a line that is not in its form is named by its number', async () => {
  const customers = `${night}/customers.jsonl.gz`;
  const edits: [path: string, line: number, from: RegExp | string, to: string, what: string][] = [
    [customers, 3, '{', '', 'is no JSON'],
    [customers, 3, /.*/, '', 'is no JSON'],
    [customers, 3, /.*/, 'null', 'is no JSON object'],
    [customers, 3, /.*/, '[1]', 'is no JSON object'],
    [customers, 3, '[3,1]', '[3]', 'record'],
    [customers, 3, '[3,1]', '["3",1]', 'record.0: expected number'],
    [customers, 3, '[3,1]', '[3,0]', 'record.1'],
    [customers, 3, '[3,1]', '[3.5,1]', 'record.0'],
    [customers, 3, '"sealed":"', '"sealed":"*', 'sealed: is no sealed text'],
    [customers, 3, /"sealed":"[^"]*"/, '"sealed":"YWJj"', 'sealed: is no sealed text'],
    [customers, 3, /"sealed":"[^"]*"/, `"sealed":"${'A'.repeat(41)}"`, 'sealed: is no sealed text'],
    [customers, 3, /"sealed":"[^"]*"/, `"sealed":"=${'A'.repeat(43)}"`, 'sealed: is no sealed text'],
    [customers, 3, '"sealed"', '"text"', 'sealed'],
    [customers, 13, '"answer":[', '"failure":"x","answer":[', 'has both an answer and a failure'],
    [customers, 13, '2026-01-01T02', '2026-01-01 02', 'calls.0.0: is no time'],
    [customers, 13, ',201,', ',"201",', 'calls.0.2: expected number'],
    [customers, 13, '[5001,1]', '[5001,6]', 'refers to pack 6, which is later than its own'],
    [customers, 13, '[5001,1]', '[5003,1]', 'answer 5003 is not in pack 1'],
    [customers, 24, '"record":[1,1]', '"record":[2,1]', 'record 1/2 is not in pack 1'],
    [customers, 24, '"screened"', '"done"', 'parties.0.outcome'],
    [customers, 24, '"screened"', '"reused"', 'party 10 is reused without an answer'],
    [customers, 24, '1001', 'null', 'party 10 is screened without a request and a reason'],
    [customers, 24, '"overdue"', 'null', 'party 10 is screened without a request and a reason'],
    [customers, 24, /"state":"clear",/, '', 'state'],
    [customers, 26, '"failed"', '"screened"', 'party 30 is screened, and no search line shows it'],
    [`${night}/answers.jsonl.gz`, 2, '"request":1002,', '', 'request'],
    [`${night}/changes.jsonl.gz`, 2, '"customer":6', '"customer":-6', 'customer'],
    [`${night}/changes.jsonl.gz`, 5, '"event":90,', '', 'dossierChange'],
    [customers, 37, /"sealed":"[^"]*"/, '"x":1', 'gap 2 names nobody'],
    [`${last}/customers.jsonl.gz`, 1, '[3,7]', '[3]', 'row'],
    [`${last}/customers.jsonl.gz`, 2, '[3,9]', '[3,7]', 'row 3/7 is there twice'],
    [`${last}/customers.jsonl.gz`, 2, '[3,9]', '[3,6]', 'row 3/6 is not in ascending order'],
    [`${last}/customers.jsonl.gz`, 3, '[4,2]', '[3,8]', 'row 3/8 is not in ascending order'],
    [`${check}/answers.jsonl.gz`, 3, '"sealed"', '"text"', 'sealed'],
    [`${check}/changes.jsonl.gz`, 2, '"discrepancy":2', '"discrepancy":0', 'discrepancy'],
    [`${check}/dispositions.jsonl.gz`, 4, '"sealed"', '"text"', 'sealed'],
    [`${check}/dispositions.jsonl.gz`, 2, '"disposition":2', '"erased":2', 'at'],
    [`${last}/dispositions.jsonl.gz`, 2, '"by":"j.holm"', '"by":7', 'by'],
  ];
  for (const [path, line, from, to, what] of edits) {
    const [run, pack, name = ''] = path.split('/');
    const tree = editLine(path, line, (text) => text.replace(from, to));
    expect((await listProblems(tree))[0], `${from} -> ${to}`).toEqual(problem(`${run}/${pack}`, name, line, what));
  }
});

it('a line that is no UTF-8 and a last line without its line feed are named', async () => {
  const path = `${night}/changes.jsonl.gz`;
  const latin = changeFile(good, path, (bytes) => {
    const text = gunzipSync(bytes).toString('latin1').replace('became_hit', 'becam\u00e9_hit');
    return gzipSync(Buffer.from(text, 'latin1'));
  });
  expect((await listProblems(rebuild(latin, made.paths)))[0]).toEqual(
    problem(night, 'changes.jsonl.gz', 1, 'is no UTF-8'),
  );
  const open = changeFile(good, path, (bytes) => gzipSync(gunzipSync(bytes).subarray(0, -1)));
  expect((await listProblems(rebuild(open, made.paths)))[0]).toEqual(
    problem(night, 'changes.jsonl.gz', 6, 'the last line has no line feed'),
  );
});

it('sums that do not hold are named with both figures', async () => {
  for (const name of ['inScope', 'planned', 'skipped', 'screened', 'reused', 'failed', 'remaining']) {
    const wrong = changeFile(good, `${night}/run.json`, (bytes) =>
      Buffer.from(String(bytes).replace(new RegExp(`"${name}": (\\d+)`), (_, sum) => `"${name}": ${Number(sum) + 1}`)),
    );
    const problems = await listProblems(rebuild(wrong, made.paths));
    expect(problems).toEqual([problem(night, 'run.json', null, `lines of customers differ: ${name} is`)]);
  }
  const counted = changeFile(good, `${check}/run.json`, () => good.get(`${night}/run.json`) ?? null);
  expect(await listProblems(rebuild(counted, made.paths))).toContainEqual(
    problem(check, 'run.json', null, 'screened is 10, and the lines give 0'),
  );
});

it('each missing file and each file too many is named', async () => {
  for (const path of good.keys()) {
    const [run, number, name = ''] = path.split('/');
    const pack = `${run}/${number}`;
    if (pack !== night && name !== 'dispositions.jsonl.gz') continue;
    const problems = await listProblems(changeFile(good, path, () => null));
    const expected = name === 'manifest.json' ? 'the manifest cannot be read' : 'the file is missing';
    expect(problems, path).toContainEqual(problem(pack, name, null, expected));
  }
  const added = (path: string): Promise<readonly EvidenceProblem[]> =>
    listProblems(changeFile(good, path, () => Buffer.from('x')));
  for (const name of ['notes.txt', '.hidden', 'manifest.sig', 'sub/notes.txt', toPassingName('run.json')])
    expect(await added(`${night}/${name}`)).toEqual([
      problem(night, name.split('/')[0] ?? '', null, 'does not belong to the pack'),
    ]);
  expect(await added('notes.txt')).toEqual([problem(null, 'notes.txt', null, 'is no folder of a run')]);
  expect(await added('7/notes.txt')).toEqual([problem(null, '7/notes.txt', null, 'is no folder of a pack')]);
  expect(await added('0/1/run.json')).toEqual([problem(null, '0', null, 'is no folder of a run')]);
  expect(await added('7/2/run.json')).toEqual([problem('7/2', 'manifest.json', null, 'cannot be read')]);
});

it('a link in place of a file or a pack is named', async () => {
  const copy = join(root, 'linked');
  await cp(folder, copy, { recursive: true });
  await rename(join(copy, night, 'run.json'), join(root, 'run.json'));
  await symlink(join(root, 'run.json'), join(copy, night, 'run.json'));
  await rename(join(copy, last), join(root, 'last'));
  await symlink(join(root, 'last'), join(copy, last));
  const { problems } = await verifyEvidence(copy);
  expect(problems).toContainEqual(problem(night, 'run.json', null, 'cannot be read'));
  expect(problems).toContainEqual(problem(null, last, null, 'is no folder of a pack'));
});

it('a pipe in place of a file is named, and nothing waits for it', async () => {
  const copy = join(root, 'piped');
  await cp(folder, copy, { recursive: true });
  for (const name of ['run.json', 'answers.jsonl.gz', 'SHA256SUMS']) {
    await unlink(join(copy, night, name));
    execFileSync('mkfifo', [join(copy, night, name)]);
  }
  const { problems } = await verifyEvidence(copy);
  for (const name of ['run.json', 'answers.jsonl.gz', 'SHA256SUMS'])
    expect(problems).toContainEqual(problem(night, name, null, 'it is no regular file'));
});

it('a file replaced by that of another pack is named', async () => {
  for (const name of ['run.json', 'customers.jsonl.gz', 'changes.jsonl.gz', 'SHA256SUMS']) {
    const replaced = changeFile(good, `${night}/${name}`, () => good.get(`${accepted}/${name}`) ?? null);
    expect((await listProblems(replaced))[0]).toMatchObject({ pack: night, file: name });
  }
});

const copyPack = (tree: FileTree, from: FileTree, source: string, target: string): FileTree => {
  const kept = [...tree].filter(([path]) => !path.startsWith(`${target}/`));
  return new Map([
    ...kept,
    ...[...listPack(from, source)].map(([name, bytes]) => [`${target}/${name}`, bytes] as const),
  ]);
};

const without = (...packs: string[]): FileTree =>
  packs.reduce((tree, pack) => copyPack(tree, new Map(), '', pack), good);

it('the first packs may be missing only where the given head is the last of them', async () => {
  const later = without(night, check);
  const [first, second] = made.heads;
  const missing = problem('9/1', 'manifest.json', null, 'the packs before 3 are missing');
  expect(await verifyTree(later, { head: second })).toMatchObject({ since: 3, packs: 3, problems: [] });
  expect(await listProblems(later)).toEqual([missing]);
  expect(await listProblems(later, { head: made.heads[4] })).toEqual([missing]);
  expect(await listProblems(later, { head: { ...second, sha256: first?.sha256 } })).toEqual([
    missing,
    problem(null, 'manifest.json', null, 'the chain was rebuilt since'),
  ]);
  expect(await listProblems(later, { head: first })).toEqual([
    missing,
    problem(null, null, null, 'the head proves nothing'),
  ]);
});

it('the end of a chain is found in a whole folder, without its first packs, and in a damaged one', async () => {
  const lastPacks = new Map(
    [...made.paths].map((path) => path.split('/')).map(([run = '', pack]) => [run, Number(pack)]),
  );
  const end = { organisation: 'default', head: made.heads[4], lastRun: 10, lastPacks };
  expect(await readChainEnd(folder)).toEqual(end);
  const cut = changeFile(good, `${last}/manifest.json`, (bytes) => bytes.subarray(1));
  for (const [tree, head] of [
    [without(night, check), made.heads[4]],
    [without(check), made.heads[4]],
    [cut, made.heads[3]],
  ] as const) {
    await writeTree(folder, good, tree);
    expect(await readChainEnd(folder)).toMatchObject({ head });
    await writeTree(folder, tree, good);
  }
});

it('missing packs are named', async () => {
  expect(await listProblems(without(check))).toEqual([
    problem('9/1', 'manifest.json', null, 'pack 2 of the chain is missing'),
  ]);
  expect(await listProblems(without(check, '9/1'))).toEqual([
    problem(accepted, 'manifest.json', null, 'the packs 2 to 3 of the chain are missing'),
  ]);
  const [, , , before, head] = made.heads;
  expect(await listProblems(without(last), { head: before })).toEqual([]);
  expect(await listProblems(without(last), { head })).toEqual([
    problem(null, null, null, 'the given head is pack 5, and the chain ends with 4: the last packs are missing'),
  ]);
  expect(await listProblems(new Map(), { head })).toEqual([
    problem(null, null, null, 'the folder has no pack that can be read'),
    problem(null, null, null, 'the last packs are missing'),
  ]);
});

it('a pack of another organisation is named, in place of one and beside all', async () => {
  const replaced = await listProblems(copyPack(good, foreign, check, check));
  expect(replaced).toContainEqual(problem(check, 'manifest.json', null, 'belongs to another organisation (north)'));
  expect(replaced).toContainEqual(problem('9/1', 'manifest.json', null, 'pack 2 of the chain is missing'));
  expect(await listProblems(copyPack(good, foreign, night, '20/1'))).toEqual([
    problem('20/1', 'manifest.json', null, 'belongs to another organisation (north)'),
  ]);
  const east = await readTree((await makeChain(join(root, 'east'), { organisation: 'east' })).folder);
  const mixed = copyPack(copyPack(copyPack(good, foreign, night, '20/1'), foreign, check, '20/2'), east, night, '21/1');
  expect(await listProblems(mixed)).toEqual([
    problem('20/1', 'manifest.json', null, 'and 1 more belong to another organisation (north)'),
    problem('21/1', 'manifest.json', null, 'belongs to another organisation (east)'),
  ]);
});

it('a pack that was copied, moved or exchanged is named', async () => {
  const copied = copyPack(good, good, night, '20/1');
  expect(await listProblems(copied)).toEqual([
    problem('20/1', 'manifest.json', null, 'the manifest is that of pack 1 of run 7'),
    problem('20/1', 'manifest.json', null, `pack ${night} has the same sequence number, 1`),
  ]);
  const moved = copyPack(copyPack(good, new Map(), '', check), good, check, '8/2');
  expect(await listProblems(moved)).toEqual([problem('8/2', 'manifest.json', null, 'is that of pack 1 of run 8')]);
  const exchanged = copyPack(copyPack(good, good, check, accepted), good, accepted, check);
  expect(await listProblems(exchanged)).toEqual([
    problem(accepted, 'manifest.json', null, 'is that of pack 1 of run 8'),
    problem(check, 'manifest.json', null, 'is that of pack 2 of run 9'),
  ]);
});

it('a manifest that was rebuilt with right digests is named by the pack after it, and the last by the head', async () => {
  const edited = (pack: string): FileTree =>
    changeLines(good, `${pack}/customers.jsonl.gz`, (lines) =>
      lines.map((line) => line.replace('"clear"', '"truncated"')),
    );
  for (const pack of [night, '9/1', accepted])
    expect(await listProblems(rebuild(edited(pack), [pack]))).toEqual([
      problem(pack, 'manifest.json', null, 'is not the one that the next pack'),
    ]);
  const head = made.heads[4];
  for (const tree of [rebuild(edited(last), [last]), rebuild(edited(night), made.paths)]) {
    expect(await listProblems(tree)).toEqual([]);
    expect(await listProblems(tree, { head })).toEqual([
      problem(last, 'manifest.json', null, 'the given head is pack 5 with another digest: the chain was rebuilt since'),
    ]);
  }
});

it('a manifest that is not in its form is named, and the other packs are checked all the same', async () => {
  const change = (edit: (text: string) => string): FileTree =>
    changeFile(good, `${check}/manifest.json`, (bytes) => Buffer.from(edit(String(bytes))));
  const edits: [from: string | RegExp, to: string, what: string][] = [
    ['{', '', 'the manifest cannot be read'],
    ['"version"', '"x": 1, "version"', 'Unrecognized key'],
    ['"sequence": 2', '"sequence": 3', 'former: is not the pack before this one'],
    [/"former": \{[^}]*\}/, '"former": null', 'former: is not the pack before this one'],
    ['"run.json"', '"notes.txt"', 'files.0.name'],
    ['"answers.jsonl.gz"', '"run.json"', 'files: do not begin with run.json or are not in their order'],
    ['"ended"', '"done"', 'ending'],
    ['manifest/1', 'manifest/2', 'schema'],
  ];
  for (const [from, to, what] of edits) {
    const broken = change((text) => text.replace(from, to));
    const verdict = await verifyTree(broken);
    expect(verdict.problems[0]).toEqual(problem(check, 'manifest.json', null, what));
    expect(verdict.packs).toBe(4);
  }
});

it('what a writer has not finished is no damage, and neither is a run without a pack', async () => {
  const passing = toPassingName('10-2');
  await mkdir(join(folder, passing));
  await mkdir(join(folder, '11'));
  const { problems, unfinished } = await verifyEvidence(folder);
  expect({ problems, unfinished }).toEqual({ problems: [], unfinished: [passing] });
  await rm(join(folder, passing), { recursive: true });
  await rm(join(folder, '11'), { recursive: true });
});

it('a folder that is not there is refused, and so is a public key that is none', async () => {
  await expect(verifyEvidence(join(root, 'nowhere'))).rejects.toThrowError('cannot be read');
  await expect(verifyEvidence(join(good.size > 0 ? folder : '', night, 'run.json'))).rejects.toThrowError(
    'cannot be read',
  );
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey.export({ type: 'spki', format: 'pem' });
  for (const key of ['', 'x', publicKey.replace(/[A-Z]{4}/, ''), String(rsa)])
    await expect(verifyEvidence(folder, { publicKey: key })).rejects.toThrowError('public key');
});

it('signatures that hold are counted, and with a key each one must be by it', async () => {
  const verdict = await verifyEvidence(signed.folder, { publicKey });
  const signer = String(keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'));
  expect({ signed: verdict.signed, problems: verdict.problems }).toEqual({
    signed: { packs: 5, signers: [{ signer, from: 1, through: 5 }] },
    problems: [],
  });
  const other = String(others.publicKey.export({ type: 'spki', format: 'pem' }));
  expect((await verifyEvidence(signed.folder, { publicKey: other + publicKey })).problems).toEqual([]);
  const strange = await verifyEvidence(signed.folder, { publicKey: other });
  expect(strange.problems).toContainEqual(problem(night, null, null, 'is signed by another key than the given one'));
  expect(strange.problems).toContainEqual(
    problem(night, 'manifest.sig', null, 'no pack has a signature of the given key'),
  );
});

it('each damage of a signature is named', async () => {
  const before = await readTree(signed.folder);
  const path = `${check}/manifest.sig`;
  const verifySigned = async (tree: FileTree): Promise<EvidenceVerdict> => {
    await writeTree(signed.folder, before, tree);
    const verdict = await verifyEvidence(signed.folder, { publicKey });
    await writeTree(signed.folder, tree, before);
    return verdict;
  };
  const none = problem(check, 'manifest.sig', null, 'no signature of the manifest');
  for (let at = 0; at < 89; at += 11) {
    const flipped = changeFile(before, path, (bytes) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      return changed;
    });
    expect((await verifySigned(flipped)).problems).toContainEqual(none);
  }
  const missing = await verifySigned(changeFile(before, path, () => null));
  expect(missing.problems).toContainEqual(problem(check, 'manifest.sig', null, 'the file is missing'));
  const swapped = changeFile(before, path, () => before.get(`${night}/manifest.sig`) ?? null);
  expect((await verifySigned(swapped)).problems).toContainEqual(none);

  // Somebody rebuilds the last pack, and signs it with another key or not at all.
  const signer = others.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const forged = new Map(rebuild(before, [last], (manifest) => Object.assign(manifest, { signer })));
  const manifest = forged.get(`${last}/manifest.json`) ?? Buffer.alloc(0);
  forged.set(`${last}/manifest.sig`, Buffer.from(`${sign(null, manifest, others.privateKey).toString('base64')}\n`));
  const resigned = await verifySigned(forged);
  expect(resigned.signed.signers).toMatchObject([
    { from: 1, through: 4 },
    { signer, from: 5, through: 5 },
  ]);
  expect(resigned.problems).toContainEqual(problem(last, null, null, 'is signed by another key than the given one'));
  const bare = rebuild(
    changeFile(before, `${last}/manifest.sig`, () => null),
    [last],
    (one) => Object.assign(one, { signer: null }),
  );
  expect((await verifySigned(bare)).problems).toEqual([
    problem(last, 'manifest.sig', null, 'the pack is not signed, and the one before it is'),
    problem(last, 'manifest.sig', null, 'from this pack on, no pack has a signature of the given key'),
  ]);
});
