import { spawn } from 'node:child_process';
import { once } from 'node:events';
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

test('the next writer removes what a killed one left, whatever it wrote, and nothing of a live one or of anybody else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-remains-'));
  const other = spawn('sleep', ['600']);
  try {
    const ofOwn = toPassingName('night.backup');
    const [, space = '', start = ''] = /\.(\w{8})-\d+-(\d+)-\w+\.tmp$/.exec(ofOwn) ?? [];
    const toName = (ofSpace: string, pid: number | undefined, started: string): string =>
      `.list.csv.${ofSpace}-${pid}-${started}-0123456789ab.tmp`;
    const ended = spawn('true');
    await once(ended, 'exit');
    const dead = [
      toName(space, ended.pid, start),
      // Its number is that of another process by now.
      toName(space, other.pid, '1'),
      toName(space, process.pid, '1'),
    ];
    const elsewhere = toName('00000000', process.pid, start);
    const old = elsewhere.replace('list', 'old');
    const kept = [ofOwn, elsewhere, '.notes.txt.0123456789ab.tmp', 'list.csv.tmp'];
    for (const name of [...dead, old, ...kept]) await writeFile(join(folder, name), 'Ada Berg');
    const printing = toName(space, ended.pid, '2').replace('list.csv', 'printing');
    await mkdir(join(folder, printing, 'profile'), { recursive: true });
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    for (const name of [old, ofOwn, '.notes.txt.0123456789ab.tmp'])
      await utimes(join(folder, name), yesterday, yesterday);
    await writePrivately(join(folder, 'other.csv'), 'x');
    expect((await readdir(folder)).toSorted()).toEqual([...kept, 'other.csv'].toSorted());
  } finally {
    other.kill();
    await rm(folder, { recursive: true });
  }
});

test('a writer that is killed amid its writing leaves a file that the next one removes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-killed-'));
  const program = `import { writePrivately } from ${JSON.stringify(new URL('../../src/files.ts', import.meta.url).href)};
    await writePrivately(${JSON.stringify(join(folder, 'list.csv'))}, (async function* () {
      yield 'half';
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    })());`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program]);
  const remains = async (): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
  await expect.poll(remains, { timeout: 60_000 }).toHaveLength(1);
  await writePrivately(join(folder, 'other.csv'), 'x');
  expect(await remains()).toHaveLength(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  await writePrivately(join(folder, 'other.csv'), 'x');
  expect(await readdir(folder)).toEqual(['other.csv']);
  await rm(folder, { recursive: true });
});
