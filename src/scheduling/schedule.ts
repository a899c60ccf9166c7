import { createHash } from 'node:crypto';
import type { AppContext, Job, JobSchedule } from '../runs/app-context.js';
import { readScheduleHistory } from '../runs/scheduled.js';
import type { JobDue, JobRun } from '../store/jobs.js';
import { type DueTimes, toDueTimes } from './due-times.js';
import { type JobsSettings, type SchedulerSettings, toSpanMs } from './settings.js';

/** A job with the schedule on which it starts. */
export interface PlannedJob {
  job: Job;
  schedule: JobSchedule;
  /** The longest time for one attempt. */
  timeoutMs: number;
}

/** The jobs with a schedule: the configured one, otherwise the job's own default. */
export function planJobs(jobs: readonly Job[], settings: JobsSettings): PlannedJob[] {
  return jobs.flatMap((job) => {
    const configured = settings[job.name];
    if (configured?.enabled === false) return [];
    const cron = configured?.cron ?? job.defaultSchedule?.cron;
    if (cron === undefined) return [];
    return [{ job, schedule: { cron, timezone: toTimezone(job, settings) }, timeoutMs: toTimeoutMs(job, settings) }];
  });
}

/** The time zone of a job's dates. */
export const toTimezone = (job: Job, settings: JobsSettings): string =>
  settings[job.name]?.timezone ?? job.defaultSchedule?.timezone ?? 'UTC';

const hourMs = 3_600_000;

/** The longest time for one attempt of a job, in milliseconds: configured, else the job's own, else an hour. */
export function toTimeoutMs(job: Job, settings: JobsSettings): number {
  const configured = settings[job.name]?.timeout;
  return configured === undefined ? (job.timeoutMs ?? hourMs) : toSpanMs(configured);
}

/** The inputs of a schedule. */
export interface SchedulePlan {
  planned: readonly PlannedJob[];
  settings: SchedulerSettings;
  /** Differs between installations, so that they do not all start at the same moment. */
  seed: string;
}

/** The rules for decisions at a moment, by the settings of the plan. */
export const toDecidingRules = (
  { settings: { catchUp, waitAtMost } }: SchedulePlan,
  moment: Pick<DecidingRules, 'now' | 'freeSince'>,
): DecidingRules => ({ ...moment, catchUpMs: toSpanMs(catchUp), waitAtMostMs: toSpanMs(waitAtMost) });

/** The status of each planned job, in the order of the plan; a job without a stored schedule counts from now on. */
export async function readJobStatuses(
  app: AppContext,
  { planned, settings, seed }: SchedulePlan,
): Promise<ReadonlyMap<string, JobStatus>> {
  const { schedules, runs } = await readScheduleHistory(app);
  const jitterMs = toSpanMs(settings.jitter);
  const statuses = planned.map(({ job, schedule }): JobStatus => {
    const times = toDueTimes(schedule);
    const spanMs = times.isByDate ? jitterMs : 0;
    return {
      job: job.name,
      times,
      plannedSince: schedules.get(job.name)?.plannedSince ?? app.clock.now(),
      after: job.after ?? [],
      toStart: ({ dueSlot, dueAt }) => new Date(dueAt.getTime() + toJitterMs(spanMs, seed, job.name, dueSlot)),
      known: runs.get(job.name) ?? [],
    };
  });
  return new Map(statuses.map((status) => [status.job, status]));
}

/** The delay of a job's start after its due time, below `jitterMs`: the same for the same words, on every host and after every restart. */
export function toJitterMs(jitterMs: number, ...words: readonly string[]): number {
  const digest = createHash('sha256').update(words.join('\n')).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * jitterMs);
}

/** A start is late when it comes this long after the earliest possible one. */
const lateMs = 5 * 60_000;
/** A run that began this often and never ended is given up. */
export const mostAttempts = 24;
const dayMs = 24 * hourMs;

/** A planned job and its status. */
export interface JobStatus {
  job: string;
  times: DueTimes;
  /** Nothing is due up to this moment. */
  plannedSince: Date;
  /** The jobs of the same date that must end before it. */
  after: readonly string[];
  /** When a due job starts: later by the jitter. */
  toStart(due: JobDue): Date;
  /** Its last runs, newest first. */
  known: readonly JobRun[];
}

