import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { testDatabases } from '../helpers/databases.js';
import { watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const rows = Array.from({ length: 60 }, (_, at) => `K-${at},person,Customer Number ${at}`);

it('a run that loses its database ends in a line of level error with run and roster, as not finished, and each line is JSON', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-end-'));
  const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  const location = await databases.locate();
  const url = new URL(location.url ?? '');
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const server = new pg.Client({ connectionString: url.href });
  await server.connect();
  const takeAway = async (): Promise<void> => {
    await server.query(`alter database "${name}" with allow_connections false`);
    await server.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  };
  await writeFile(join(folder, 'roster.csv'), `customer_id,type,name\n${rows.join('\n')}\n`);
  await writeFile(
    join(folder, 'nightscreen.config.yaml'),
    'service: { rate: { perSecond: 50, concurrency: 4 } }\nrosters: [{ name: retail, csv: { path: roster.csv } }]\n',
  );
  let messages = '';
  let taking: Promise<void> | null = null;
  const written = { stdout: '' };
  const exitCode = await runCommandLine({
    words: ['rescreen', '--json'],
    environment: {
      NIGHTSCREEN_BASE_URL: sandbox.url,
      NIGHTSCREEN_API_KEY: sandbox.privateKey,
      DATABASE_URL: location.url,
    },
    folder,
    terminal: {
      writeData: async (text) => {
        written.stdout += text;
      },
      writeMessage: (text) => {
        messages += text;
        if (text.includes('"stage":"screen"')) taking ??= takeAway();
      },
      isScreen: false,
      columns: 80,
      hasColours: false,
    },
  });
  await taking;
  await server.query(`alter database "${name}" with allow_connections true`);
  await server.end();
  await sandbox.close();
  expect(exitCode).toBe(1);
  expect(JSON.parse(written.stdout)).toMatchObject({ schema: 'nightscreen/error/1' });
  const lines = messages
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const runId = lines.find(({ msg }) => msg === 'run_started')?.runId;
  expect(runId).toMatch(/-rescreen-/);
  expect(lines.filter(({ msg }) => msg === 'run_finished')).toEqual([]);
  const ofRun = { level: 'error', roster: 'retail', runId };
  expect(lines).toContainEqual(expect.objectContaining({ ...ofRun, msg: 'roster_failed' }));
  expect(lines.at(-1)).toMatchObject({ ...ofRun, msg: 'command_failed', isFinished: false, time: expect.any(String) });
  expect(messages).not.toContain('Customer Number');
}, 60_000);
