import { beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../src/store/database/database.js';
import {
  beginJobRun,
  bringSchedulesBack,
  endJobRun,
  findJobRun,
  noteMissedJob,
  readJobRuns,
  readJobSchedules,
  saveJobSchedules,
} from '../../../src/store/operations/jobs.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const at = (text: string): Date => new Date(text);
const dueOn = (date: string) => ({ dueSlot: date, localDate: date, dueAt: at(`${date}T02:00Z`) });
const beginning = (date: string, owner = 'host-a:1:x') => ({
  job: 'rescreen',
  ...dueOn(date),
  owner,
  now: at(`${date}T02:01Z`),
  isLate: false,
  again: [] as number[],
  timeoutMs: 60_000,
  forgetBefore: null as Date | null,
});

describeOnEachDatabase('what became of the times of jobs', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await database.runScript(
      `insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now())`,
    );
  });
  const begin = (date: string, changes: Partial<ReturnType<typeof beginning>> = {}) =>
    database.transaction((transaction) => beginJobRun(transaction, 1, { ...beginning(date), ...changes }));
  const end = (jobRunId: number, exitCode?: number) =>
    endJobRun(database, jobRunId, { exitCode, because: null, runIds: ['b', 'a'] }, at('2026-11-22T03:00Z'));

  it('a time is begun once; what was left or interrupted is taken up again and keeps when it began first', async () => {
    const first = await begin('2026-11-20');
    expect(first).toMatchObject({ state: 'running', attempts: 1, localDate: '2026-11-20', runIds: [] });
    const heir = await begin('2026-11-20', { owner: 'host-b:2:y', now: at('2026-11-20T04:00Z'), isLate: true });
    expect(heir).toMatchObject({ attempts: 2, owner: 'host-b:2:y', begunAt: first?.begunAt, isLate: false });
    await end(heir?.jobRunId ?? 0);
    expect(await begin('2026-11-20')).toMatchObject({ attempts: 3, state: 'running', endedAt: null });
    await end(heir?.jobRunId ?? 0, 3);
    expect(await begin('2026-11-20')).toBeNull();
    expect(await begin('2026-11-20', { again: [1, 4] })).toBeNull();
    expect(await begin('2026-11-20', { again: [3] })).toMatchObject({
      attempts: 4,
      exitCode: null,
      runIds: ['a', 'b'],
    });
    await end(heir?.jobRunId ?? 0, 0);
    expect(await findJobRun(database, 1, 'rescreen', '2026-11-20')).toMatchObject({ state: 'finished', exitCode: 0 });
  });

  it('a missed time is noted unless it was begun, and may be begun after all', async () => {
    const missed = { now: at('2026-11-22T09:00Z'), because: 'nobody was there' };
    for (const date of ['2026-11-20', '2026-11-21']) await noteMissedJob(database, 1, 'rescreen', dueOn(date), missed);
    const states = (await readJobRuns(database, 1, 10)).map(({ dueSlot, state }) => [dueSlot, state]);
    expect(states).toEqual([
      ['2026-11-21', 'missed'],
      ['2026-11-20', 'finished'],
    ]);
    expect(await begin('2026-11-21', { isLate: true })).toMatchObject({ attempts: 1, isLate: true });
  });

  it('beginning the next time says of an older one that its process has ended', async () => {
    await begin('2026-11-22');
    expect(await findJobRun(database, 1, 'rescreen', '2026-11-21')).toMatchObject({
      state: 'interrupted',
      because: 'its process ended without a result',
    });
    expect(await readJobRuns(database, 1, 1)).toMatchObject([{ dueSlot: '2026-11-22', state: 'running' }]);
  });

  it('only what ended well is forgotten', async () => {
    await begin('2026-11-22', { forgetBefore: at('2026-12-01T00:00Z') });
    const kept = (await readJobRuns(database, 1, 10)).map(({ dueSlot }) => dueSlot);
    expect(kept).toEqual(['2026-11-22', '2026-11-21']);
  });

  it('a schedule counts from when it was first seen, changed, or came back', async () => {
    const plan = { job: 'rescreen', cron: '0 2 * * *', timezone: 'UTC' };
    const since = async () => (await readJobSchedules(database, 1))[0]?.plannedSince.toISOString().slice(11, 16);
    await saveJobSchedules(database, 1, [plan], { areAll: false, now: at('2026-11-22T01:00Z') });
    await saveJobSchedules(database, 1, [plan], { areAll: false, now: at('2026-11-22T02:00Z') });
    expect(await since()).toBe('01:00');
    await saveJobSchedules(database, 1, [{ ...plan, cron: '0 3 * * *' }], {
      areAll: false,
      now: at('2026-11-22T03:00Z'),
    });
    expect(await since()).toBe('03:00');
    await saveJobSchedules(database, 1, [], { areAll: true, now: at('2026-11-22T04:00Z') });
    expect((await readJobSchedules(database, 1))[0]?.retiredAt).toEqual(at('2026-11-22T04:00Z'));
    await saveJobSchedules(database, 1, [{ ...plan, cron: '0 3 * * *' }], {
      areAll: false,
      now: at('2026-11-22T05:00Z'),
    });
    expect(await since()).toBe('05:00');
    expect((await readJobSchedules(database, 1))[0]?.retiredAt).toBeNull();
  });

  it('a schedule that a clock which was ahead has put off counts from now, and no other does', async () => {
    const since = async () => (await readJobSchedules(database, 1))[0]?.plannedSince;
    await bringSchedulesBack(database, 1, at('2026-11-22T04:56Z'));
    expect(await since()).toEqual(at('2026-11-22T05:00Z'));
    await bringSchedulesBack(database, 1, at('2026-11-22T04:54Z'));
    expect(await since()).toEqual(at('2026-11-22T04:54Z'));
  });

  it('what a clock that was ahead has noted counts when its moment has come; until then it is begun anew or missed', async () => {
    const ahead = { now: at('2027-01-20T09:00Z'), because: 'nobody was there' };
    for (const date of ['2027-01-18', '2027-01-19']) await noteMissedJob(database, 1, 'sweep', dueOn(date), ahead);
    const early = await begin('2027-01-20', { job: 'sweep', now: ahead.now });
    await end(early?.jobRunId ?? 0, 0);
    const known = async (now: string) =>
      (await readJobRuns(database, 1, 1, at(now))).filter(({ job }) => job === 'sweep').map(({ dueSlot }) => dueSlot);
    expect(await known('2027-01-18T02:01Z')).toEqual([]);
    expect(await known('2027-01-20T08:01Z')).toEqual(['2027-01-20']);

    const anew = await begin('2027-01-20', { job: 'sweep' });
    expect(anew).toMatchObject({ state: 'running', begunAt: at('2027-01-20T02:01Z'), attempts: 2 });
    await end(anew?.jobRunId ?? 0, 0);
    expect(await begin('2027-01-20', { job: 'sweep' })).toBeNull();

    const missed = { now: at('2027-01-18T09:00Z'), because: 'nobody was there' };
    await noteMissedJob(database, 1, 'sweep', dueOn('2027-01-18'), missed);
    expect(await known('2027-01-18T09:00Z')).toEqual(['2027-01-18']);
    expect(await begin('2027-01-19', { job: 'sweep' })).toMatchObject({
      begunAt: at('2027-01-19T02:01Z'),
      attempts: 1,
    });
  });
});