/** The rules of a decision. */
export interface DecidingRules {
  now: Date;
  /** How late a missed run still starts; 0 for never. */
  catchUpMs: number;
  /** How long a job waits for the jobs that come before it. */
  waitAtMostMs: number;
  /** When the deciding scheduler last ended a job: before that, no other could start. Null: it has not run any. */
  freeSince: Date | null;
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
 * Decides which run of a job is due: of all times since the last finished or missed one only the newest, once, within `catchUpMs`. The others
 * were missed. A run that was begun and left is continued while nothing newer is due.
 */
export function decideDue(
  status: JobStatus,
  others: ReadonlyMap<string, JobStatus>,
  rules: DecidingRules,
): DueDecision {
  const left = findLeft(status);
  const givenUp = left !== null && left.attempts >= mostAttempts ? left : null;
  const pending = listPending(status, rules.now);
  const newest = pending.at(-1) ?? null;
  const passed = pending.slice(0, -1);
  if (left && !givenUp && (newest === null || newest.dueAt <= left.dueAt)) {
    return { decision: { kind: 'begin', due: left, isLate: left.isLate }, missed: [], givenUp };
  }
  if (newest === null) return { decision: { kind: 'none' }, missed: [], givenUp };
  const startsAt = status.toStart(newest);
  const before = status.after.flatMap((name) => others.get(name) ?? []);
  const until = new Date(startsAt.getTime() + rules.waitAtMostMs);
  const unended = before.find((other) => isAwaited(other, newest, until));
  if (unended && rules.now < until) {
    return { decision: { kind: 'wait', due: newest, for: unended.job, until }, missed: passed, givenUp };
  }
  const ended = before.flatMap((other) => findRun(other, newest.localDate)?.endedAt ?? []);
  const readyAt = latestOf([startsAt, ...pastOnly(rules.freeSince, rules.now), ...ended]);
  const delayMs = rules.now.getTime() - readyAt.getTime();
  // A run that has waited for its full time could not begin before that.
  const missedMs = rules.now.getTime() - (unended ? latestOf([readyAt, until]) : readyAt).getTime();
  if (missedMs > Math.max(lateMs, rules.catchUpMs)) return { decision: { kind: 'none' }, missed: pending, givenUp };
  return { decision: { kind: 'begin', due: newest, isLate: delayMs > lateMs }, missed: passed, givenUp };
}

const latestOf = (moments: readonly Date[]): Date => new Date(Math.max(...moments.map((moment) => moment.getTime())));

const pastOnly = (moment: Date | null, now: Date): readonly Date[] => (moment === null || moment > now ? [] : [moment]);

/** The next start of a job after `now`, as far as is known; null when none comes. */
export function findNextStart({ times, toStart, known }: JobStatus, now: Date): { due: JobDue; at: Date } | null {
  const settled = new Set(known.filter(isSettled).map(({ dueSlot }) => dueSlot));
  const since = new Date(now.getTime() - (times.isByDate ? dayMs : 0));
  const jittered = times.between(since, now).filter((due) => toStart(due) > now);
  const open = jittered.find(({ dueSlot }) => !settled.has(dueSlot));
  let due = open ?? times.next(now);
  while (due !== null && settled.has(due.dueSlot)) due = times.next(due.dueAt);
  return due && { due, at: toStart(due) };
}

function findLeft({ known }: JobStatus): JobRun | null {
  const [newest] = known;
  return newest && !isSettled(newest) ? newest : null;
}

function listPending({ times, plannedSince, toStart, known }: JobStatus, now: Date): readonly JobDue[] {
  // The newest run accounts for everything older. A run that began early accounts for nothing after its beginning.
  const floors = [plannedSince, ...known.map(({ dueAt, begunAt }) => (begunAt && begunAt < dueAt ? begunAt : dueAt))];
  // Of a job that runs every hour or more often, nothing older is caught up.
  if (!times.isByDate) floors.push(new Date(now.getTime() - hourMs));
  const floor = new Date(Math.max(...floors.map((moment) => moment.getTime())));
  const begun = new Set(known.map(({ dueSlot }) => dueSlot));
  const pending = times.between(floor, now).filter((due) => toStart(due) <= now && !begun.has(due.dueSlot));
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
  return other.toStart(due) < until;
}
