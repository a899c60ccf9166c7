import { z } from 'zod';
import { StoreError } from '../errors.js';
import type { CarriedRun, RunFacts, SweepFacts } from '../reports/run-facts.js';
import { readCanaryFacts } from './canary-facts.js';
import { countMatchChanges, readDossierChanges } from './change-facts.js';
import { readChanges } from './change-floods.js';
import type { Database, Queryable } from './database.js';
import { readReconciliations } from './discrepancies.js';
import { readSweep } from './dossiers.js';
import { readDroppedParties } from './dropped-parties.js';
import { readRun } from './find-runs.js';
import { firstRow } from './first-row.js';
import { readHeldFacts } from './held-runs.js';
import { readDetailFacts } from './match-details.js';
import { readMatchList } from './match-lists.js';
import { readNotScreened } from './not-screened.js';
import { readOpenItems } from './open-items.js';
import type { ReportRevision } from './report-revisions.js';
import { readRosterAcceptances } from './roster-acceptances.js';
import { readRosterSource } from './roster-imports.js';
import { readRunCadence } from './run-cadence.js';
import { readRunHealth } from './run-health.js';
import { toRunId } from './run-id.js';
import { readRunKeys } from './run-keys.js';
import { readDoubtedRows, readRejects } from './run-rejects.js';
import type { RunRow } from './run-row.js';
import { readRunTrend } from './run-trend.js';
import { readRunWatch } from './run-watch.js';
import { readSettingsChanges } from './settings-records.js';
import { readSettledItems } from './settled-items.js';

const nobody = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

/**
 * Everything stored about a run that has ended, together with the sweeps and earlier runs that its report covers; the same at any later time.
 * Lists too long to hold are cut, and read from `lists` when they are written. Throws StoreError for a run that is still going on.
 */
export async function readRunFacts(
  database: Queryable,
  run: RunRow,
  covered: Pick<ReportRevision, 'sweepRunIds' | 'earlierRunIds'> & Partial<ReportRevision>,
  lists: Pick<Database, 'cursor'>,
): Promise<RunFacts> {
  if (run.finishedAt === null) {
    throw new StoreError(
      'run_not_finished',
      `${toRunId(run)} has not ended, so there is nothing final to tell about it`,
    );
  }
  const { sums } = run;
  const runIds = [run.runId, ...covered.earlierRunIds];
  const isScreening = run.kind === 'screen' || run.kind === 'rescreen' || run.kind === 'onboard';
  const changes = await readChanges(database, lists, runIds, run.finishedAt);
  const baseline = await readMatchList(database, lists, { runIds, isBaseline: true });
  const notScreened = await readNotScreened(database, lists, run.runId);
  const compared = run.comparedRunId === null ? null : await readRun(database, run.comparedRunId);
  return {
    runId: toRunId(run),
    kind: run.kind,
    state: run.state,
    stateReasons: run.stateReasons,
    ...(await readNames(database, run)),
    mode: run.mode,
    version: run.version,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    settingsDigest: run.settingsDigest,
    settingsChanges: await readSettingsChanges(database, run.runId, covered.formerSettingsRecordId ?? null),
    cadence: await readRunCadence(database, run.runId),
    keyFingerprint: (await readRunKeys(database, run.runId)).join(', '),
    comparedWith: compared?.finishedAt ? { runId: toRunId(compared), finishedAt: compared.finishedAt } : null,
    rosterSource: await readRosterSource(database, run.rosterId, run.runId),
    rosterAcceptances: await readRosterAcceptances(database, run.runId),
    counts: sums?.counts ?? null,
    states: isScreening ? (sums?.states ?? null) : null,
    failedBecause: sums?.failedBecause ?? {},
    skippedBecause: sums?.skippedBecause ?? {},
    baseline: sums?.baseline ?? nobody,
    carriedFrom: await readCarried(database, covered.earlierRunIds),
    changes: changes.held,
    baselineChanges: baseline.held,
    sweeps: await readSweeps(database, covered.sweepRunIds),
    dossierChanges: await readDossierChanges(database, covered.sweepRunIds),
    reconciliations: await readReconciliations(database, run.runId, covered.earlierRunIds),
    notScreened: notScreened.held,
    cut: { changes: changes.cut, baseline: baseline.cut, notScreened: notScreened.cut },
    rejects: await readRejects(database, run.runId),
    doubted: await readDoubtedRows(database, run.runId),
    droppedParties: await readDroppedParties(database, runIds, run.accountId),
    openItems: isScreening ? await readOpenItems(database, run.runId) : null,
    details: await readDetailFacts(database, run.runId, covered.earlierRunIds),
    canaries: await readCanaryFacts(database, run.runId),
    watch: isScreening ? await readRunWatch(database, run.runId) : null,
    held: isScreening ? await readHeldFacts(database, run.runId) : [],
    health: isScreening ? await readRunHealth(database, run.runId) : null,
    settled: isScreening ? await readSettledItems(database, run.runId) : null,
    trend: isScreening ? await readRunTrend(database, run.runId) : [],
    possiblyBilledTwice: sums?.possiblyBilledTwice ?? 0,
    attemptsByOutcome: sums?.attemptsByOutcome ?? {},
    span: null,
  };
}

async function readCarried(database: Queryable, runIds: readonly number[]): Promise<readonly CarriedRun[]> {
  const carried: CarriedRun[] = [];
  for (const runId of runIds) {
    const run = await readRun(database, runId);
    if (!run) continue;
    const found = await countMatchChanges(database, runId);
    // An import that only dropped somebody has found nothing.
    if (found.changes + found.baseline > 0) carried.push({ runId: toRunId(run), ...found });
  }
  return carried;
}

async function readNames(database: Queryable, run: RunRow): Promise<{ organisation: string; roster: string | null }> {
  const rows = await database.query(
    z.object({ organisation: z.string(), roster: z.string().nullable() }),
    `select organisation.name as organisation, roster.name as roster
     from organisation
     left join roster on roster.roster_id = $2
     where organisation.organisation_id = $1`,
    [run.organisationId, run.rosterId],
  );
  return firstRow(rows, 'organisation');
}

async function readSweeps(database: Queryable, sweepRunIds: readonly number[]): Promise<readonly SweepFacts[]> {
  const sweeps: SweepFacts[] = [];
  for (const sweepRunId of sweepRunIds) {
    const run = await readRun(database, sweepRunId);
    const sweep = await readSweep(database, sweepRunId);
    if (!run?.finishedAt || !sweep) continue;
    const { isStart, pages, dossiers, proven, unprovenBecause } = sweep;
    const { startedAt, finishedAt } = run;
    sweeps.push({ runId: toRunId(run), startedAt, finishedAt, isStart, pages, dossiers, proven, unprovenBecause });
  }
  return sweeps;
}
