import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { Job } from '../../../src/runs/app-context.js';
import { keepSchedules } from '../../../src/runs/scheduled.js';
import type { PlannedJob } from '../../../src/scheduling/schedule.js';
import { JobStarter, type PerformJob, type ScheduleEvent } from '../../../src/scheduling/scheduler.js';
import { type Database, DatabaseError } from '../../../src/store/database/database.js';
import {
  cancelJobRun,
  type JobEnding,
  pauseSchedule,
  readJobRuns,
  resumeSchedule,
} from '../../../src/store/operations/jobs.js';
import { type FakeClock, makeFakeClock } from '../../helpers/clocks.js';
import { testDatabases } from '../../helpers/databases.js';
import { makeAppContext } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');
const hourMs = 3_600_000;
const nowhere = { url: 'http://127.0.0.1:9/v1', privateKey: 'private_sandbox_none' };

const plan = (name: string, cron: string, after: readonly string[] = []): PlannedJob => {
  const job: Job = { name, defaultCron: 'off', after, run: async () => ({ runs: [] }) };
  return { job, schedule: { cron, timezone: 'UTC' } };
};

/** A host that looks by a clock of its own; `worked` is what it has performed, `ending` what becomes of that. */
async function makeHost(database: Database, planned: readonly PlannedJob[], clock: FakeClock, owner: string) {
  const app = { ...(await makeAppContext(database, nowhere, { clock })), owner };
  const worked: string[] = [];
  const events: ScheduleEvent[] = [];
  const stopping = new AbortController();
  const host = {
    /** Who still listens for a stop; nobody, once a look is over. */
    listListeners: () => getEventListeners(stopping.signal, 'abort'),
    worked,
    events,
    app,
    ending: async (_: AbortSignal): Promise<JobEnding> => ({ exitCode: 0, because: null, runIds: [] }),
    keep: () =>
      keepSchedules(
        app,
        planned.map(({ job, schedule }) => ({ job: job.name, schedule })),
        { areAll: true },
      ),
    look: () => jobStarter.look(app, stopping.signal),
  };
  const perform: PerformJob = async (_, job, { localDate, isLate }, held) => {
    worked.push(`${job.name} ${localDate}${isLate ? ' late' : ''}`);
    return host.ending(held);
  };
  const jobStarter = new JobStarter({ planned, timeoutMs: 12 * hourMs }, perform, (event) => events.push(event));
  return host;
}

const states = async (database: Database) =>
  (await readJobRuns(database, 1, 20)).map(({ job, dueSlot, state, exitCode }) => [job, dueSlot, state, exitCode]);

it('a night runs once on whichever of two hosts, and the other hears who has it', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const planned = [plan('rescreen', '0 2 * * *')];
  const one = await makeHost(database, planned, clock, 'host-a:1:x');
  const two = await makeHost(database, planned, clock, 'host-b:2:y');
  await one.keep();
  await two.keep();
  expect((await one.look()).toISOString()).toBe('2026-11-22T01:00:00.000Z');
  await clock.advance(2 * hourMs);
  let finish = (): void => {};
  const working = new Promise<JobEnding>((resolve) => {
    finish = () => resolve({ exitCode: 3, because: 'partial', runIds: ['run_1'] });
  });
  one.ending = () => working;
  const looking = one.look();
  while (one.worked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  // Whoever asks for the lease waits by the clock for its heart to beat.
  let isAsking = true;
  const asking = two.look().finally(() => {
    isAsking = false;
  });
  while (isAsking) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await clock.advance(250);
  }
  await asking;
  expect(two.worked).toEqual([]);
  expect(two.listListeners()).toEqual([]);
  expect(two.events).toMatchObject([{ kind: 'held', job: 'rescreen', holder: 'host-a:1:x' }]);
  finish();
  await looking;
  await clock.advance(60_000);
  await two.look();
  expect([...one.worked, ...two.worked]).toEqual(['rescreen 2026-11-22']);
  expect(await states(database)).toEqual([['rescreen', '2026-11-22', 'finished', 3]]);
});

