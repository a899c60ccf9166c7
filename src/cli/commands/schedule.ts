import type { Command } from 'commander';
import { allJobs } from '../../../jobs/all-jobs.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import type { Job } from '../../runs/job.js';
import type { RunSummary } from '../../runs/session/run-summary.js';
import type { Workplace } from '../../runs/workplace.js';
import { findNextRun } from '../../scheduling/next-run.js';
import { type PlannedJob, planJobs } from '../../scheduling/plan-jobs.js';
import { startScheduler } from '../../scheduling/scheduler.js';
import { startBeside } from '../beside-scheduler.js';
import { examples } from '../examples.js';
import { formatTable } from '../format-table.js';
import type { Act, Invocation } from '../invocation.js';
import { type MetricsAddress, parseMetricsAddress } from '../measuring/metrics-server.js';
import { loadInvocationConfig, openLogger, withWorkplace } from '../session.js';
import { waitForAbort } from '../wait-for-abort.js';
import { withFailureMail } from '../with-failure-mail.js';
import { findMissingMail, findMissingService } from '../workplace.js';

function planWork(config: Config): PlannedJob[] {
  const jobs = config.settings.mail ? allJobs : allJobs.filter(({ name }) => name !== 'mail');
  const planned = planJobs(jobs, config.settings.jobs);
  const problems = [...findMissingService(config), ...findMissingMail(config)];
  if (planned.length === 0) problems.push({ where: 'jobs', path: 'jobs', message: 'every job is switched off' });
  if (problems.length > 0) throw new ConfigError(problems);
  return planned;
}

function describePlan(planned: readonly PlannedJob[]) {
  return planned.map(({ job, schedule }) => ({
    job: job.name,
    ...schedule,
    next: findNextRun(schedule)?.toISOString() ?? null,
  }));
}

interface ScheduleOptions {
  metrics?: MetricsAddress;
}

async function keepSchedule(asked: Invocation, options: ScheduleOptions): Promise<null> {
  const { terminal, signal } = asked;
  const config = loadInvocationConfig(asked);
  const planned = planWork(config);
  const plan = describePlan(planned);
  const logger = openLogger(asked, config);
  const beside = await startBeside(asked, config, { logger, address: options.metrics ?? null });
  const { invocation } = beside;
  const scheduler = startScheduler(
    planned,
    async ({ job }) => {
      // Opened for each job, so that between jobs other commands can use the embedded database.
      const run = (noteOpen: () => void): Promise<RunSummary[]> =>
        withWorkplace(invocation, {
          command: `schedule: ${job.name}`,
          prepare: () => {},
          work: (workplace) => {
            noteOpen();
            return runTold(workplace, job, signal);
          },
        });
      const summaries = job.name === 'mail' ? await run(() => {}) : await withFailureMail(invocation, job.name, run);
      for (const { runId, kind, state, counts } of summaries)
        logger.info({ job: job.name, runId, kind, state, counts }, 'run');
    },
    {
      started: (job) => logger.info({ job }, 'job_started'),
      finished: (job) => {
        beside.noteJob(job, 'finished');
        logger.info({ job }, 'job_finished');
      },
      failed: (job, err) => {
        beside.noteJob(job, 'failed');
        logger.error({ job, err }, 'job_failed');
      },
      skipped: (job) => logger.warn({ job }, 'job_skipped: its last start still waits for its turn'),
      complained: (reason) => logger.warn({ reason }, 'scheduler'),
    },
  );
  if (asked.options.json) {
    await terminal.writeData(`${JSON.stringify({ schema: 'nightscreen/schedule/1', jobs: plan })}\n`);
  } else {
    const rows = plan.map(({ job, cron, timezone, next }) => [job, cron, timezone, `next ${next ?? 'never'}`]);
    terminal.writeMessage(formatTable(rows));
  }
  await waitForAbort(signal);
  await scheduler.stop();
  await beside.stop();
  return null;
}

/** Runs a job, and mails that it failed; `rescreen` tells of each roster by itself, and `mail` could only fail again. */
async function runTold(workplace: Workplace, job: Job, signal: AbortSignal): Promise<RunSummary[]> {
  try {
    return await job.run(workplace, signal);
  } catch (error) {
    if (job.name !== 'rescreen' && job.name !== 'mail') {
      const { tellFailure } = await import('../../runs/mailing/queue-failure.js');
      await tellFailure(workplace, { task: job.name, roster: null, error });
    }
    throw error;
  }
}

/** Adds `schedule`. */
export function addScheduleCommand(program: Command, act: Act): void {
  program
    .command('schedule')
    .description('run rescreen, sweep and report by the clock, until a signal')
    .option('--metrics <address>', 'serve /metrics, /healthz and /readyz, as in :9464', parseMetricsAddress)
    .addHelpText('after', examples(['schedule', 'schedule --metrics :9464', 'schedule --config /etc/nightscreen.yaml']))
    .action((options: ScheduleOptions) => act((invocation) => keepSchedule(invocation, options)));
}
