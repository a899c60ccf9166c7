import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { writePrivately } from '../../../src/files.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-private-'));
});

async function* parts(fails: boolean): AsyncGenerator<string | Uint8Array> {
  yield 'one ';
  yield Buffer.from('two');
  if (fails) throw new Error('amid the writing');
}

it('replaces a file by one for its owner alone', async () => {
  const file = join(folder, 'list.csv');
  await writeFile(file, 'former');
  await writePrivately(file, parts(false));
  expect(await readFile(file, 'utf8')).toBe('one two');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(['list.csv']);
});

it('leaves what stood there, and nothing else, when the writing breaks off', async () => {
  const file = join(folder, 'list.csv');
  await writeFile(file, 'former');
  await expect(writePrivately(file, parts(true))).rejects.toThrow('amid the writing');
  expect(await readFile(file, 'utf8')).toBe('former');
  expect(await readdir(folder)).toEqual(['list.csv']);
});
