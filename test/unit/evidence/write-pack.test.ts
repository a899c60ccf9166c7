import { createHash, createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StoreError } from '../../../src/errors.js';
import { type PackContent, type PackHead, writePack } from '../../../src/evidence/write-pack.js';
import { toPassingName } from '../../../src/files.js';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-packs-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const head: PackHead = {
  organisation: 'default',
  sequence: 1,
  run: '12',
  pack: 1,
  ending: 'ended',
  former: null,
  createdAt: '2026-01-02T03:04:05.678Z',
  version: '0.1.0',
};
const run: PackContent = { name: 'run.json', text: '{\n}\n' };
const makeContents = (): PackContent[] => [
  run,
  { name: 'answers.jsonl.gz', lines: [['{"answer":1}', '{"answer":2}'], [], ['{"answer":3}']] },
  { name: 'changes.jsonl.gz', lines: [] },
];
const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const fail = async function* (error: Error): AsyncGenerator<readonly string[]> {
  yield ['{"answer":1}'];
  throw error;
};

it('a pack has the contents, their digests, a signature and nothing without lines, and nobody else may read it', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const written = await writePack({ directory: folder, head, contents: makeContents(), signingKey: privateKey });
  expect(written.directory).toBe(join(folder, '12', '1'));
  const names = ['SHA256SUMS', 'answers.jsonl.gz', 'manifest.json', 'manifest.sig', 'run.json'];
  expect(await readdir(written.directory)).toEqual(names);
  const bytes = await readFile(join(written.directory, 'manifest.json'));
  expect(digest(bytes)).toBe(written.sha256);
  const answers = Buffer.from('{"answer":1}\n{"answer":2}\n{"answer":3}\n');
  const signer = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  expect(JSON.parse(String(bytes))).toEqual({
    schema: 'nightscreen/evidence-manifest/1',
    ...head,
    files: [
      { name: 'run.json', bytes: 4, lines: 2, sha256: digest(Buffer.from('{\n}\n')) },
      { name: 'answers.jsonl.gz', bytes: 39, lines: 3, sha256: digest(answers) },
    ],
    signer,
  });
  expect(gunzipSync(await readFile(join(written.directory, 'answers.jsonl.gz')))).toEqual(answers);
  const signature = Buffer.from(String(await readFile(join(written.directory, 'manifest.sig'))), 'base64');
  expect(verify(null, bytes, createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature)).toBe(true);
  const covered = ['run.json', 'answers.jsonl.gz', 'manifest.json', 'manifest.sig'];
  const digests = await Promise.all(covered.map(async (name) => digest(await readFile(join(written.directory, name)))));
  const sums = covered.map((name, at) => `${digests[at]}  ${name}\n`).join('');
  expect(String(await readFile(join(written.directory, 'SHA256SUMS')))).toBe(sums);
  const facts = await Promise.all(['', ...names].map((name) => stat(join(written.directory, name))));
  expect(facts.map(({ mode }) => mode & 0o777)).toEqual([0o700, ...names.map(() => 0o600)]);
  const sizes = facts.slice(1).map(({ size }) => size);
  expect(written.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
});

it('the same pack is left alone, and another one in its place is refused and changes nothing', async () => {
  const first = await writePack({ directory: folder, head, contents: makeContents() });
  const { mtimeMs } = await stat(join(first.directory, 'manifest.json'));
  expect(await writePack({ directory: folder, head, contents: makeContents() })).toEqual(first);
  await expect(writePack({ directory: folder, head, contents: [run] })).rejects.toThrowError(
    expect.objectContaining({
      code: 'evidence_differs',
      message: expect.stringContaining('nothing was changed there'),
    }),
  );
  expect((await stat(join(first.directory, 'manifest.json'))).mtimeMs).toBe(mtimeMs);
  expect(await readdir(folder)).toEqual(['12']);
});

it('a file, a link or other files in the place of a pack are left alone', async () => {
  await mkdir(join(folder, '12', '2'), { recursive: true });
  await writeFile(join(folder, '12', '2', 'notes.txt'), 'x');
  await writeFile(join(folder, '12', '3'), 'x');
  await symlink(join(folder, '12', '2'), join(folder, '12', '4'));
  for (const pack of [2, 3, 4])
    await expect(writePack({ directory: folder, head: { ...head, pack }, contents: [run] })).rejects.toThrowError(
      'was changed there',
    );
  expect(await readdir(join(folder, '12', '2'))).toEqual(['notes.txt']);
  expect(await readdir(folder)).toEqual(['12']);
});

