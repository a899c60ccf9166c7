import { toDurationMs } from '../../roster/duration.js';
import { toJobLeaseKey } from '../../runs/scheduled.js';
import type { Workplace } from '../../runs/workplace.js';
import { toCadence } from '../../screening/cadence.js';
import { noteWatched, toJobSubject, toRosterSubject, toScheduleSubject, type Watched } from '../../store/incidents.js';
import { findSchedulePause, type JobRun, readJobRuns, readJobSchedules, type SchedulePause } from '../../store/jobs.js';
import { readHeldLeases } from '../../store/leases.js';
import { type JobsSettings, type SchedulerSettings, toSpanMs } from '../settings.js';
import { type Expectation, type ExpectedStart, findExpectedStart, type LateRules } from './expected-start.js';
import type { StartFacts } from './judge-nights.js';
import { findPlans, type Plan } from './plans.js';
import type { WatchdogSettings } from './settings.js';

/** What a watchdog goes by beside the settings of runs. */
export interface WatchSettings {
  jobs: JobsSettings;
  scheduler: Pick<SchedulerSettings, 'jitter' | 'waitAtMost'>;
  watchdog: WatchdogSettings;
}

/** What should have been begun by a moment, of whom. */
export interface Expectations {
  plans: ReadonlyMap<string, Plan>;
  /** What became of the last times of each job, newest first. */
  runs: ReadonlyMap<string, readonly JobRun[]>;
  /** How long ago the processes were last heard of that hold a job's lease or have left it; null: one is at work. */
  silences: ReadonlyMap<string, number | null>;
  /** What this watchdog watches, and what any did. */
  subjects: readonly string[];
  watched: readonly Watched[];
  pause: SchedulePause | null;
  ofRoster(roster: string): Omit<StartFacts, 'begun'>;
  ofJob(job: string): Omit<StartFacts, 'begun'>;
  /** Since when a planned job counts as planned. */
  sinceOf(job: string): Date;
}

const hourMs = 3_600_000;
// Enough to find the last one that came to its end, and what was missed since.
const timesRead = 100;

/** Reads what should have been begun by now, and notes that these rosters and the planned jobs are watched. */
export async function readExpectations(
  { database, settings }: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  { rosters, now, ...rest }: WatchSettings & { rosters: readonly string[]; now: Date },
): Promise<Expectations> {
  const plans = findPlans(await readJobSchedules(database, organisationId), rest.jobs);
  const subjects = [...rosters.map(toRosterSubject), ...[...plans.keys()].map(toJobSubject)];
  const schedules = [...plans].map(([job, { schedule }]) => toScheduleSubject(job, schedule));
  const watched = await noteWatched(database, organisationId, [...subjects, ...schedules], now);
  const since = new Map(watched.map(({ subject, watchedSince }) => [subject, watchedSince]));
  const runs = toRunsByJob(await readJobRuns(database, organisationId, timesRead, now));
  const silences = await readSilences({ database, settings });

  const rules = toLateRules(rest, now);
  // What waited for the end of a pause has `watchdog.lateAfter` to begin.
  const lastPause = await findSchedulePause(database, organisationId, new Date(now.getTime() - rules.lateAfterMs));
  const shortestMs = Math.min(...Object.values(toCadence(settings.screening).hours)) * hourMs;
  const sinceOf = (job: string): Date => {
    const plan = plans.get(job);
    return plan?.keptSince ?? (plan && since.get(toScheduleSubject(job, plan.schedule))) ?? now;
  };
  const expect = (expectation: Expectation | undefined, job: string, counts: readonly Date[]) => {
    const expected = expectation ? findExpectedStart(expectation, rules, counts, runs.get(job)) : null;
    // A start that was due before the pause is missed all the same; pauses end after seven days at most.
    const isPaused = lastPause !== null && expected !== null && expected.since >= lastPause.pausedAt;
    return { expected, isWaiting: isPaused || mayWait(expected, silences, now) };
  };
  return {
    plans,
    runs,
    silences,
    subjects,
    watched,
    pause: lastPause !== null && lastPause.until > now ? lastPause : null,
    sinceOf,
    ofRoster: (roster) => {
      const plan = plans.get('rescreen');
      const rosterSince = since.get(toRosterSubject(roster)) ?? now;
      return expect(plan ?? { everyMs: shortestMs }, 'rescreen', [rosterSince, ...(plan ? [sinceOf('rescreen')] : [])]);
    },
    ofJob: (job) => expect(plans.get(job), job, [sinceOf(job)]),
  };
}

const toLateRules = ({ scheduler, watchdog }: WatchSettings, now: Date): LateRules => ({
  now,
  lateAfterMs: toDurationMs(watchdog.lateAfter),
  jitterMs: toSpanMs(scheduler.jitter),
  waitAtMostMs: toSpanMs(scheduler.waitAtMost),
});

/** Nightly jobs follow one another; what waits for that does so for a time, not for ever. */
const mayWait = (expected: ExpectedStart | null, silences: Expectations['silences'], now: Date): boolean =>
  expected !== null && now < expected.waitsUntil && [...silences.values()].includes(null);

function toRunsByJob(runs: readonly JobRun[]): ReadonlyMap<string, readonly JobRun[]> {
  const byJob = new Map<string, JobRun[]>();
  for (const run of runs) byJob.set(run.job, [...(byJob.get(run.job) ?? []), run]);
  return byJob;
}

async function readSilences({
  database,
  settings,
}: Pick<Workplace, 'database' | 'settings'>): Promise<Expectations['silences']> {
  const prefix = toJobLeaseKey(settings.organisation, '');
  const held = await readHeldLeases(database);
  return new Map(
    held
      .filter(({ key }) => key.startsWith(prefix))
      .map(({ key, expiresInMs, heartbeatAgeMs }) => [
        key.slice(prefix.length),
        expiresInMs > 0 ? null : heartbeatAgeMs,
      ]),
  );
}
