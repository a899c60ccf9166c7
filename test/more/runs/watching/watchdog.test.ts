import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { presentWatch } from '../../../../src/cli/watchdog.js';
import { shiftedClock } from '../../../../src/clock.js';
import { mailSettingsSchema } from '../../../../src/mail/settings.js';
import { formatTime } from '../../../../src/reports/text.js';
import { toFileRoster } from '../../../../src/roster/settings.js';
import type { AppContext } from '../../../../src/runs/app-context.js';
import { keepSchedules } from '../../../../src/runs/scheduled.js';
import { jobsSettingsSchema, schedulerSettingsSchema } from '../../../../src/scheduling/settings.js';
import { type Watch, watch } from '../../../../src/scheduling/watchdog/watch.js';
import { sql } from '../../../../src/store/database/statement.js';
import { beginJobRun, endJobRun, pauseSchedule, resumeSchedule } from '../../../../src/store/operations/jobs.js';
import { queueOutbox, readOutbox } from '../../../../src/store/operations/outbox.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { type MailServer, serveMail } from '../../../helpers/mail-server.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import { hourMs, people, type TestAppContext, writeRoster } from '../../../helpers/small-world.js';

const settings = {
  jobs: jobsSettingsSchema.parse({}),
  scheduler: schedulerSettingsSchema.parse({}),
};
const mail = mailSettingsSchema.parse({ transport: 'smtp', from: 'night@bank.example', to: ['ops@bank.example'] });
const at = (app: TestAppContext, hours: number): AppContext => ({ ...app, clock: shiftedClock(hours * hourMs) });
const describe = ({ findings, isAlarm }: Watch) => [
  isAlarm,
  ...findings.map(({ kind, isKnown }) => (isKnown ? `(${kind})` : kind)),
];

const alarmsOf = (server: MailServer): readonly string[] =>
  server.received
    .map(({ subject }) => subject.replace(/ - .*$/, ''))
    .filter((subject) => /ALARM|RECOVERED/.test(subject));

