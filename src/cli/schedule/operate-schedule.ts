import { allJobs } from '../../../jobs/all-jobs.js';
import type { Config } from '../../config/load-config.js';
import { usageError } from '../../errors.js';
import { formatTime } from '../../reports/text.js';
import { durationSchema, toDurationMs } from '../../roster/duration.js';
import type { AppContext } from '../../runs/app-context.js';
import { readScheduleHistory, toJobLeaseKey } from '../../runs/scheduled.js';
import { openOrganisation } from '../../runs/session.js';
import { findNextStart, planJobs, readJobStatuses, type SchedulePlan } from '../../scheduling/schedule.js';
import { readHeldLeases } from '../../store/database/leases.js';
import {
  cancelJobRun,
  findSchedulePause,
  type JobRun,
  pauseSchedule,
  resumeSchedule,
  type SchedulePause,
} from '../../store/operations/jobs.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { findCurrentUser } from '../process.js';
import { formatTable, toMinute } from '../text.js';

export function planSchedule({ settings }: Config): SchedulePlan {
  // Without mail and webhooks the outbox stays empty.
  const hasOutbox = settings.mail !== undefined || settings.webhooks.length > 0;
  const jobs = allJobs.filter(({ name }) => name !== 'mail' || hasOutbox);
  const planned = planJobs(jobs, settings.jobs, settings.timezone);
  return { planned, timeoutMs: toDurationMs(settings.scheduler.timeout) };
}

/** One job as `schedule show` prints it and the document `nightscreen/schedule-state/1` holds it. */
type ShownJob = Awaited<ReturnType<typeof showSchedule>>[number];

const startsShown = 10;

/** Every job that is planned or has run, with its last starts, newest first. */
export async function showSchedule(app: AppContext, plan: SchedulePlan) {
  const { database, clock, settings } = app;
  const { schedules, runs } = await readScheduleHistory(app);
  const statuses = await readJobStatuses(app, plan.planned);
  const heldLeases = await readHeldLeases(database, settings.organisation);
  const heldLeaseKeys = new Set(heldLeases.filter(({ expiresInMs }) => expiresInMs > 0).map(({ key }) => key));
  const toShown = ({ jobRunId: _, job, state, dueSlot, ...run }: JobRun) => {
    // A process that runs a job holds the job's lease.
    const isAbandoned = state === 'running' && !heldLeaseKeys.has(toJobLeaseKey(settings.organisation, job));
    return { occasion: dueSlot, ...run, state: isAbandoned ? ('left' as const) : state };
  };
  const names = [...new Set([...statuses.keys(), ...runs.keys()])];
  return names.map((job) => {
    const status = statuses.get(job);
    return {
      job,
      // Null: it is not planned.
      schedule: plan.planned.find((one) => one.job.name === job)?.schedule ?? null,
      // Null: the scheduler never stored it, so earlier due times are not missed.
      plannedSince: schedules.get(job)?.plannedSince ?? null,
      next: (status && findNextStart(status, clock.now())?.dueAt) ?? null,
      runs: (runs.get(job) ?? []).slice(0, startsShown).map(toShown),
    };
  });
}

const toMinuteOrDash = (moment: Date | null): string => (moment === null ? '-' : toMinute(moment));

const endings: Readonly<Record<number, string>> = {
  0: 'complete',
  1: 'failed (1)',
  2: 'refused (2)',
  3: 'finished with problems (3)',
  4: 'stopped early (4)',
};

/** The end of a finished job; the database stores it with its exit code only, and another one would not read as complete. */
export const describeEnding = (exitCode: number | null): string =>
  exitCode === null ? 'unknown' : (endings[exitCode] ?? `exit code ${exitCode}`);

function describeOutcome({ state, exitCode, isLate, attempts }: ShownJob['runs'][number]): string {
  const words = {
    running: 'running',
    left: 'its process died; it will be started again',
    interrupted: 'interrupted; it will be started again',
    missed: 'missed',
    finished: describeEnding(exitCode),
  }[state];
  return [words, ...(isLate ? ['late'] : []), ...(attempts > 1 ? [`${attempts} attempts`] : [])].join(', ');
}

function toRow({ job, schedule, next, runs }: ShownJob): string[] {
  const [last] = runs;
  const plan = schedule === null ? ['not planned', ''] : [schedule.cron, schedule.timezone];
  const start = [job, ...plan, toMinuteOrDash(next)];
  if (!last) return [...start, 'never', '-', '-', '-', '-'];
  return [
    ...start,
    last.localDate,
    describeOutcome(last),
    toMinuteOrDash(last.begunAt),
    toMinuteOrDash(last.endedAt),
    last.owner ?? '-',
  ];
}

