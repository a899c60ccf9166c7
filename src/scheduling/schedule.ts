import type { AppContext, Job, JobSchedule } from '../runs/app-context.js';
import { readScheduleHistory } from '../runs/scheduled.js';
import type { JobDue, JobRun } from '../store/operations/jobs.js';
import { type DueTimes, toDueTimes } from './due-times.js';
import type { JobsSettings } from './settings.js';

export interface PlannedJob {
  job: Job;
  schedule: JobSchedule;
}

/** The jobs with a schedule: the configured cron expression, otherwise the job's own default. */
export const planJobs = (jobs: readonly Job[], settings: JobsSettings, timezone: string): PlannedJob[] =>
  jobs.flatMap((job) => {
    const cron = settings[job.name] ?? job.defaultCron;
    return cron === 'off' ? [] : [{ job, schedule: { cron, timezone } }];
  });

export interface SchedulePlan {
  planned: readonly PlannedJob[];
  timeoutMs: number;
}

/** The status of each planned job, in the order of the plan; a job without a stored schedule counts from now on. */
export async function readJobStatuses(
  app: AppContext,
  planned: readonly PlannedJob[],
): Promise<ReadonlyMap<string, JobStatus>> {
  const { schedules, runs } = await readScheduleHistory(app);
  const statuses = planned.map(
    ({ job: { name, after = [], waitAtMostMs: waitMs = waitAtMostMs }, schedule }): JobStatus => {
      const plannedSince = schedules.get(name)?.plannedSince ?? app.clock.now();
      return { job: name, times: toDueTimes(schedule), plannedSince, after, waitMs, known: runs.get(name) ?? [] };
    },
  );
  return new Map(statuses.map((status) => [status.job, status]));
}

const hourMs = 3_600_000;
/** How late a missed run still starts. */
const catchUpMs = 7 * 24 * hourMs;
/** How long a job waits for the jobs of the same date that must end before it. */
export const waitAtMostMs = 6 * hourMs;
/** A start is late when it comes this long after the earliest possible one. */
const lateMs = 5 * 60_000;
/** A run that began this often and never ended is given up. */
export const mostAttempts = 24;

export interface JobStatus {
  job: string;
  times: DueTimes;
  /** Nothing is due up to this moment. */
  plannedSince: Date;
  /** The jobs of the same date that must end before it. */
  after: readonly string[];
  /** How long it waits for them; six hours by default. */
  waitMs?: number;
  /** Its last runs, newest first. */
  known: readonly JobRun[];
}

/** What to do about a job now, with the runs that were missed for good, oldest first, and the run that is given up. */
interface DueDecision {
  decision:
    | { kind: 'none' }
    | { kind: 'begin'; due: JobDue; isLate: boolean }
    | { kind: 'wait'; due: JobDue; for: string; until: Date };
  missed: readonly JobDue[];
  givenUp: JobRun | null;
}

const isSettled = ({ state }: JobRun): boolean => state === 'finished' || state === 'missed';

/**
 * Decides which run of a job is due: of all times since the last finished or missed one only the newest, once, within a week. The others
 * were missed. A run that was begun and left is continued while nothing newer is due. `freeSince`: when the deciding scheduler last ended a job,
 * before which no other could start; null when it has not run any.
 */
export function decideDue(
  status: JobStatus,
  others: ReadonlyMap<string, JobStatus>,
  { now, freeSince }: { now: Date; freeSince: Date | null },
): DueDecision {
  const left = findLeft(status);
  const givenUp = left !== null && left.attempts >= mostAttempts ? left : null;
  const pending = listPending(status, now);
  const newest = pending.at(-1) ?? null;
  const passed = pending.slice(0, -1);
  if (left && !givenUp && (newest === null || newest.dueAt <= left.dueAt)) {
    return { decision: { kind: 'begin', due: left, isLate: left.isLate }, missed: [], givenUp };
  }
  if (newest === null) return { decision: { kind: 'none' }, missed: [], givenUp };
  const before = status.after.flatMap((name) => others.get(name) ?? []);
  const until = new Date(newest.dueAt.getTime() + (status.waitMs ?? waitAtMostMs));
  const unended = before.find((other) => isAwaited(other, newest, until));
  if (unended && now < until) {
    return { decision: { kind: 'wait', due: newest, for: unended.job, until }, missed: passed, givenUp };
  }
  const ended = before.flatMap((other) => findRun(other, newest.localDate)?.endedAt ?? []);
  const readyAt = latestOf([newest.dueAt, ...pastOnly(freeSince, now), ...ended]);
  const delayMs = now.getTime() - readyAt.getTime();
  if (delayMs > catchUpMs) return { decision: { kind: 'none' }, missed: pending, givenUp };
  return { decision: { kind: 'begin', due: newest, isLate: delayMs > lateMs }, missed: passed, givenUp };
}

const latestOf = (moments: readonly Date[]): Date => new Date(Math.max(...moments.map((moment) => moment.getTime())));

const pastOnly = (moment: Date | null, now: Date): readonly Date[] => (moment === null || moment > now ? [] : [moment]);

/** The next due time of a job after `now` that is not settled; null when none comes. */
export function findNextStart({ times, known }: JobStatus, now: Date): JobDue | null {
  const settled = new Set(known.filter(isSettled).map(({ dueSlot }) => dueSlot));
  let due = times.next(now);
  while (due !== null && settled.has(due.dueSlot)) due = times.next(due.dueAt);
  return due;
}

function findLeft({ known }: JobStatus): JobRun | null {
  const [newest] = known;
  return newest && !isSettled(newest) ? newest : null;
}

function listPending({ times, plannedSince, known }: JobStatus, now: Date): readonly JobDue[] {
  // The newest run accounts for everything older. A run that began early accounts for nothing after its beginning.
  const floors = [plannedSince, ...known.map(({ dueAt, begunAt }) => (begunAt && begunAt < dueAt ? begunAt : dueAt))];
  // Of a job that runs every hour or more often, nothing older is caught up.
  if (!times.isByDate) floors.push(new Date(now.getTime() - hourMs));
  const floor = new Date(Math.max(...floors.map((moment) => moment.getTime())));
  const begun = new Set(known.map(({ dueSlot }) => dueSlot));
  const pending = times.between(floor, now).filter(({ dueSlot }) => !begun.has(dueSlot));
  return times.isByDate ? pending : pending.slice(-1);
}

const findRun = ({ times, known }: JobStatus, date: string): JobRun | undefined => {
  const due = times.lastOn(date);
  return known.find(({ dueSlot }) => dueSlot === due?.dueSlot);
};

/** Whether a job that comes before on the same date has not ended and may still start before `until`. */
function isAwaited(other: JobStatus, { localDate }: JobDue, until: Date): boolean {
  const due = other.times.isByDate ? other.times.lastOn(localDate) : null;
  if (due === null) return false;
  const run = findRun(other, localDate);
  if (run ? isSettled(run) : due.dueAt <= other.plannedSince) return false;
  return due.dueAt < until;
}
