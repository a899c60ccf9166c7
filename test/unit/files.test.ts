import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, toPassingName, writePrivately } from '../../src/files.js';

test('a folder is made, and not tried for ever, where the working folder was removed meanwhile', async () => {
  const before = process.cwd();
  const removed = await realpath(await mkdtemp(join(tmpdir(), 'nightscreen-removed-')));
  process.chdir(removed);
  try {
    expect(process.cwd()).toBe(removed);
    await rm(removed, { recursive: true });
    await makeFolder('./data', 'name another folder');
    expect(existsSync(join(removed, 'data'))).toBe(true);
  } finally {
    process.chdir(before);
    await rm(removed, { recursive: true, force: true });
  }
});

test('what a killed writer left is removed by the next one after a day, and nothing else is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-remains-'));
  const [file, directory, recent] = [1, 2, 3].map(() => toPassingName('list.csv'));
  const kept = [recent ?? '', '.notes.txt.0123456789ab', 'list.csv.tmp'];
  for (const name of [file ?? '', ...kept]) await writeFile(join(folder, name), 'Ada Berg');
  await mkdir(join(folder, directory ?? '', 'profile'), { recursive: true });
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  for (const name of [file ?? '', directory ?? '', ...kept.slice(1)]) {
    await utimes(join(folder, name), yesterday, yesterday);
  }
  await writePrivately(join(folder, 'other.csv'), 'x');
  expect((await readdir(folder)).toSorted()).toEqual([...kept, 'other.csv'].toSorted());
});
