import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { startMonitoring } from '../../../src/cli/schedule/health.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../../../src/cli/session.js';
import { goByDatabaseClock, look } from '../../../src/cli/watchdog.js';
import { systemClock } from '../../../src/clock.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { readOutbox } from '../../../src/store/operations/outbox.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { type MailServer, startMailServer } from '../../helpers/mail-server.js';
import { makeAppContext } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const configuration = `rosters: [{ name: people, csv: { path: people.csv } }]
mail: { transport: smtp, from: night@bank.example, to: [ops@bank.example] }
reports: { dir: reports }
`;
let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());

const lastNight = `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) values (1, 'people', now());
  insert into run (
    organisation_id, roster_id, mode, kind, selection, state, state_reasons, stage, lease_key, epoch, owner, settings_digest, version, started_at,
    finished_at
  )
  values (1, 1, 'test', 'rescreen', 'due', 'stopped', '{the key was refused}', 'planned', 'k', 1, 'o', 's', 'v', now(), now());
`;

/** A site on Postgres whose last night has stopped; what a look finds is mailed. */
async function makeSite() {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-look-'));
  await writeFile(join(folder, 'nightscreen.config.yaml'), configuration);
  const { url = '' } = await databases.locate();
  const environment = { DATABASE_URL: url, SMTP_URL: server.url };
  server.received.length = 0;
  const database = await databases.open({ url });
  await database.runScript(lastNight);
  return { folder, database, ...makeInvocation(folder, environment) };
}

/** Keeps everybody from reading the rosters until the work is done. */
const holdRosters = (database: Database, work: () => Promise<void>): Promise<void> =>
  database.transaction(async (transaction) => {
    await transaction.execute('set local idle_in_transaction_session_timeout = 0');
    await transaction.execute('lock table roster in access exclusive mode');
    await work();
  });

const subjects = (): readonly string[] => server.received.map(({ subject }) => subject.replace(/ - .*$/, ''));

it('a database that hangs is told once, noted in a file, and told as over once it answers', async () => {
  const { folder, database, invocation } = await makeSite();
  const note = join(folder, 'reports', '.watchdog.json');
  await holdRosters(database, async () => {
    const first = await look(invocation, 400);
    expect(first.exitCode).toBe(3);
    expect(first.document).toMatchObject({ canLook: false, isAlarm: true });
    expect(first.text).toContain('the database has not answered within 1 seconds');
    const second = await look(invocation, 400);
    expect(second.document['since']).toBe(first.document['since']);
  });
  expect(subjects()).toEqual(['[ALARM] watchdog: the database is unreachable']);
  expect(JSON.parse(await readFile(note, 'utf8'))).toMatchObject({ told: true });

  const over = await look(invocation);
  expect(over.document).toMatchObject({ canLook: true });
  expect(existsSync(note)).toBe(false);
  expect(subjects().toSorted()).toEqual([
    '[ALARM] people: ran, but is not complete',
    '[ALARM] watchdog: the database is unreachable',
    '[RECOVERED] watchdog: the database is unreachable',
  ]);
  expect(server.received.find(({ subject }) => subject.startsWith('[RECOVERED]'))?.text).toContain(
    'Reason of the alarm: the database was unreachable',
  );
});

it('what could not be mailed is mailed by a later look, and the note keeps since when it is so', async () => {
  const { folder, invocation, terminal } = await makeSite();
  invocation.environment = { ...invocation.environment, DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
  server.isRefusing = true;
  const first = await look(invocation);
  server.isRefusing = false;
  expect(first.exitCode).toBe(3);
  expect(JSON.parse(await readFile(join(folder, 'reports', '.watchdog.json'), 'utf8'))).toMatchObject({ told: false });
  expect(terminal.stderr).toContain('the alarm about the database could not be mailed');
  const second = await look(invocation);
  expect(second.document['since']).toBe(first.document['since']);
  expect(subjects()).toEqual(['[ALARM] watchdog: the database is unreachable']);
});

it('a mail server that hangs does not hold up a look that is asked to stop; the alarm waits in the outbox', async () => {
  const { invocation, stop, database } = await makeSite();
  const silent = createServer();
  const port = await listenOnLoopback(silent);
  invocation.environment = { ...invocation.environment, SMTP_URL: `smtp://127.0.0.1:${port}` };
  const looking = look(invocation);
  const [socket] = await once(silent, 'connection');
  const begunMs = performance.now();
  stop();
  expect((await looking).exitCode).toBe(3);
  expect(performance.now() - begunMs).toBeLessThan(6_000);
  expect(await readOutbox(database, 'default', { kinds: ['mail_failure'], all: true })).toMatchObject([
    { state: 'queued', attempts: [{ outcome: 'failed' }] },
  ]);
  socket.destroy();
  silent.close();
});

it('a scheduler looks beside a job that is under way, and stops at once when it is asked to', async () => {
  const { invocation, stop, terminal } = await makeSite();
  const config = loadInvocationConfig(invocation);
  const clock = { ...systemClock, sleep: (_: number, signal?: AbortSignal) => systemClock.sleep(50, signal) };
  const beside = await startMonitoring(invocation, [{ invocation, config }], {
    logger: openLogger(invocation, config),
    address: null,
    clock,
  });
  let isDone = false;
  const [inner = invocation] = beside.invocations;
  const job = withAppContext(inner, { command: 'schedule', isLasting: true }, async ({ database }) => {
    for (let round = 0; round < 400 && !terminal.stderr.includes('watchdog_alarm'); round += 1) await delay(25);
    await database.query(z.object({}), sql`select`);
    isDone = true;
  });
  await job;
  expect(isDone).toBe(true);
  const line = terminal.stderr.split('\n').find((one) => one.includes('watchdog_alarm')) ?? '';
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', findings: [{ kind: 'partial', subject: 'people' }] });
  stop();
  const begunMs = performance.now();
  await beside.stop();
  expect(performance.now() - begunMs).toBeLessThan(5_000);
  expect(terminal.stderr).not.toContain('watchdog_failed');
});

it('a watchdog whose clock is wrong goes by the database’s, and says so; one that is right says nothing', async () => {
  const database = await databases.open();
  const nowhere = { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_none' };
  const right = await makeAppContext(database, nowhere, { offsetMs: 4 * 60_000 });
  expect(await goByDatabaseClock(right)).toBe(right);
  expect(right.events).toEqual([]);
  const wrong = await makeAppContext(database, nowhere, { offsetMs: 30 * 24 * 3_600_000 });
  const mended = await goByDatabaseClock(wrong);
  expect(Math.abs(mended.clock.now().getTime() - Date.now())).toBeLessThan(5_000);
  expect(wrong.events).toMatchObject([{ kind: 'warning', code: 'clock_apart' }]);
  expect(JSON.stringify(wrong.events)).toContain('43200 minutes ahead of the database');
});

it('without a database there is nothing to look into, which is an alarm and makes none', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-look-'));
  const missing = join(folder, 'missing');
  await writeFile(join(folder, 'nightscreen.config.yaml'), `${configuration}database: { folder: ${missing} }\n`);
  const { exitCode, text, document } = await look(makeInvocation(folder, { SMTP_URL: server.url }).invocation);
  expect([exitCode, document]).toMatchObject([3, { isAlarm: true, canLook: false }]);
  expect(text).toContain(`there is no database at ${missing}`);
  expect(existsSync(missing)).toBe(false);
});
