import type { AppContext, JobSchedule } from '../../runs/app-context.js';
import { readScheduleHistory, toJobLeaseKey } from '../../runs/scheduled.js';
import { toCadence } from '../../screening/cadence.js';
import { readHeldLeases } from '../../store/database/leases.js';
import { noteWatched, toJobSubject, toRosterSubject } from '../../store/operations/incidents.js';
import { findSchedulePause, type JobDue, type JobRun, type KeptSchedule } from '../../store/operations/jobs.js';
import type { Nights } from '../../store/operations/watch-facts.js';
import { type DueTimes, findLastDue, longestBackMs, toDueTimes } from '../due-times.js';
import { waitAtMostMs } from '../schedule.js';
import type { JobsSettings } from '../settings.js';

/** The schedule of a job, and since when a scheduler runs it; null when it is only configured, such as for a timer. */
interface Plan {
  schedule: JobSchedule;
  keptSince: Date | null;
}

/** The schedules of jobs: the configured one, otherwise the one that a scheduler last ran. */
export function findPlans(
  kept: readonly KeptSchedule[],
  jobs: JobsSettings,
  timezone: string,
): ReadonlyMap<string, Plan> {
  const plans = new Map<string, Plan>();
  for (const { job, plannedSince, retiredAt, ...schedule } of kept) {
    if (retiredAt === null) plans.set(job, { schedule, keptSince: plannedSince });
  }
  for (const [job, cron] of Object.entries(jobs)) {
    const known = plans.get(job)?.schedule;
    if (cron === 'off') plans.delete(job);
    else if (cron !== undefined && (known?.cron !== cron || known.timezone !== timezone)) {
      plans.set(job, { schedule: { cron, timezone }, keptSince: null });
    }
  }
  return plans;
}

/** A nightly job and its expected start; `isWaiting`: it may still start, because another job that comes before it is in progress. */
export interface StartFacts extends Pick<Nights, 'begun'> {
  /** Null when no start was due yet. */
  expected: {
    /** An earlier start is not the expected one. */
    since: Date;
    /** Until when it may wait for other jobs. */
    waitsUntil: Date;
    because: string;
  } | null;
  isWaiting: boolean;
}

/** The expectation for a job: its configured schedule, or the highest age of its last start. */
type Expectation = { schedule: JobSchedule } | { everyMs: number };

const hourMs = 3_600_000;
/** How long after its time a job may start before it counts as not run. */
const lateAfterMs = 2 * hourMs;
/** A start may be this much too early: the clocks of two hosts differ. */
const earlyMs = 60_000;
/**
 * The start that should have happened by now; null when none was due, or only before one of the moments in `watchedSince` (a future one is the
 * mistake of a clock). `runs` are the last runs of the job; one that began early counts from its beginning.
 */
export function findExpectedStart(
  expectation: Expectation,
  now: Date,
  watchedSince: readonly Date[],
  runs: readonly JobRun[] = [],
): StartFacts['expected'] {
  const isWatched = (moment: Date): boolean => watchedSince.every((since) => since > now || moment > since);
  if ('everyMs' in expectation) {
    const since = new Date(now.getTime() - expectation.everyMs - lateAfterMs);
    const because = `it should begin every ${Math.round(expectation.everyMs / hourMs)} hours`;
    return isWatched(since) ? { since, waitsUntil: now, because } : null;
  }
  const times = toDueTimes(expectation.schedule);
  const due = findLastDue(times, new Date(now.getTime() - lateAfterMs));
  if (due === null || !isWatched(due.dueAt)) return null;
  const { cron, timezone } = expectation.schedule;
  const begunAt = runs.find(({ dueSlot }) => dueSlot === due.dueSlot)?.begunAt ?? due.dueAt;
  return {
    since: new Date(Math.min(due.dueAt.getTime(), begunAt.getTime()) - earlyMs),
    waitsUntil: new Date(findFirstMissing(times, due, runs, watchedSince).getTime() + lateAfterMs + waitAtMostMs),
    because: `it was due at ${due.dueAt.toISOString()} (${cron} ${timezone})`,
  };
}

