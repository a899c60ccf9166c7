import { toDurationMs } from '../../roster/duration.js';
import { readRosterGroups } from '../../runs/coverage/read-roster-groups.js';
import type { JobSchedule } from '../../runs/job.js';
import type { Workplace } from '../../runs/workplace.js';
import { toCadence } from '../../screening/cadence.js';
import { readImportedRosters } from '../../store/coverage.js';
import type { Incident } from '../../store/incidents.js';
import { readJobRuns } from '../../store/job-runs.js';
import { readJobSchedules } from '../../store/job-schedules.js';
import { findLastNight, findLastSweep, type RunningFacts, readFailing, readRunning } from '../../store/watch-facts.js';
import type { JobsSettings } from '../settings.js';
import { type Expectation, type ExpectedStart, findExpectedStart } from './expected-start.js';
import { findSame } from './finding.js';
import type { WatchFacts } from './judge.js';
import type { RosterFacts } from './judge-roster.js';
import type { WatchdogSettings } from './settings.js';

/** What a watchdog goes by beside the settings of runs. */
export interface WatchSettings {
  jobs: JobsSettings;
  watchdog: WatchdogSettings;
}

const hourMs = 3_600_000;

/** Reads everything that is judged at a moment, of these rosters; `open`: what has been told of and is not over. */
export async function readWatchFacts(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  {
    rosters,
    open,
    now,
    ...settings
  }: WatchSettings & { rosters: readonly string[]; open: readonly Incident[]; now: Date },
): Promise<WatchFacts> {
  const { database } = workplace;
  const planned = await findPlanned(workplace, organisationId, settings.jobs);
  const lateAfterMs = toDurationMs(settings.watchdog.lateAfter);
  const expect = (plan: Plan | undefined, everyMs: number | null): ExpectedStart | null => {
    const expectation: Expectation | null = plan ?? (everyMs === null ? null : { everyMs });
    const expected = expectation === null ? null : findExpectedStart(expectation, lateAfterMs, now);
    return expected !== null && plan?.plannedSince && expected.since < plan.plannedSince ? null : expected;
  };
  const shortestMs = Math.min(...Object.values(toCadence(workplace.settings.screening).hours)) * hourMs;
  const expected = expect(planned.get('rescreen'), shortestMs);
  const running = await readRunning(database, organisationId);
  const imported = await readImportedRosters(database, organisationId);
  const facts: RosterFacts[] = [];
  for (const roster of rosters) {
    const night = await findLastNight(database, organisationId, roster);
    const rosterId = imported.find((one) => one.roster === roster)?.rosterId ?? null;
    const told = findSame(open, { kind: 'customers_failing', subject: roster });
    facts.push({
      roster,
      night,
      expected,
      isWaitingItsTurn: running.some((run) => isOtherNight(run, roster)),
      ...(await readCustomers(workplace, rosterId, { told, agedMs: toDurationMs(settings.watchdog.failingFor), now })),
    });
  }
  return {
    rosters: facts,
    running,
    sweep: await findLastSweep(database, organisationId),
    expectedSweep: expect(planned.get('sweep'), null),
    jobs: await readNewestJobs(workplace, organisationId),
  };
}

const isOtherNight = (run: RunningFacts, roster: string): boolean =>
  run.kind === 'rescreen' && run.silentMs === null && run.roster !== roster;

async function readCustomers(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  rosterId: number | null,
  { told, agedMs, now }: { told: Incident | undefined; agedMs: number; now: Date },
): Promise<Pick<RosterFacts, 'failing' | 'overdue'>> {
  if (rosterId === null) return { failing: null, overdue: { customers: 0, oldestScreenedAt: null } };
  const { accountId, groups } = await readRosterGroups(workplace, rosterId, now);
  const late = groups.filter(({ standing, failedBecause }) => standing === 'overdue' && failedBecause === null);
  const dates = late.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const since = told && { runId: told.runId ?? 0, at: told.toldAt };
  return {
    failing:
      accountId === null
        ? null
        : await readFailing(workplace.database, { rosterId, accountId }, { told: since ?? null, agedMs, now }),
    overdue: {
      customers: late.reduce((sum, { customers }) => sum + customers, 0),
      oldestScreenedAt: dates.length === 0 ? null : new Date(Math.min(...dates)),
    },
  };
}

/** A schedule, and since when it is planned where the scheduler knows. */
interface Plan {
  schedule: JobSchedule;
  plannedSince?: Date;
}

/** The schedules that somebody wrote down, or that a scheduler goes by. */
async function findPlanned(
  { database }: Pick<Workplace, 'database'>,
  organisationId: number,
  jobs: JobsSettings,
): Promise<ReadonlyMap<string, Plan>> {
  const plans = new Map<string, Plan>();
  for (const { job, cron, timezone, plannedSince, retiredAt } of await readJobSchedules(database, organisationId)) {
    if (retiredAt === null) plans.set(job, { schedule: { cron, timezone }, plannedSince });
  }
  for (const [job, settings] of Object.entries(jobs)) {
    if (settings?.enabled === false) plans.delete(job);
    else if (settings?.cron !== undefined && !plans.has(job)) {
      plans.set(job, { schedule: { cron: settings.cron, timezone: settings.timezone ?? 'UTC' } });
    }
  }
  return plans;
}

/** Those that are still planned; what became of others is history. */
async function readNewestJobs({ database }: Pick<Workplace, 'database'>, organisationId: number) {
  const known = await readJobSchedules(database, organisationId);
  const planned = new Set(known.filter(({ retiredAt }) => retiredAt === null).map(({ job }) => job));
  return (await readJobRuns(database, organisationId, 1)).filter(({ job }) => planned.has(job));
}