it('nights that nobody was there for: the newest is caught up, late, the others are missed; nothing is by a first start', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 18, 12))];
  const planned = [plan('rescreen', '0 2 * * *')];
  const first = await makeHost(database, planned, clock, 'host:1:x');
  await first.keep();
  await first.look();
  expect(first.worked).toEqual([]);
  await clock.advance(3 * 24 * hourMs);
  const second = await makeHost(database, planned, clock, 'host:2:y');
  await second.keep();
  await second.look();
  await second.look();
  expect(second.worked).toEqual(['rescreen 2026-11-21 late']);
  expect(await states(database)).toEqual([
    ['rescreen', '2026-11-21', 'finished', 0],
    ['rescreen', '2026-11-20', 'missed', null],
    ['rescreen', '2026-11-19', 'missed', null],
  ]);
});

it('the report comes after the runs of its date, however they ended', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const planned = [
    plan('report', '0 1 * * *', ['sweep', 'rescreen']),
    plan('rescreen', '0 2 * * *'),
    plan('sweep', '0 3 * * *'),
  ];
  const host = await makeHost(database, planned, clock, 'host:1:x');
  host.ending = async () => ({ exitCode: 1, because: 'failed', runIds: [] });
  await host.keep();
  await host.look();
  for (let hour = 0; hour < 4; hour += 1) {
    await clock.advance(hourMs);
    await host.look();
  }
  expect(host.worked).toEqual(['rescreen 2026-11-22', 'sweep 2026-11-22', 'report 2026-11-22']);
  expect(host.events.filter(({ kind }) => kind === 'waiting')).toMatchObject([{ job: 'report', for: 'sweep' }]);
});

it('what a database that went away interrupted is taken up again, and so is what a dead process left', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const planned = [plan('rescreen', '0 2 * * *')];
  const host = await makeHost(database, planned, clock, 'host:1:x');
  await host.keep();
  await clock.advance(2 * hourMs);
  host.ending = async () => ({ because: 'the database went away', runIds: ['run_1'] });
  const again = await host.look();
  expect(again.getTime() - clock.now().getTime()).toBe(60_000);
  expect(await states(database)).toEqual([['rescreen', '2026-11-22', 'interrupted', null]]);
  await clock.advance(60_000);
  host.ending = async () => {
    throw new DatabaseError('gone', { sqlState: undefined, constraint: undefined });
  };
  await expect(host.look()).rejects.toThrow('gone');
  expect(await states(database)).toEqual([['rescreen', '2026-11-22', 'running', null]]);
  host.ending = async () => ({ exitCode: 0, because: null, runIds: ['run_1'] });
  await host.look();
  expect(host.worked).toHaveLength(3);
  const [run] = await readJobRuns(database, 1, 1);
  expect(run).toMatchObject({ state: 'finished', attempts: 3, isLate: false, runIds: ['run_1'] });
});

it('a clock that was ahead for a while leaves nothing out, however many nights it has noted', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 20, 12))];
  const planned = [plan('rescreen', '0 2 * * *')];
  const host = await makeHost(database, planned, clock, 'host:1:x');
  await host.keep();
  await host.look();
  const ahead = makeFakeClock(Date.UTC(2027, 4, 20, 12));
  const wrong = await makeHost(database, planned, ahead, 'host:2:y');
  await wrong.look();
  expect(wrong.worked).toEqual(['rescreen 2027-05-20 late']);
  expect((await states(database))[0]).toEqual(['rescreen', '2027-05-20', 'finished', 0]);

  await clock.advance(14 * hourMs);
  await host.look();
  await clock.advance(24 * hourMs);
  await host.look();
  expect(host.worked).toEqual(['rescreen 2026-11-21', 'rescreen 2026-11-22']);
  expect(host.events.filter(({ kind }) => kind === 'missed')).toEqual([]);

  // The night that was done too early comes as well.
  const then = await makeHost(database, planned, makeFakeClock(Date.UTC(2027, 4, 20, 2)), 'host:3:z');
  await then.look();
  expect(then.worked).toEqual(['rescreen 2027-05-20']);
});