it('an error of the lines is thrown on, also with the code of a disk, and leaves nothing', async () => {
  for (const error of [
    new StoreError('lost', 'the database is away'),
    Object.assign(new Error('reset'), { code: 'ENOSPC' }),
    new TypeError('a fault'),
  ])
    await expect(
      writePack({ directory: folder, head, contents: [run, { name: 'answers.jsonl.gz', lines: fail(error) }] }),
    ).rejects.toBe(error);
  expect(await readdir(folder)).toEqual([]);
});

it('a disk that refuses is one clear error', async () => {
  await writeFile(join(folder, 'file'), 'x');
  await expect(writePack({ directory: join(folder, 'file', 'evidence'), head, contents: [run] })).rejects.toThrowError(
    expect.objectContaining({
      code: 'evidence_not_written',
      message: expect.stringContaining('nothing was left there'),
    }),
  );
  expect(await readdir(folder)).toEqual(['file']);
});

it.skipIf(!existsSync('/proc/self'))(
  'a file system that takes no new folder is one clear error, and nothing tries for ever',
  async () => {
    const error = { code: 'evidence_not_written', message: expect.stringContaining('nothing was left there') };
    for (const directory of ['/proc/evidence', '/proc/evidence/of/tests'])
      await expect(writePack({ directory, head, contents: [run] })).rejects.toMatchObject(error);
  },
);

it.skipIf(process.geteuid?.() === 0)('a folder without the right to write is one clear error', async () => {
  await chmod(folder, 0o500);
  await expect(writePack({ directory: folder, head, contents: [run] })).rejects.toThrowError(
    'the evidence could not be written',
  );
  await chmod(folder, 0o700);
});

it('a wrong head, a wrong order, a line feed in a line and a wrong key are refused, and leave nothing', async () => {
  const answers: PackContent = { name: 'answers.jsonl.gz', lines: [['{}']] };
  const changes: PackContent = { name: 'changes.jsonl.gz', lines: [['{}']] };
  const former = { sequence: 1, sha256: 'a'.repeat(64) };
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const wrong: [PackHead, PackContent[]][] = [
    [{ ...head, run: '../x' }, [run]],
    [{ ...head, run: '012' }, [run]],
    [{ ...head, pack: 0 }, [run]],
    [{ ...head, sequence: 2 }, [run]],
    [{ ...head, former }, [run]],
    [{ ...head, sequence: 3, former }, [run]],
    [head, []],
    [head, [answers]],
    [head, [run, changes, answers]],
    [head, [run, run]],
    [head, [run, { name: 'answers.jsonl.gz', lines: [['{}\n{}']] }]],
  ];
  for (const [of, contents] of wrong)
    await expect(writePack({ directory: folder, head: of, contents })).rejects.toThrowError();
  await expect(writePack({ directory: folder, head, contents: [run], signingKey: rsa })).rejects.toThrowError(
    'is no private Ed25519 key',
  );
  expect(await readdir(folder)).toEqual([]);
});

it('what a killed writer left is removed by the next pack of any run after a day', async () => {
  const [old = '', recent = ''] = ['7-1', '8-1'].map(toPassingName);
  for (const name of [old, recent]) await mkdir(join(folder, name));
  const before = new Date(Date.now() - 25 * 3_600_000);
  await utimes(join(folder, old), before, before);
  await writePack({ directory: folder, head, contents: [run] });
  expect((await readdir(folder)).toSorted()).toEqual([recent, '12'].toSorted());
});

it('lines are read only as fast as the disk takes them', async () => {
  const batchBytes = 150_000;
  let most = 0;
  function* list(): Generator<readonly string[]> {
    for (let pulled = 0; pulled < 20; pulled += 1) {
      const [passing = ''] = readdirSync(folder);
      const { size } = statSync(join(folder, passing, 'answers.jsonl.gz'));
      most = Math.max(most, pulled * batchBytes - size);
      // Random bytes cannot be compressed below three quarters of their base64.
      yield [randomBytes(batchBytes).toString('base64')];
    }
  }
  await writePack({ directory: folder, head, contents: [run, { name: 'answers.jsonl.gz', lines: list() }] });
  expect(most).toBeLessThan(6 * batchBytes);
});
