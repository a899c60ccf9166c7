import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Job } from '../../../src/runs/job.js';
import { findNextRun } from '../../../src/scheduling/next-run.js';
import { planJobs } from '../../../src/scheduling/plan-jobs.js';
import { RunQueue } from '../../../src/scheduling/run-queue.js';
import { startScheduler } from '../../../src/scheduling/scheduler.js';
import { jobsSettingsSchema } from '../../../src/scheduling/settings.js';

const toJob = (name: Job['name'], cron: string | null): Job => ({
  name,
  defaultSchedule: cron === null ? null : { cron, timezone: 'UTC' },
  run: async () => [],
});

test('work in the queue never overlaps and keeps its order', async () => {
  const queue = new RunQueue();
  const trace: string[] = [];
  const work = (name: string) => async (): Promise<void> => {
    trace.push(`+${name}`);
    await delay(5);
    trace.push(`-${name}`);
  };
  for (const name of ['a', 'b', 'c']) queue.add(name, work(name));
  await queue.drain();
  expect(trace).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
});

test('a job that waits already is not queued a second time', async () => {
  const queue = new RunQueue();
  let count = 0;
  const work = async (): Promise<void> => {
    count += 1;
  };
  queue.add('long', () => delay(10));
  expect(queue.add('job', work)).toBe(true);
  expect(queue.add('job', work)).toBe(false);
  await queue.drain();
  expect(queue.add('job', work)).toBe(true);
  await queue.drain();
  expect(count).toBe(2);
});

test('the configuration changes one part of a schedule, switches a job off, or gives one to a job without', () => {
  const jobs = [toJob('rescreen', '0 2 * * *'), toJob('sweep', '30 3 * * *'), toJob('onboard', null)];
  const settings = jobsSettingsSchema.parse({ rescreen: { timezone: 'Europe/Copenhagen' }, sweep: { enabled: false } });
  expect(planJobs(jobs, settings).map(({ job, schedule }) => [job.name, schedule.cron, schedule.timezone])).toEqual([
    ['rescreen', '0 2 * * *', 'Europe/Copenhagen'],
  ]);
  const onboard = jobsSettingsSchema.parse({ onboard: { cron: '0 5 * * *' } });
  expect(planJobs(jobs, onboard)).toHaveLength(3);
});

test.each(['0 25 * * *', 'every night', ''])('%j is refused as a cron expression', (cron) => {
  expect(jobsSettingsSchema.safeParse({ rescreen: { cron } }).success).toBe(false);
});

test.each(['Europe/Kopenhagen', '+02:00', ''])('%j is refused as a time zone', (timezone) => {
  expect(jobsSettingsSchema.safeParse({ rescreen: { timezone } }).success).toBe(false);
});

test('the next run is read in the time zone of the schedule', () => {
  const next = findNextRun({ cron: '0 2 * * *', timezone: 'Asia/Tokyo' });
  expect(next?.toISOString()).toMatch(/T17:00:00\.000Z$/);
});

test('a job that fails is told and does not stop the scheduler; stop waits for the job under way', async () => {
  const told: string[] = [];
  let rounds = 0;
  const scheduler = startScheduler(
    [{ job: toJob('sweep', null), schedule: { cron: '* * * * * *', timezone: 'UTC' } }],
    async () => {
      rounds += 1;
      if (rounds === 1) throw new Error('the first round fails');
      await delay(200);
    },
    {
      started: (name) => told.push(`started ${name}`),
      finished: (name) => told.push(`finished ${name}`),
      failed: (name) => told.push(`failed ${name}`),
      skipped: () => {},
      complained: () => {},
    },
  );
  while (told.filter((line) => line.startsWith('started')).length < 2) await delay(20);
  await scheduler.stop();
  expect(told.slice(0, 4)).toEqual(['started sweep', 'failed sweep', 'started sweep', 'finished sweep']);
  const after = told.length;
  await delay(1_200);
  expect(told).toHaveLength(after);
});
