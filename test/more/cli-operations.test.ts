import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { findCli, makeCliSite, quickStart, runCli, startCli } from '../helpers/cli-process.js';
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

test('a reading command during a run on the embedded database learns what runs, how far it is and when it ends', async () => {
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  onTestFinished(() => sandbox.close());
  sandbox.setConditions({ latencyMs: { min: 2_000, max: 2_000 } });
  const rows = Array.from({ length: 120 }, (_, at) => `${at},person,Person Number${at}\n`);
  const site = await makeCliSite({ 'retail.csv': `customer_id,type,name\n${rows.join('')}` }, sandbox);
  onTestFinished(() => rmSync(site.folder, { recursive: true }));
  await seedDatabase(site.folder);
  const run = startCli(['onboard', '--file', 'retail.csv'], site);
  onTestFinished(() => void run.kill('SIGKILL'));
  run.stdout?.resume();
  run.stderr?.resume();
  await expect.poll(() => sandbox.ledger().length, { timeout: 60_000 }).toBeGreaterThan(40);
  for (const words of [['runs'], ['status'], ['coverage'], ['runs', 'show', '1']]) {
    const refused = await runCli(words, site);
    expect([words, refused.exitCode]).toEqual([words, 2]);
    expect(refused.stderr).toMatch(
      /It runs \d{4}-\d\d-\d\d-onboard-1 of default, stage screen, \d+ of 120, until about [-\dT:.]+Z/,
    );
    expect(refused.stderr).toContain('With Postgres (DATABASE_URL)');
    expect(refused.stderr).not.toContain('stop it');
  }
}, 120_000);
