import { describe, expect, test } from 'vitest';
import { allJobs } from '../../../jobs/all-jobs.js';
import { type Config, loadConfig } from '../../../src/config/load-config.js';
import { listInstants, toDate, toDayNumberOf } from '../../../src/local-time.js';
import { toCronTimes } from '../../../src/scheduling/due-times.js';
import { planJobs } from '../../../src/scheduling/schedule.js';
import { listShipped, readCronJobs, readShipped, readUnit, root } from '../../helpers/shipped-files.js';

const configurations = [
  'deploy/compose/nightscreen.config.yaml',
  'deploy/kubernetes/base/nightscreen.config.yaml',
  'deploy/systemd/nightscreen.config.yaml',
  'nightscreen.config.example.yaml',
];
const readSettings = (path: string): Config['settings'] =>
  loadConfig({ environment: {}, folder: root, file: path }).settings;

const firstDay = toDayNumberOf('2026-01-01');
const dates = Array.from({ length: 3_653 }, (_, day) => toDate(firstDay + day));

describe.each(configurations)('%s', (path) => {
  const { jobs, timezone } = readSettings(path);

  test('says of sweep, rescreening and report when they are due, and in which time zone', () => {
    expect(Object.keys(jobs)).toEqual(expect.arrayContaining(['sweep', 'rescreen', 'report']));
    expect(readShipped(path)).toMatch(/^timezone: /m);
  });

  test('has no time that a date of ten years leaves out or has twice', () => {
    const planned = planJobs(allJobs, jobs, timezone).filter(({ schedule }) => toCronTimes(schedule.cron).isByDate);
    const odd = planned.flatMap(({ job, schedule: { cron } }) =>
      dates.flatMap((date) =>
        toCronTimes(cron)
          .times.filter((time) => listInstants({ date, time }, timezone).length !== 1)
          .map((time) => `${job.name}: ${date} ${time}`),
      ),
    );
    expect(planned.map(({ job }) => job.name).toSorted()).toEqual(['report', 'rescreen', 'retention', 'sweep']);
    expect(odd).toEqual([]);
  });
});

test('a night at 02:00 in Copenhagen would be found', () => {
  expect(dates.filter((date) => listInstants({ date, time: '02:00:00' }, 'Europe/Copenhagen').length !== 1)).toContain(
    '2027-03-28',
  );
});

test('what starts the watchdog comes round every quarter of an hour, whatever the time zone', () => {
  const timers = listShipped('deploy/systemd').filter((name) => name.endsWith('.timer'));
  expect(timers.map((name) => [name, readUnit(name).get('OnCalendar')])).toEqual([
    ['deploy/systemd/nightscreen-watchdog.timer', ['*:0/15']],
  ]);
  const [watchdog] = readCronJobs('base/watchdog.yaml');
  expect(watchdog).toMatchObject({ spec: { schedule: '*/15 * * * *', timeZone: 'Etc/UTC' } });
});

test('a crontab of the documentation asks the schedule for each planned job every few minutes, or is the watchdog', () => {
  const lines = [...listShipped('docs').filter((name) => name.endsWith('.md')), 'README.md'].flatMap((name) =>
    [...readShipped(name).matchAll(/^```cron\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
      block.trim().split('\n'),
    ),
  );
  expect(lines).toHaveLength(3);
  expect(lines.filter((line) => !/^\*\/1[05] \* \* \* \* /.test(line))).toEqual([]);
  const planned = planJobs(allJobs, readSettings('nightscreen.config.example.yaml').jobs, 'UTC').map(
    ({ job }) => job.name,
  );
  const asked = lines.flatMap((line) => {
    const [, jobs] = /for job in ([\w ]+); do \S+ schedule run \$job --if-due/.exec(line) ?? [];
    return jobs === undefined ? [] : [jobs.split(' ').toSorted()];
  });
  expect(asked).toEqual([planned.toSorted(), planned.toSorted()]);
});