/** Why the last start of a job is not complete, and which of its last starts were missed. */
function listRemarks({ job, runs }: ShownJob): string[] {
  const [last] = runs;
  const because = last?.because && last.state !== 'missed' ? [`${job} of ${last.localDate}: ${last.because}`] : [];
  const missed = runs.filter(({ state }) => state === 'missed').map(({ occasion }) => occasion);
  return [...because, ...(missed.length > 0 ? [`${job} missed: ${missed.join(', ')}`] : [])];
}

export function presentSchedule(jobs: readonly ShownJob[], hasRosters: boolean, pause: SchedulePause | null): Outcome {
  const head = ['job', 'cron', 'time zone', 'next (UTC)', 'last', 'outcome', 'begun (UTC)', 'ended (UTC)', 'by'];
  const remarks = [
    ...(pause === null ? [] : [describePause(pause)]),
    ...(jobs.some(({ schedule }) => schedule !== null) ? [] : ['every job is switched off']),
    ...(hasRosters ? [] : ['no roster is configured, so no customer is screened']),
    ...jobs.flatMap(listRemarks),
  ];
  return toOutcome(
    'nightscreen/schedule-state/1',
    { jobs, pause },
    [
      jobs.length === 0 ? '' : formatTable([head, ...jobs.map(toRow)]),
      ...(remarks.length > 0 ? [`\n${remarks.join('\n')}\n`] : []),
    ].join(''),
  );
}

const dayMs = 86_400_000;
/** A longer pause would hide that no customer is screened. */
const longestPauseMs = 7 * dayMs;

const say = (document: Record<string, unknown>, text: string): Outcome =>
  toOutcome('nightscreen/schedule-control/1', document, `${text}\n`);

/** Requests that the process of a job ends it; throws ConfigError when the job is not running. */
export async function cancelJob(app: AppContext, job: string): Promise<Outcome> {
  const { organisationId } = await openOrganisation(app);
  const by = findCurrentUser();
  const run = await cancelJobRun(app.database, organisationId, job, by);
  if (run === null) {
    throw usageError('argument job', `the job ${job} is not running; see nightscreen schedule show`);
  }
  const { owner, localDate: date } = run;
  return say(
    { action: 'cancel', job, date, owner, by },
    `${owner ?? 'its process'} ends ${job} of ${date} within seconds; check with: nightscreen schedule show`,
  );
}

/** Pauses the start of jobs for at most seven days; running jobs continue. The command calls `resumeJobs` for `--until now`. */
export async function pauseJobs(
  app: AppContext,
  { until, reason }: { until: string; reason: string | null },
): Promise<Outcome> {
  const now = app.clock.now();
  const end = durationSchema.safeParse(until).success ? new Date(now.getTime() + toDurationMs(until)) : new Date(until);
  const aheadMs = end.getTime() - now.getTime();
  if (!(aheadMs > 0 && aheadMs <= longestPauseMs)) {
    const message = 'must be a span or an instant within the next 7 days, such as 12h or 2027-01-31T06:00:00Z';
    throw usageError('option --until', message);
  }
  const { organisationId } = await openOrganisation(app);
  const pause = { pausedAt: now, until: end, by: findCurrentUser(), reason };
  await pauseSchedule(app.database, organisationId, pause);
  return say(
    { action: 'pause', ...pause },
    `${describePause(pause)}; running jobs continue. To end the pause: nightscreen schedule pause --until now`,
  );
}

/** Ends a pause (`schedule pause --until now`). */
export async function resumeJobs(app: AppContext): Promise<Outcome> {
  const { organisationId } = await openOrganisation(app);
  const now = app.clock.now();
  const pause = await findSchedulePause(app.database, organisationId, now);
  const by = findCurrentUser();
  await resumeSchedule(app.database, organisationId, by, now);
  const text = pause === null ? 'the schedule is not paused' : 'the schedule is resumed; jobs start within 15 seconds';
  return say({ action: 'resume', wasPaused: pause !== null, by }, text);
}

export const describePause = ({ until, by, reason }: SchedulePause): string =>
  `the schedule is paused until ${formatTime(until)} by ${by}${reason === null ? '' : ` (${reason})`}: no job starts`;
