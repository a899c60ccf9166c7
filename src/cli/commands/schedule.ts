import { allJobs } from '../../../jobs/all-jobs.js';
import { usageError } from '../../errors.js';
import { readPause } from '../../runs/scheduled.js';
import { defineCommand, defineDatabaseCommand, definePreparedCommand, flag, text, withDefault } from '../command.js';
import type { Invocation, Outcome } from '../invocation.js';
import { meanings, shared } from '../options.js';
import {
  cancelJob,
  pauseJobs,
  planSchedule,
  presentSchedule,
  resumeJobs,
  showSchedule,
} from '../schedule/operate-schedule.js';
import { runForNow, runIfDue } from '../schedule/run-scheduled.js';
import { loadInvocationConfig, openLogger, withAppContext } from '../session.js';

const show = definePreparedCommand({
  usage: 'show',
  isForEach: true,
  description: 'the next start of each job, and the results of its last starts',
  examples: ['schedule show', 'schedule show --json'],
  prepare: ({ config }) => planSchedule(config),
  run: async (app, { prepared: plan, config }) => {
    const hasRosters = config.settings.rosters.length > 0;
    return presentSchedule(await showSchedule(app, plan), hasRosters, await readPause(app));
  },
});

const run = defineCommand({
  usage: 'run <job>',
  description: 'run one job now, once for its date on all hosts; with --if-due for cron',
  options: { ifDue: flag('only when it is due; exit code 0 when there is nothing to do') },
  examples: ['schedule run rescreen', 'schedule run rescreen --if-due --json'],
  // With --if-due the exit code reports failures: a mail every few minutes would be too many.
  mailedAs: ({ argument: name, options }) => (options.ifDue ? undefined : name),
  run: ({ argument: name, options: { ifDue = false }, invocation }) => runScheduled(invocation, name, ifDue),
});

/** It frees the embedded database within seconds, so other processes wait for it. */
const briefJob = 'mail';

async function runScheduled(invocation: Invocation, name: string, ifDue: boolean): Promise<Outcome> {
  const config = loadInvocationConfig(invocation);
  const plan = planSchedule(config);
  const job = allJobs.find((one) => one.name === name);
  if (!job) {
    const known = allJobs.map((one) => one.name).join(', ');
    throw usageError('argument job', `no job is named ${name}; there are ${known}`);
  }
  const logger = openLogger(invocation, config);
  return withAppContext(invocation, { command: `schedule run ${name}`, isLasting: name !== briefJob }, (app) =>
    (ifDue ? runIfDue : runForNow)({ app, plan, job, logger, signal: invocation.signal }),
  );
}

const cancel = defineDatabaseCommand({
  usage: 'cancel <job>',
  description: 'end a running job on any host',
  examples: ['schedule cancel sweep', 'schedule cancel rescreen --json'],
  run: (app, { argument: job }) => cancelJob(app, job),
});

const pause = defineDatabaseCommand({
  usage: 'pause',
  description:
    'start no job for a span such as 12h, or until an instant: at most 7 days, on any host; running jobs continue. --until now ends the pause',
  options: { until: withDefault(text('<when>', meanings.until), '24h'), reason: shared.reason },
  examples: ['schedule pause --until 12h --reason "database moves"', 'schedule pause --until now'],
  run: (app, { options: { until, reason = null } }) =>
    until === 'now' ? resumeJobs(app) : pauseJobs(app, { until, reason }),
});

const watchdog = defineCommand({
  usage: 'watchdog',
  description: 'check that the nights ran and are complete; exit code 3 and mail if not; run it on a second host',
  examples: ['schedule watchdog', 'schedule watchdog --json'],
  run: async ({ invocation }) => (await import('../watchdog.js')).look(invocation),
});

export const command = defineCommand({
  usage: 'schedule',
  description: 'run rescreen, sweep, report and the other jobs on schedule, until a signal',
  options: { metrics: shared.metrics },
  examples: ['schedule --metrics :9464', 'schedule run rescreen'],
  commands: [run, show, cancel, pause, watchdog],
  run: async ({ options: { metrics = null }, invocation }) =>
    (await import('../schedule/keep-schedule.js')).keepSchedule(invocation, metrics),
});
