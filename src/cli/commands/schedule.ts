import type { Command } from 'commander';
import { ConfigError, flagError } from '../../errors.js';
import type { AppContext } from '../../runs/app-context.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples, shared } from '../options.js';
import type { MetricsAddress } from '../schedule/health.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../session.js';

function addShow(schedule: Command, act: Act): void {
  schedule
    .command('show')
    .description('the next start of each job, and the results of its last starts')
    .addHelpText('after', examples(['schedule show', 'schedule show --json']))
    .action(() =>
      act(async (invocation) => {
        const { planSchedule, presentSchedule, showSchedule } = await import('../schedule/plan-schedule.js');
        const { readPause } = await import('../../runs/scheduled.js');
        const config = loadInvocationConfig(invocation);
        const plan = planSchedule(config);
        const hasRosters = config.settings.rosters.length > 0;
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) =>
          presentSchedule(await showSchedule(app, plan), hasRosters, await readPause(app)),
        );
      }),
    );
}

function addRun(schedule: Command, act: Act): void {
  schedule
    .command('run <job>')
    .description('run one job now, once for its date on all hosts; with --if-due for cron')
    .option('--if-due', 'only when it is due; exit code 0 when there is nothing to do')
    .addHelpText('after', examples(['schedule run rescreen', 'schedule run rescreen --if-due --json']))
    .action((name: string, { ifDue = false }: { ifDue?: boolean }) =>
      // With --if-due the exit code reports failures: a mail every few minutes would be too many.
      act((invocation) => runScheduled(invocation, name, ifDue), ifDue ? undefined : name),
    );
}

/** It frees the embedded database within seconds, so other processes wait for it. */
const briefJob = 'mail';

async function runScheduled(invocation: Invocation, name: string, ifDue: boolean): Promise<Outcome> {
  const { allJobs } = await import('../../../jobs/all-jobs.js');
  const { planSchedule } = await import('../schedule/plan-schedule.js');
  const { runForNow, runIfDue } = await import('../schedule/run-scheduled.js');
  const config = loadInvocationConfig(invocation);
  const plan = planSchedule(config);
  const job = allJobs.find((one) => one.name === name);
  if (!job) {
    const known = allJobs.map((one) => one.name).join(', ');
    throw new ConfigError([
      { where: 'argument job', path: '', message: `no job is named ${name}; there are ${known}` },
    ]);
  }
  const logger = openLogger(invocation, config);
  return withAppContext(invocation, { command: `schedule run ${name}`, isLasting: name !== briefJob }, (app) =>
    (ifDue ? runIfDue : runForNow)(app, plan, job, logger, invocation.signal),
  );
}

function addControl(schedule: Command, act: Act): void {
  schedule
    .command('cancel <job>')
    .description('end a running job on any host')
    .addHelpText('after', examples(['schedule cancel sweep', 'schedule cancel rescreen --json']))
    .action((job: string) =>
      control(act, async (app) => (await import('../schedule/plan-schedule.js')).cancelJob(app, job)),
    );
  schedule
    .command('pause')
    .description(
      'start no job for a span such as 12h, or until an instant: at most 7 days, on any host; running jobs continue',
    )
    .addOption(shared('until', '<when>').default('24h'))
    .addOption(shared('reason', '<text>'))
    .addHelpText('after', examples(['schedule pause', 'schedule pause --until 12h --reason "database moves"']))
    .action(({ until, reason = null }: { until: string; reason?: string | null }) =>
      control(act, async (app) => (await import('../schedule/plan-schedule.js')).pauseJobs(app, { until, reason })),
    );
  schedule
    .command('resume')
    .description('end the pause of the schedule')
    .addHelpText('after', examples(['schedule resume', 'schedule resume --json']))
    .action(() => control(act, async (app) => (await import('../schedule/plan-schedule.js')).resumeJobs(app)));
}

const control = (act: Act, work: (app: AppContext) => Promise<Outcome>): void =>
  act((invocation) => withAppContext(invocation, { needsDatabase: true }, work));

/** Reads `:9464`, `127.0.0.1:9464` or `[::1]:9464`; throws ConfigError. Port 0 takes a free one. */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, ipv6, name, port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535) {
    throw flagError('--metrics', `must be an address such as :9464 or 127.0.0.1:9464, not ${text}`);
  }
  return { host: ipv6 ?? (name === '' ? undefined : name), port: Number(port) };
}

function addWatchdog(schedule: Command, act: Act): void {
  schedule
    .command('watchdog')
    .description('check that the nights ran and are complete; exit code 3 and mail if not; run it on a second host')
    .addHelpText('after', examples(['schedule watchdog', 'schedule watchdog --json']))
    .action(() =>
      act(async (invocation) => {
        const { look } = await import('../watchdog.js');
        return look(invocation);
      }),
    );
}

/** Adds `schedule` and its commands. */
export function addScheduleCommand(program: Command, act: Act): void {
  const schedule = program
    .command('schedule')
    .summary('run the jobs on schedule until a signal; the watchdog')
    .description('run rescreen, sweep, report and the other jobs on schedule, until a signal')
    .option('--metrics <address>', 'serve /metrics, /healthz and /readyz, as in :9464', parseMetricsAddress)
    .addHelpText('after', examples(['schedule --metrics :9464', 'schedule run rescreen']))
    .action(({ metrics }: { metrics?: MetricsAddress }) =>
      act(async (invocation) => {
        const { keepSchedule } = await import('../schedule/keep-schedule.js');
        return keepSchedule(invocation, metrics ?? null);
      }),
    );
  addRun(schedule, act);
  addShow(schedule, act);
  addControl(schedule, act);
  addWatchdog(schedule, act);
}