it('a schedule that was first kept by a clock that was ahead counts from the moment at which that is seen', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 20, 12))];
  const planned = [plan('rescreen', '0 2 * * *')];
  const wrong = await makeHost(database, planned, makeFakeClock(Date.UTC(2027, 0, 1)), 'host:1:x');
  await wrong.keep();
  const host = await makeHost(database, planned, clock, 'host:1:x');
  await host.look();
  await clock.advance(14 * hourMs);
  await host.look();
  expect(host.worked).toEqual(['rescreen 2026-11-21']);
});

it('the same process goes on when its clock is put back, also with a job that was to be tried again', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const host = await makeHost(database, [plan('rescreen', '0 2 * * *')], clock, 'host:1:x');
  await host.keep();
  let offsetMs = 30 * 24 * hourMs;
  host.app.clock = { ...clock, now: () => new Date(clock.now().getTime() + offsetMs) };
  host.ending = async () => ({ because: 'the database went away', runIds: [] });
  await host.look();
  expect(host.worked).toHaveLength(1);
  offsetMs = 2 * hourMs;
  host.ending = async () => ({ exitCode: 0, because: null, runIds: [] });
  await host.look();
  expect(host.worked.at(-1)).toBe('rescreen 2026-11-22');
});

it('a job past its timeout gets its signal, and goes on later', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const host = await makeHost(database, [plan('rescreen', '0 0 * * *')], clock, 'host-a:1:x');
  host.ending = (held) =>
    new Promise((resolve) =>
      held.addEventListener('abort', () => resolve({ exitCode: 4, because: 'stopped', runIds: [] })),
    );
  await host.keep();
  await clock.advance(24 * hourMs);
  const looking = host.look();
  while (host.worked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await clock.advance(12 * hourMs);
  await looking;
  const [left] = await readJobRuns(database, 1, 1);
  expect(left).toMatchObject({ state: 'interrupted', exitCode: null, isTimedOut: true });
  expect(left?.because).toBe('it exceeded its timeout of 12h; stopped');
});

it('a paused schedule begins nothing; what is due within the pause is begun after it', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const host = await makeHost(database, [plan('rescreen', '0 2 * * *')], clock, 'host-a:1:x');
  await host.keep();
  await host.look();
  const [pausedAt, until] = [clock.now(), new Date(clock.now().getTime() + 24 * hourMs)];
  await pauseSchedule(database, 1, { pausedAt, until, by: 'ann@host-a', reason: null });
  await clock.advance(3 * hourMs);
  expect((await host.look()).getTime() - clock.now().getTime()).toBe(15_000);
  expect(host.worked).toEqual([]);
  await resumeSchedule(database, 1, 'ann@host-a', clock.now());
  await host.look();
  expect(host.worked).toEqual(['rescreen 2026-11-22 late']);
});

it('a job that is cancelled gets its signal, ends as stopped, and says who has cancelled it', async () => {
  const [database, clock] = [await databases.open(), makeFakeClock(Date.UTC(2026, 10, 22))];
  const host = await makeHost(database, [plan('rescreen', '0 2 * * *')], clock, 'host-a:1:x');
  await host.keep();
  await host.look();
  await clock.advance(3 * hourMs);
  host.ending = (held) =>
    new Promise((resolve) =>
      held.addEventListener('abort', () => resolve({ exitCode: 4, because: 'stopped on request', runIds: [] })),
    );
  const looking = host.look();
  while (host.worked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(await cancelJobRun(database, 1, 'sweep', 'ann@host-b')).toBeNull();
  expect(await cancelJobRun(database, 1, 'rescreen', 'ann@host-b')).toMatchObject({ owner: 'host-a:1:x' });
  await looking;
  const [cancelled] = await readJobRuns(database, 1, 1);
  expect(cancelled).toMatchObject({ state: 'finished', exitCode: 4, isTimedOut: false });
  expect(cancelled?.because).toBe('it was cancelled by ann@host-b; stopped on request');
});
