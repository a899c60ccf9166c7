import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { allJobs } from '../../../jobs/all-jobs.js';
import { configSchema, type Settings } from '../../../src/config/schema.js';
import { listInstants, toDate, toDayNumberOf } from '../../../src/local-time/local-time.js';
import { toCronTimes } from '../../../src/scheduling/cron-times.js';
import { planJobs } from '../../../src/scheduling/plan-jobs.js';
import { listShipped, readShipped, readShippedYaml, readUnit } from '../../helpers/shipped-files.js';
import { readCronJobs } from '../../helpers/shipped-manifests.js';

const configurations = [
  'deploy/compose/nightscreen.config.yaml',
  'deploy/kubernetes/base/nightscreen.config.yaml',
  'deploy/systemd/nightscreen.config.yaml',
  'nightscreen.config.example.yaml',
];
const readSettings = (path: string): Settings => configSchema.parse(readShippedYaml(path));

const minuteMs = 60_000;
const firstDay = toDayNumberOf('2026-01-01');
const dates = Array.from({ length: 3_653 }, (_, day) => toDate(firstDay + day));

describe.each(configurations)('%s', (path) => {
  const { jobs } = readSettings(path);

  test('says of sweep, rescreening and report when they are due, and in which time zone', () => {
    expect(Object.keys(jobs)).toEqual(expect.arrayContaining(['sweep', 'rescreen', 'report']));
    for (const job of Object.values(jobs))
      expect(job).toMatchObject({ cron: expect.any(String), timezone: expect.any(String) });
  });

  test('has no time that a date of ten years leaves out or has twice', () => {
    const planned = planJobs(allJobs, jobs).filter(({ schedule }) => toCronTimes(schedule.cron).isByDate);
    const odd = planned.flatMap(({ job, schedule: { cron, timezone } }) =>
      dates.flatMap((date) =>
        toCronTimes(cron)
          .times.filter((time) => listInstants({ date, time }, timezone).length !== 1)
          .map((time) => `${job.name}: ${date} ${time}`),
      ),
    );
    expect(planned.map(({ job }) => job.name).toSorted()).toEqual(['report', 'rescreen', 'sweep']);
    expect(odd).toEqual([]);
  });
});

test('a night at 02:00 in Copenhagen would be found', () => {
  expect(dates.filter((date) => listInstants({ date, time: '02:00:00' }, 'Europe/Copenhagen').length !== 1)).toContain(
    '2027-03-28',
  );
});

const cronJobs = ['cronjob/jobs.yaml', 'base/watchdog.yaml'].flatMap(readCronJobs).map((job) =>
  z
    .object({
      spec: z.object({
        schedule: z.string(),
        timeZone: z.string(),
        startingDeadlineSeconds: z.number(),
        jobTemplate: z.object({
          spec: z.object({
            template: z.object({ spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()) })]) }) }),
          }),
        }),
      }),
    })
    .parse(job),
);

describe('what starts jobs from outside', () => {
  const byTimer = readUnit('deploy/systemd/nightscreen-jobs.service').get('ExecStart') ?? [];
  const byCluster = cronJobs.flatMap(({ spec }) => {
    const [{ args }] = spec.jobTemplate.spec.template.spec.containers;
    return args[0] === 'schedule' ? [args.join(' ')] : [];
  });

  test.each([
    ['the timer of systemd', byTimer, 'deploy/systemd/nightscreen.config.yaml'],
    ['the CronJobs of Kubernetes', byCluster, 'deploy/kubernetes/base/nightscreen.config.yaml'],
  ])('%s asks the schedule for each planned job, and never starts one by a time of its own', (_name, starts, path) => {
    const asked = starts.map((line) => / ?schedule run (\S+) --if-due$/.exec(line)?.[1]);
    const planned = planJobs(allJobs, readSettings(path).jobs);
    expect(asked.toSorted()).toEqual(planned.map(({ job }) => job.name).toSorted());
  });

  test('a CronJob comes round every quarter of an hour at least, on every day', () => {
    for (const { spec } of cronJobs) {
      const { times, isOn } = toCronTimes(spec.schedule);
      const starts = times.map((time) => Date.parse(`2026-01-01T${time}Z`) / minuteMs);
      const gaps = starts.map((start, index) => (starts[index + 1] ?? (starts[0] ?? 0) + 24 * 60) - start);
      expect(Math.max(...gaps)).toBeLessThanOrEqual(15);
      expect([spec.timeZone, dates.every(isOn)]).toEqual(['Etc/UTC', true]);
      expect(spec.startingDeadlineSeconds).toBeLessThanOrEqual(600);
    }
  });

  test('a timer comes round every quarter of an hour at least, whatever the time zone', () => {
    const timers = listShipped('deploy/systemd').filter((name) => name.endsWith('.timer'));
    expect(timers.map((name) => [name, readUnit(name).get('OnCalendar')])).toEqual([
      ['deploy/systemd/nightscreen-jobs.timer', ['*:0/10']],
      ['deploy/systemd/nightscreen-watchdog.timer', ['*:0/15']],
    ]);
  });

  test('a crontab of the documentation goes by an hour that clocks are not changed in', () => {
    const lines = [...listShipped('docs').filter((name) => name.endsWith('.md')), 'README.md'].flatMap((name) =>
      [...readShipped(name).matchAll(/^```cron\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
        block.trim().split('\n'),
      ),
    );
    expect(lines.length).toBeGreaterThanOrEqual(4);
    expect(lines.filter((line) => !/^(\*\/\d+ \*|\d+ ([4-9]|1\d|2[01])) \* \* \* /.test(line))).toEqual([]);
  });
});
