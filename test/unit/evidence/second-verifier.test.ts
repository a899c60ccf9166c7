import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { verifyEvidence } from '../../../src/evidence/verify.js';
import { type MadeChain, makeChain } from '../../helpers/evidence-chains.js';
import {
  changeFile,
  changeLines,
  type FileTree,
  readTree,
  rebuild,
  writeTree,
} from '../../helpers/evidence-damages.js';

const program = 'docs/verify-evidence.py';
const hasPython = spawnSync('python3', ['--version']).status === 0;
const itWithPython = it.skipIf(!hasPython);
if (!hasPython) process.stderr.write('python3 is missing: the second verifier of evidence is not tried\n');

const night = '7/1';
const last = '10/1';
let root: string;
let made: MadeChain;
let good: FileTree;
let foreign: FileTree;
let signed: FileTree;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'nightscreen-python-'));
  made = await makeChain(join(root, 'evidence'));
  good = await readTree(made.folder);
  const signingKey = generateKeyPairSync('ed25519').privateKey;
  signed = await readTree((await makeChain(join(root, 'signed'), { signingKey })).folder);
  foreign = await readTree((await makeChain(join(root, 'foreign'), { organisation: 'north' })).folder);
});

afterAll(() => rm(root, { recursive: true, force: true }));

// One process for all folders: to start Python takes longer than to verify.
const driver = `
import contextlib, io, json, runpy, sys
for words in json.load(sys.stdin):
    sys.argv, out, code = words, io.StringIO(), 0
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(words[0], run_name='__main__')
        except SystemExit as end:
            code = end.code
    print(json.dumps({'code': code, 'out': out.getvalue()}))
`;
const resultSchema = z.object({ code: z.number(), out: z.string() });

function runPrograms(calls: readonly (readonly string[])[]): readonly z.infer<typeof resultSchema>[] {
  const input = JSON.stringify(calls.map((words) => [program, ...words]));
  const { stdout } = spawnSync('python3', ['-c', driver], { input, encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => resultSchema.parse(JSON.parse(line)));
}

const formatHead = (at: number): string => `${made.heads[at]?.sequence}:${made.heads[at]?.sha256}`;

it('the second verifier has at most 150 lines, and imports only what Python brings', () => {
  const text = readFileSync(program, 'utf8');
  expect(text.split('\n').length - 1).toBeLessThanOrEqual(150);
  expect(text.match(/^ *(?:import|from) .*/gm)).toEqual(['import base64, hashlib, json, os, re, sys, zlib']);
});

itWithPython('a whole chain passes it, alone, with a head, and without the pack that a head names', async () => {
  const bare = join(root, 'bare');
  await writeTree(bare, new Map(), without(good, night));
  expect((await verifyEvidence(bare, { head: made.heads[0] })).problems).toEqual([]);
  const found = runPrograms([[made.folder], [made.folder, formatHead(2)], [bare, formatHead(0)]]);
  expect(found).toEqual([
    { code: 0, out: expect.stringContaining('0 problems; 5 packs') },
    { code: 0, out: expect.stringContaining('0 problems; 5 packs') },
    { code: 0, out: expect.stringContaining('0 problems; 4 packs') },
  ]);
});

const customers = `${night}/customers.jsonl.gz`;
const without = (tree: FileTree, pack: string): FileTree =>
  new Map([...tree].filter(([path]) => !path.startsWith(`${pack}/`)));
const remove = (path: string, line: number): FileTree =>
  rebuild(
    changeLines(good, path, (lines) => lines.toSpliced(line, 1)),
    made.paths,
  );

/** The damages, and where both verifiers must name them. */
const damages: readonly [name: string, damage: () => FileTree, where: string][] = [
  [
    'a flipped bit',
    () => changeFile(good, customers, (bytes) => Buffer.from(bytes.with(200, (bytes[200] ?? 0) ^ 4))),
    night,
  ],
  ['a cut file', () => changeFile(good, customers, (bytes) => bytes.subarray(0, -9)), customers],
  [
    'bytes after the end',
    () => changeFile(good, customers, (bytes) => Buffer.concat([bytes, Buffer.alloc(9)])),
    customers,
  ],
  [
    'another compression',
    () => changeFile(good, customers, (bytes) => gzipSync(gunzipSync(bytes), { level: 1 })),
    night,
  ],
  [
    'swapped lines',
    () =>
      rebuild(
        changeLines(good, customers, ([a = '', b = '', ...rest]) => [b, a, ...rest]),
        made.paths,
      ),
    customers,
  ],
  ['a removed record', () => remove(customers, 1), customers],
  ['a removed search', () => remove(customers, 13), customers],
  ['a removed customer', () => remove(customers, 24), night],
  ['a removed answer', () => remove('9/2/answers.jsonl.gz', 0), '9/2/customers.jsonl.gz'],
  [
    'a removed change',
    () => changeLines(good, `${night}/changes.jsonl.gz`, (lines) => lines.slice(1)),
    `${night}/changes.jsonl.gz`,
  ],
  ['a missing file', () => changeFile(good, `${night}/changes.jsonl.gz`, () => null), `${night}/changes.jsonl.gz`],
  ['a file too many', () => changeFile(good, `${night}/notes.txt`, () => Buffer.from('x')), night],
  ['a missing pack', () => without(good, '8/1'), '9/1'],
  ['the first pack missing', () => without(good, night), ''],
  ['the last pack missing', () => without(good, last), ''],
  [
    'another organisation',
    () => new Map([...without(good, last), ...[...foreign].filter(([path]) => path.startsWith(last))]),
    last,
  ],
  [
    'no signature after signed packs',
    () => rebuild(signed, [last], (manifest) => Object.assign(manifest, { signer: null })),
    last,
  ],
  [
    'a rebuilt chain',
    () =>
      rebuild(
        changeLines(good, customers, (lines) => lines.map((line) => line.replace('"clear"', 'null'))),
        made.paths,
      ),
    '',
  ],
];

itWithPython('both verifiers find each of these damages, and name the place', async () => {
  const head = made.heads[4];
  const folders = damages.map(([name]) => join(root, name));
  for (const [at, [, damage]] of damages.entries()) await writeTree(folders[at] ?? '', new Map(), damage());
  const second = runPrograms(folders.map((folder) => [folder, formatHead(4)]));
  for (const [at, [name, , where]] of damages.entries()) {
    const first = await verifyEvidence(folders[at] ?? '', { head });
    expect(first.problems.map(({ pack, file }) => `${pack}/${file}`).join('\n'), name).toContain(where);
    expect(second[at], name).toEqual({ code: 1, out: expect.stringContaining(where) });
  }
});
