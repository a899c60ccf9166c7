import type { z } from 'zod';
import { toDurationMs } from '../../roster/duration.js';
import type { AppContext, JobSchedule } from '../../runs/app-context.js';
import { readScheduleHistory, toJobLeaseKey } from '../../runs/scheduled.js';
import { toCadence } from '../../screening/cadence.js';
import { noteWatched, toJobSubject, toRosterSubject } from '../../store/incidents.js';
import { findSchedulePause, type JobDue, type JobRun, type JobSchedule as KnownSchedule } from '../../store/jobs.js';
import { readHeldLeases } from '../../store/leases.js';
import type { Nights } from '../../store/watch-facts.js';
import { type DueTimes, toDueTimes } from '../due-times.js';
import { type JobsSettings, type SchedulerSettings, toSpanMs, type watchdogSettingsSchema } from '../settings.js';

/** The schedule of a job, and since when a scheduler goes by it; null where only somebody wrote it down, such as for a timer. */
interface Plan {
  schedule: JobSchedule;
  keptSince: Date | null;
}

/** The schedules that jobs go by: what the configuration says of one, else what a scheduler has last gone by. */
export function findPlans(kept: readonly KnownSchedule[], jobs: JobsSettings): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const { job, cron, timezone, plannedSince, retiredAt } of kept) {
    if (retiredAt === null) plans.set(job, { schedule: { cron, timezone }, keptSince: plannedSince });
  }
  for (const [job, settings] of Object.entries(jobs)) {
    if (settings?.enabled === false) plans.delete(job);
    else if (settings?.cron !== undefined && !isKept(plans.get(job), settings)) {
      plans.set(job, { schedule: { cron: settings.cron, timezone: settings.timezone ?? 'UTC' }, keptSince: null });
    }
  }
  return plans;
}

/** A job of one's own may bring the time zone that its settings leave out. */
const isKept = (plan: Plan | undefined, { cron, timezone }: NonNullable<JobsSettings[string]>): boolean =>
  plan !== undefined && plan.schedule.cron === cron && (timezone === undefined || timezone === plan.schedule.timezone);

/** A nightly job and when it should have begun; `isWaiting`: it may yet, for another one is under way that comes before it. */
export interface StartFacts extends Pick<Nights, 'begun'> {
  /** Null where no start was due yet. */
  expected: {
    /** A start before this moment is not the one that was due. */
    since: Date;
    /** Until when it may wait for other jobs to end. */
    waitsUntil: Date;
    because: string;
  } | null;
  isWaiting: boolean;
}

/** What a job goes by: the schedule that somebody wrote down, or how old its last start may be. */
type Expectation = { schedule: JobSchedule } | { everyMs: number };

/** What is put up with. */
export interface LateRules {
  now: Date;
  /** How long after its time a job may begin. */
  lateAfterMs: number;
  /** By how much more, where it is due at fixed times of a date. */
  jitterMs: number;
  /** How much longer it may wait while another job is under way. */
  waitAtMostMs: number;
}

const hourMs = 3_600_000;
/** A start may be this much early: clocks of two hosts differ. */
const earlyMs = 60_000;
/** A schedule that has not come round for longer than this is not looked for further. */
const longestBackMs = 32 * 24 * hourMs;

/**
 * The start that should have been made by now; null when none was due yet, or only before one of the moments since when it is watched (those
 * yet to come are the mistake of a clock). `runs`: what became of the job's last times; one that was done early counts from its beginning.
 */
export function findExpectedStart(
  expectation: Expectation,
  rules: LateRules,
  watchedSince: readonly Date[],
  runs: readonly JobRun[] = [],
): StartFacts['expected'] {
  const { now, lateAfterMs, jitterMs, waitAtMostMs } = rules;
  const isWatched = (moment: Date): boolean => watchedSince.every((since) => since > now || moment > since);
  if ('everyMs' in expectation) {
    const since = new Date(now.getTime() - expectation.everyMs - lateAfterMs);
    const because = `it should begin every ${Math.round(expectation.everyMs / hourMs)} hours`;
    return isWatched(since) ? { since, waitsUntil: now, because } : null;
  }
  const times = toDueTimes(expectation.schedule);
  const lateMs = lateAfterMs + (times.isByDate ? jitterMs : 0);
  const due = findLastDue(times, new Date(now.getTime() - lateMs));
  if (due === null || !isWatched(due.dueAt)) return null;
  const { cron, timezone } = expectation.schedule;
  const begunAt = runs.find(({ dueSlot }) => dueSlot === due.dueSlot)?.begunAt ?? due.dueAt;
  return {
    since: new Date(Math.min(due.dueAt.getTime(), begunAt.getTime()) - earlyMs),
    waitsUntil: new Date(findFirstMissing(times, due, runs, watchedSince).getTime() + lateMs + waitAtMostMs),
    because: `it was due at ${due.dueAt.toISOString()} (${cron} ${timezone})`,
  };
}

