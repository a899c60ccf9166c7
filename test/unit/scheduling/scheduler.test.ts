import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Job } from '../../../src/runs/app-context.js';
import { planJobs } from '../../../src/scheduling/schedule.js';
import { type ScheduleEvent, startScheduler } from '../../../src/scheduling/scheduler.js';
import { jobsSettingsSchema } from '../../../src/scheduling/settings.js';
import { makeFakeClock } from '../../helpers/clocks.js';

const toJob = (name: string, defaultCron: string): Job => ({ name, defaultCron, run: async () => ({ runs: [] }) });

test('the configuration changes the times of a job, switches one off, or gives times to a job without', () => {
  const jobs = [toJob('rescreen', '0 2 * * *'), toJob('sweep', '30 3 * * *'), toJob('onboard', 'off')];
  const plan = (settings: Record<string, string>) =>
    planJobs(jobs, jobsSettingsSchema.parse(settings), 'Asia/Tokyo').map(({ job, schedule }) => [
      job.name,
      schedule.cron,
      schedule.timezone,
    ]);
  expect(plan({ rescreen: '0 4 * * *', sweep: 'off' })).toEqual([['rescreen', '0 4 * * *', 'Asia/Tokyo']]);
  expect(plan({ onboard: '0 5 * * *' })).toHaveLength(3);
});

test.each(['0 25 * * *', '0 2 30 2 *', 'every night', '', 'Off'])('%j is refused as a cron expression', (rescreen) => {
  expect(jobsSettingsSchema.safeParse({ rescreen }).success).toBe(false);
});

test('looks at once and then when it is due by the clock, however that is set meanwhile', async () => {
  const clock = makeFakeClock();
  const looks: string[] = [];
  let next = new Date(clock.now().getTime() + 3_600_000);
  const look = async (): Promise<Date> => {
    looks.push(clock.now().toISOString().slice(11, 16));
    return next;
  };
  const scheduler = startScheduler({ clock, look, emit: () => {} });
  await delay(1_100);
  expect(looks).toEqual(['00:00']);
  await clock.advance(3_600_000);
  next = new Date(clock.now().getTime() + 86_400_000);
  await delay(1_100);
  expect(looks).toEqual(['00:00', '01:00']);
  await scheduler.stop();
  await clock.advance(2 * 86_400_000);
  await delay(1_100);
  expect(looks).toHaveLength(2);
});

test('a look that fails is told and tried again; stop waits for the one under way, and two never overlap', async () => {
  const clock = makeFakeClock();
  const reported: ScheduleEvent[] = [];
  let looks = 0;
  let under = 0;
  let ended = 0;
  const look = async (): Promise<Date> => {
    looks += 1;
    under += 1;
    expect(under).toBe(1);
    if (looks === 1) {
      under -= 1;
      throw new Error('no database');
    }
    await delay(1_500);
    under -= 1;
    ended += 1;
    return clock.now();
  };
  const scheduler = startScheduler({ clock, look, emit: (event) => reported.push(event) });
  await delay(50);
  expect(reported).toMatchObject([{ kind: 'blocked', retryMs: 1_000 }]);
  await clock.advance(1_000);
  await delay(1_200);
  expect(looks).toBe(2);
  await scheduler.stop();
  expect(ended).toBe(1);
});