describeOnPostgres('the watchdog', (open) => {
  const begin = openSmallSites(open);
  const startSite = async () => {
    const server = await serveMail();
    const site = await begin();
    const app = { ...(await site.work({ settings: { mail } })), secret: () => server.url };
    return { ...site, server, app };
  };

  it('reports an incident once, however many watchdogs look at the same time, and its end once', async () => {
    const { app, run, server } = await startSite();
    // A new installation has one cadence of time for its first run.
    const fresh = await Promise.all([-30, -30, -5].map((hours) => watch(at(app, hours), settings)));
    for (const found of fresh) expect([describe(found), found.unscreened]).toEqual([[false], ['people']]);
    const looks = await Promise.all([1, 2, 3].map(() => watch(app, settings)));
    for (const found of looks) expect(describe(found)).toEqual([true, 'did_not_run']);
    expect(describe(await watch(at(app, 1), settings))).toEqual([true, 'did_not_run']);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: did not run']);

    await run(app);
    const over = await watch(app, settings);
    expect(describe(over)).toEqual([false]);
    expect(over.over.map(({ kind }) => kind)).toEqual(['did_not_run']);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: did not run', '[RECOVERED] people: did not run']);

    // A day without a run: it did not run, and the screenings are too old.
    expect(describe(await watch(at(app, 24), settings))).toEqual([false]);
    expect(describe(await watch(at(app, 27), settings))).toEqual([true, 'did_not_run', 'screening_overdue']);
  });

  it('reports customers who fail in every run when that is new and when it lasts too long, and those who fail once after onboarding', async () => {
    const { app, run, server, sandbox, database } = await startSite();
    await run(app);
    const fail = (...names: string[]): void =>
      sandbox.setFaults(names.map((name) => ({ name, status: 400, times: 9 })));
    fail('Tamsin Oyelaran');
    await run(at(app, 24));
    expect(describe(await watch(at(app, 24), settings))).toEqual([true, 'customers_failing']);
    // No other run has ended since.
    expect(describe(await watch(at(app, 30), settings))).toEqual([true, 'customers_failing']);
    // The same while that run is resumed.
    const last = 'where run_id = (select max(run_id) from run)';
    await database.execute(`update run set state = 'running' ${last}`);
    expect(describe(await watch(at(app, 31), settings))).toEqual([true, 'customers_failing']);
    await database.execute(`update run set state = 'incomplete' ${last}`);

    await run(at(app, 48));
    const known = await watch(at(app, 48), settings);
    expect(describe(known)).toEqual([false, '(customers_failing)']);
    // A week after the first one's last valid answer.
    fail('Tamsin Oyelaran', 'Aroha Ngata');
    await run(at(app, 7 * 24));
    const further = await watch(at(app, 7 * 24 + 1), settings);
    expect(describe(further)).toEqual([true, 'customers_failing']);
    expect(further.findings[0]?.reason).toContain(
      '2 customers cannot be screened though the service answers others; 1 of them newly; 1 without a valid answer for longer',
    );
    sandbox.setFaults([]);
    await run(at(app, 8 * 24));
    expect(describe(await watch(at(app, 8 * 24), settings))).toEqual([false]);
    const reported = '[ALARM] people: customers cannot be screened';
    expect(alarmsOf(server)).toEqual([reported, reported, '[RECOVERED] people: customers cannot be screened']);

    fail('Ines Abelard');
    const grown = toFileRoster('people', await writeRoster([...people, 'Ines Abelard']));
    const onboarded = await run(at(app, 8 * 24 + 1), { kind: 'onboard', selection: 'new', roster: grown });
    const [first] = (await watch(at(app, 8 * 24 + 1), settings)).findings;
    expect(first).toMatchObject({ kind: 'customers_failing', isNews: true });
    expect(first?.actions[0]).toContain(onboarded.runId);
    const [again] = (await watch(at(app, 8 * 24 + 20), settings)).findings;
    expect(again).toMatchObject({ kind: 'customers_failing', isNews: false, mark: first?.mark });
  });

  it('reports runs and screenings that a fast clock has dated in the future, until the next run has screened them again', async () => {
    const { app, run, server, database } = await startSite();
    const ofReport = { kind: 'mail_failure', destination: 'mlro@bank.example', runId: null } as const;
    const times = { queuedAt: new Date(), giveUpAt: new Date(Date.now() + hourMs) };
    await run(at(app, 30 * 24));
    await queueOutbox(database, [
      { organisationId: 1, ...ofReport, dedupKey: 'failure/1', content: {}, messageId: '<1@bank.example>', ...times },
    ]);
    const found = await watch(app, settings);
    expect(describe(found)).toEqual([true, 'screening_overdue', 'clock_ahead']);
    const [overdue, ahead] = found.findings;
    expect(overdue?.reason).toMatch(/^the screening of \d customers is dated in the future$/);
    expect(ahead?.reason).toMatch(/rescreen-1 began at .* in the future; \d customers screened in the future/);
    // The next run screens all of them although each has an answer dated later.
    await run(app);
    expect(describe(await watch(app, settings))).toEqual([false]);
    expect(alarmsOf(server)).toContain('[ALARM] people: a clock was ahead');
    expect(alarmsOf(server)).toContain('[RECOVERED] people: a clock was ahead');
    // The watchdog leaves mail that is no alarm to the host that makes the reports.
    const [other] = (await readOutbox(database, 'default', { kinds: ['mail_failure'], all: true })).filter(
      ({ dedupKey }) => dedupKey === 'failure/1',
    );
    expect(other).toMatchObject({ state: 'queued', attempts: [] });
  });

  it('reports a failed control search, a stuck run and a stopped one, and keeps mail that cannot be sent yet', async () => {
    const { app, run, server, sandbox, database } = await startSite();
    server.isRefusing = true;
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    await run(app);
    expect(describe(await watch(app, settings))).toEqual([true, 'control_failed']);
    expect(alarmsOf(server)).toEqual([]);
    server.isRefusing = false;
    await database.execute(
      `update run set state = 'running', finished_at = null where run_id = (select max(run_id) from run)`,
    );
    await database.execute(
      `update lease set heartbeat_at = heartbeat_at - interval '11 minutes', expires_at = acquired_at`,
    );
    const left = await watch(at(app, 1), settings);
    expect(describe(left)).toEqual([true, 'control_failed', 'stuck']);
    expect(left.over).toEqual([]);
    expect(alarmsOf(server)).toEqual(['[ALARM] people: control searches failed', expect.stringContaining('is stuck')]);
    await database.execute(
      `update run set state = 'stopped', state_reasons = '{the key was refused}', halted_by = 'account'`,
    );
    const stopped = await watch(at(app, 2), settings);
    expect(stopped.findings.find(({ kind }) => kind === 'partial')?.reason).toContain(
      'ended stopped: the key was refused',
    );
    // A resumed run no longer states why it stopped, but it has not ended better either.
    await database.execute(`update run set state = 'running', state_reasons = '{}', halted_by = null`);
    const resumed = await watch(at(app, 3), settings);
    expect(describe(resumed)).toEqual([true, 'control_failed', 'partial', 'stuck']);
    expect(resumed.over).toEqual([]);
  });

  it('closes the incidents of a roster that no watchdog watches any more without mail, and starts anew with one that is back', async () => {
    const { app, server, roster } = await startSite();
    const watching = (hours: number, ...names: string[]) => {
      const rosters = names.map((name) => ({ ...roster, name }));
      return watch({ ...at(app, hours), settings: { ...app.settings, rosters } }, settings);
    };
    await watching(0, 'people', 'sweep');
    expect(describe(await watching(27, 'people', 'sweep'))).toEqual([true, 'did_not_run', 'did_not_run']);
    // Another watchdog may still watch it.
    expect(await watching(28, 'people')).toMatchObject({ over: [], dropped: [] });
    const later = await watching(52, 'people');
    expect(later.dropped.map(({ subject }) => subject)).toEqual(['sweep']);
    expect(describe(await watching(53, 'people', 'sweep'))).toEqual([true, 'did_not_run']);
    expect(describe(await watching(80, 'people', 'sweep'))).toEqual([true, 'did_not_run', 'did_not_run']);
    expect(alarmsOf(server)[0]).toBe('[ALARM] people, sweep: did not run');
  });

  /** Plans three jobs as a scheduler does, due 10, 6 and 3 hours ago. */
  const planThree = async (app: TestAppContext) => {
    const hour = new Date().getUTCHours();
    const planned = [10, 6, 3].map((ago, index) => ({
      job: ['rescreen', 'report', 'copy'][index] ?? '',
      schedule: { cron: `0 ${(hour - ago + 24) % 24} * * *`, timezone: 'UTC' },
    }));
    await watch(at(app, -12), settings);
    await keepSchedules(at(app, -12), planned, { areAll: true });
  };

  it('mails one alarm for a scheduler that has stopped, with the installation and the host, and one recovery', async () => {
    const { app, run, server, database } = await startSite();
    await planThree(app);
    expect(describe(await watch(app, settings))).toEqual([true, 'did_not_run', 'did_not_run', 'did_not_run']);
    expect(alarmsOf(server)).toEqual([
      expect.stringMatching(/^\[ALARM\] people, (copy, report|report, copy): did not run$/),
    ]);
    expect(server.received[0]?.text).toContain(app.settings.organisation);
    expect(server.received[0]?.text).toContain(hostname());

    await run(app);
    for (const job of ['report', 'copy']) {
      const now = new Date();
      const due = { dueSlot: 'x', localDate: now.toISOString().slice(0, 10), dueAt: now };
      const beginning = { job, ...due, owner: 'host-a:1:x', now, isLate: true, again: [], timeoutMs: hourMs };
      const begun = await beginJobRun(database, 1, beginning);
      await endJobRun(database, begun?.jobRunId ?? 0, { exitCode: 0, because: null, runIds: [] }, now);
    }
    expect(describe(await watch(app, settings))).toEqual([false]);
    expect(alarmsOf(server)).toHaveLength(2);
    expect(alarmsOf(server)[1]).toMatch(/^\[RECOVERED\] .*people.*: did not run$/);
  });

  it('shows who has paused the schedule, expects no run that is due within the pause, and allows time after it', async () => {
    const { app, server, database } = await startSite();
    await planThree(app);
    const pause = { pausedAt: at(app, -11.5).clock.now(), until: at(app, 24).clock.now() };
    await pauseSchedule(database, 1, { ...pause, by: 'ann@host-a', reason: 'the database moves' });
    const paused = await watch(app, settings);
    expect(describe(paused)).toEqual([false]);
    expect(presentWatch(paused).text).toContain(
      `the schedule is paused until ${formatTime(pause.until)} by ann@host-a (the database moves)`,
    );
    await resumeSchedule(database, 1, 'ann@host-a', new Date());
    const resumed = await watch(at(app, 1.5), settings);
    expect(describe(resumed)).toEqual([false]);
    expect(presentWatch(resumed).text).not.toContain('paused');
    expect(describe(await watch(at(app, 2.5), settings))[0]).toBe(true);
    expect(alarmsOf(server)).toHaveLength(1);
  });

  it('follows the records of schedulers: a date begun early, a running job, a new plan', async () => {
    const { app, run, database } = await startSite();
    const planned = { ...settings, jobs: jobsSettingsSchema.parse({ rescreen: '0 2 * * *' }) };
    const day = (await watch(app, planned)).at;
    const toTime = (days: number, time: string): number => {
      const date = new Date(day.getTime() + days * 24 * hourMs).toISOString().slice(0, 10);
      return (Date.parse(`${date}T${time}Z`) - Date.now()) / hourMs;
    };
    await run(at(app, toTime(1, '02:00')));
    expect(describe(await watch(at(app, toTime(1, '04:30')), planned))).toEqual([false]);
    // With a new time of day, today's run is not expected at it.
    const moved = { ...settings, jobs: jobsSettingsSchema.parse({ rescreen: '0 5 * * *' }) };
    expect(describe(await watch(at(app, toTime(1, '08:00')), moved))).toEqual([false]);
    // Late, but another job is running.
    await database.execute(
      `insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
       values ('job/' || (select name from organisation) || '/sweep', 1, 'host:1:abcd', now(), now(), now() + interval '1 hour')`,
    );
    const late = async (time: string) =>
      (await watch(at(app, toTime(2, time)), moved)).findings.map(({ kind }) => kind);
    expect(await late('07:30')).not.toContain('did_not_run');
    expect(await late('13:30')).toContain('did_not_run');
    await database.execute(`update lease set expires_at = acquired_at where lease_key like 'job/%'`);
    expect(await late('07:30')).toContain('did_not_run');
    // Begun early for that date.
    await database.execute(
      sql`insert into job_run (organisation_id, job, occasion, local_date, due_at, state, attempts, begun_at, ended_at, exit_code)
       select organisation_id, 'rescreen', ${new Date(day.getTime() + 2 * 24 * hourMs).toISOString().slice(0, 10)}::text, ${new Date(day.getTime() + 2 * 24 * hourMs).toISOString().slice(0, 10)}::date, ${new Date(Date.now() + toTime(1, '02:00') * hourMs - 1)}::timestamptz, 'finished', 1, ${new Date(Date.now() + toTime(1, '02:00') * hourMs - 1)}::timestamptz, ${new Date(Date.now() + toTime(1, '02:00') * hourMs - 1)}::timestamptz, 0 from organisation`,
    );
    expect(await late('07:30')).not.toContain('did_not_run');
  });
});