const findLastDue = (times: DueTimes, before: Date): JobDue | null =>
  times.between(new Date(before.getTime() - longestBackMs), before).at(-1) ?? null;

/** The first time since the last start that was not begun: a job that comes round often must not wait anew from each of its times. */
function findFirstMissing(times: DueTimes, due: JobDue, runs: readonly JobRun[], watchedSince: readonly Date[]): Date {
  const begun = runs.flatMap(({ begunAt, dueAt }) => (begunAt === null || dueAt >= due.dueAt ? [] : dueAt.getTime()));
  const since = watchedSince.map((moment) => moment.getTime()).filter((ms) => ms < due.dueAt.getTime());
  if (begun.length === 0 && since.length === 0) return due.dueAt;
  const floorMs = Math.max(due.dueAt.getTime() - longestBackMs, ...begun, ...since);
  return times.next(new Date(floorMs))?.dueAt ?? due.dueAt;
}

/** What a watchdog goes by beside the settings of runs. */
export interface WatchSettings {
  jobs: JobsSettings;
  scheduler: Pick<SchedulerSettings, 'jitter' | 'waitAtMost'>;
  watchdog: z.output<typeof watchdogSettingsSchema>;
}

/** What a job is called among what is watched that goes by a certain schedule. */
const toScheduleSubject = (job: string, { cron, timezone }: JobSchedule): string =>
  `schedule/${job} ${cron} ${timezone}`;

/**
 * Reads what should have been begun by now, of whom, and notes that these rosters and the planned jobs are watched. `runs`: what became of the
 * last times of each job, newest first; `silences`: how long ago the processes were last heard of that hold a job's lease or have left it, null
 * where one is at work; `subjects`: what this watchdog watches, `watched`: what any did.
 */
export async function readExpectations(
  app: AppContext,
  organisationId: number,
  { rosters, now, jobs, scheduler, watchdog }: WatchSettings & { rosters: readonly string[]; now: Date },
) {
  const { database, settings } = app;
  const { schedules, runs } = await readScheduleHistory(app);
  const plans = findPlans([...schedules.values()], jobs);
  const subjects = [...rosters.map(toRosterSubject), ...[...plans.keys()].map(toJobSubject)];
  const planned = [...plans].map(([job, { schedule }]) => toScheduleSubject(job, schedule));
  const watched = await noteWatched(database, organisationId, [...subjects, ...planned], now);
  const since = new Map(watched.map(({ subject, watchedSince }) => [subject, watchedSince]));
  const leasePrefix = toJobLeaseKey(settings.organisation, '');
  const leases = (await readHeldLeases(database)).filter(({ key }) => key.startsWith(leasePrefix));
  const silences: ReadonlyMap<string, number | null> = new Map(
    leases.map(({ key, expiresInMs, heartbeatAgeMs }) => [
      key.slice(leasePrefix.length),
      expiresInMs > 0 ? null : heartbeatAgeMs,
    ]),
  );
  const isAnyAtWork = [...silences.values()].includes(null);

  const lateAfterMs = toDurationMs(watchdog.lateAfter);
  const waits = { jitterMs: toSpanMs(scheduler.jitter), waitAtMostMs: toSpanMs(scheduler.waitAtMost) };
  const rules: LateRules = { now, lateAfterMs, ...waits };
  // What waited for the end of a pause has `watchdog.lateAfter` to begin.
  const lastPause = await findSchedulePause(database, organisationId, new Date(now.getTime() - lateAfterMs));
  const shortestMs = Math.min(...Object.values(toCadence(settings.screening).hours)) * hourMs;
  /** Since when a planned job counts as planned. */
  const sinceOf = (job: string): Date => {
    const plan = plans.get(job);
    return plan?.keptSince ?? (plan && since.get(toScheduleSubject(job, plan.schedule))) ?? now;
  };
  const expect = (expectation: Expectation | undefined, job: string, counts: readonly Date[]) => {
    const expected = expectation ? findExpectedStart(expectation, rules, counts, runs.get(job)) : null;
    // A start that was due before the pause is missed all the same; pauses end after seven days at most.
    const isPaused = lastPause !== null && expected !== null && expected.since >= lastPause.pausedAt;
    // Nightly jobs follow one another; what waits for that does so for a time, not for ever.
    const mayWait = expected !== null && now < expected.waitsUntil && isAnyAtWork;
    return { expected, isWaiting: isPaused || mayWait };
  };
  return {
    ...{ plans, runs, silences, subjects, watched, sinceOf },
    pause: lastPause !== null && lastPause.until > now ? lastPause : null,
    ofRoster: (roster: string) => {
      const plan = plans.get('rescreen');
      const rosterSince = since.get(toRosterSubject(roster)) ?? now;
      return expect(plan ?? { everyMs: shortestMs }, 'rescreen', [rosterSince, ...(plan ? [sinceOf('rescreen')] : [])]);
    },
    ofJob: (job: string) => expect(plans.get(job), job, [sinceOf(job)]),
  };
}