/** The first missed time since the last start: a frequent job must not get a new wait at each of its times. */
function findFirstMissing(times: DueTimes, due: JobDue, runs: readonly JobRun[], watchedSince: readonly Date[]): Date {
  const begun = runs.flatMap(({ begunAt, dueAt }) => (begunAt === null || dueAt >= due.dueAt ? [] : dueAt.getTime()));
  const since = watchedSince.map((moment) => moment.getTime()).filter((ms) => ms < due.dueAt.getTime());
  if (begun.length === 0 && since.length === 0) return due.dueAt;
  const floorMs = Math.max(due.dueAt.getTime() - longestBackMs, ...begun, ...since);
  return times.next(new Date(floorMs))?.dueAt ?? due.dueAt;
}

const toScheduleSubject = (job: string, { cron, timezone }: JobSchedule): string =>
  `schedule/${job} ${cron} ${timezone}`;

/**
 * Reads which starts are expected by now, and notes that these rosters and the planned jobs are watched. `runs`: the last runs of each job, newest
 * first. `silences`: the age of the last heartbeat of the processes that hold or left a job's lease, null for one at work. `subjects`: what this
 * watchdog watches; `watched`: what any watchdog did.
 */
export async function readExpectations(
  app: AppContext,
  organisationId: number,
  { rosters, now, jobs }: { rosters: readonly string[]; now: Date; jobs: JobsSettings },
) {
  const { database, settings } = app;
  const { schedules, runs } = await readScheduleHistory(app);
  const plans = findPlans([...schedules.values()], jobs, settings.timezone);
  const subjects = [...rosters.map(toRosterSubject), ...[...plans.keys()].map(toJobSubject)];
  const planned = [...plans].map(([job, { schedule }]) => toScheduleSubject(job, schedule));
  const watched = await noteWatched(database, organisationId, [...subjects, ...planned], now);
  const since = new Map(watched.map(({ subject, watchedSince }) => [subject, watchedSince]));
  const leasePrefix = toJobLeaseKey(settings.organisation, '');
  const leases = (await readHeldLeases(database, settings.organisation)).filter(({ key }) =>
    key.startsWith(leasePrefix),
  );
  const silences: ReadonlyMap<string, number | null> = new Map(
    leases.map(({ key, expiresInMs, heartbeatAgeMs }) => [
      key.slice(leasePrefix.length),
      expiresInMs > 0 ? null : heartbeatAgeMs,
    ]),
  );
  const isAnyAtWork = [...silences.values()].includes(null);

  // A job that waited for the end of a pause has two hours to start.
  const lastPause = await findSchedulePause(database, organisationId, new Date(now.getTime() - lateAfterMs));
  const shortestMs = Math.min(...Object.values(toCadence(settings.screening).hours)) * hourMs;
  /** Since when a job counts as planned. */
  const sinceOf = (job: string): Date => {
    const plan = plans.get(job);
    return plan?.keptSince ?? (plan && since.get(toScheduleSubject(job, plan.schedule))) ?? now;
  };
  const expect = (expectation: Expectation | undefined, job: string, counts: readonly Date[]) => {
    const expected = expectation ? findExpectedStart(expectation, now, counts, runs.get(job)) : null;
    // A start that was due before the pause is missed in any case; a pause lasts seven days at most.
    const isPaused = lastPause !== null && expected !== null && expected.since >= lastPause.pausedAt;
    // Nightly jobs run one after another, so a job may wait, but only for a limited time.
    const mayWait = expected !== null && now < expected.waitsUntil && isAnyAtWork;
    return { expected, isWaiting: isPaused || mayWait };
  };
  return {
    plans,
    runs,
    silences,
    subjects,
    watched,
    sinceOf,
    pause: lastPause !== null && lastPause.until > now ? lastPause : null,
    ofRoster: (roster: string) => {
      const plan = plans.get('rescreen');
      const rosterSince = since.get(toRosterSubject(roster)) ?? now;
      return expect(plan ?? { everyMs: shortestMs }, 'rescreen', [rosterSince, ...(plan ? [sinceOf('rescreen')] : [])]);
    },
    ofJob: (job: string) => expect(plans.get(job), job, [sinceOf(job)]),
  };
}
