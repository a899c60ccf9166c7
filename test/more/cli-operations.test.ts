import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findCli, quickStart } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';

test.skipIf(!existsSync('/dev/full'))('standard output on a full disk is told in one line, exit code 1', () => {
  const full = openSync('/dev/full', 'w');
  const words = [findCli(), 'config'];
  const { stderr, status } = spawnSync(process.execPath, words, { cwd: tmpdir(), stdio: ['ignore', full, 'pipe'] });
  closeSync(full);
  expect(stderr.toString()).toMatch(/^nightscreen: the output cannot be written: ENOSPC[^\n]*\n$/);
  expect(status).toBe(1);
});

test('a folder of the embedded database that this user may not write to is told, with what to do', async () => {
  const site = mkdtempSync(join(tmpdir(), 'nightscreen-closed-'));
  onTestFinished(() => rmSync(site, { recursive: true }));
  writeFileSync(join(site, 'retail.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n');
  const withoutRoot = process.geteuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const emit = (words: string) => {
    const [program = '', ...rest] = [...withoutRoot, process.execPath, ...quickStart, findCli(), ...words.split(' ')];
    const env = { PATH: process.env['PATH'] };
    return spawnSync(program, rest, { cwd: site, env, encoding: 'utf8' });
  };
  const refuse = (closed: string): void => {
    chmodSync(closed, 0o500);
    const { status, stderr } = emit('import --file retail.csv');
    chmodSync(closed, 0o700);
    expect([closed, status]).toEqual([closed, 2]);
    expect(stderr).toContain(`this user may not write to ${closed}`);
    expect(stderr).toContain('set database.folder (NIGHTSCREEN_DATA) to another folder');
    expect(stderr).not.toMatch(/^ +at /m);
  };
  refuse(site);
  await seedDatabase(site);
  refuse(join(site, '.nightscreen'));
}, 120_000);
