import { z } from 'zod';
import { StoreError } from '../errors.js';
import type { CarriedRun, NotScreenedFacts, RunFacts, SweepFacts } from '../reports/run-facts.js';
import { readCanaryFacts } from './canary-facts.js';
import { countMatchChanges, readDossierChanges, readMatchChanges } from './change-facts.js';
import type { Queryable } from './database.js';
import { readSweep } from './dossiers.js';
import { readDroppedParties } from './dropped-parties.js';
import { readRun } from './find-runs.js';
import { firstRow } from './first-row.js';
import { readDetailFacts } from './match-details.js';
import { readOpenItems } from './open-items.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';
import type { ReportRevision } from './report-revisions.js';
import { readRosterAcceptances } from './roster-acceptances.js';
import { readRosterSource } from './roster-imports.js';
import { readRunCadence } from './run-cadence.js';
import { toRunId } from './run-id.js';
import { readRunKeys } from './run-keys.js';
import { readRejects } from './run-rejects.js';
import type { RunRow } from './run-row.js';
import { readRunWatch } from './run-watch.js';
import { readSettingsChanges } from './settings-records.js';

const nobody = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

/**
 * Everything stored about a run that has ended, together with the sweeps and earlier runs that its report covers; the same at any later time.
 * Throws StoreError for a run that is still going on.
 */
export async function readRunFacts(
  database: Queryable,
  run: RunRow,
  covered: Pick<ReportRevision, 'sweepRunIds' | 'earlierRunIds'> & Partial<ReportRevision>,
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
    changes: await readMatchChanges(database, runIds, false),
    baselineChanges: await readMatchChanges(database, runIds, true),
    sweeps: await readSweeps(database, covered.sweepRunIds),
    dossierChanges: await readDossierChanges(database, covered.sweepRunIds),
    notScreened: await readNotScreened(database, run.runId),
    rejects: await readRejects(database, run.runId),
    droppedParties: await readDroppedParties(database, runIds, run.accountId),
    openItems: isScreening ? await readOpenItems(database, run.runId) : null,
    details: await readDetailFacts(database, run.runId, covered.earlierRunIds),
    canaries: await readCanaryFacts(database, run.runId),
    watch: isScreening ? await readRunWatch(database, run.runId) : null,
    possiblyBilledTwice: sums?.possiblyBilledTwice ?? 0,
    attemptsByOutcome: sums?.attemptsByOutcome ?? {},
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

const notScreenedRow: z.ZodType<NotScreenedFacts> = z.object({
  party: partyFactsSchema,
  outcome: z.enum(['failed', 'skipped', 'remaining']),
  reason: z.string(),
  lastScreenedAt: z.date().nullable(),
});

/** When the party of `screening` was answered for the last time before `run`, looked up in the history, newest run first. */
const lastScreenedSql = `(
  select coalesce(reuse.answered_at, batch.committed_at)
  from run earlier
  join screening before on before.run_id = earlier.run_id and before.party_id = screening.party_id
  join commit_batch batch on batch.batch_id = before.batch_id
  left join screening_reuse reuse
    on before.outcome = 'reused' and reuse.run_id = before.run_id and reuse.party_id = before.party_id
  where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
    and before.outcome in ('screened', 'reused')
  order by earlier.run_id desc
  limit 1
)`;

// The history holds a row for each party and night, so it is asked only where the party's own state says something newer, or nothing:
// after a later run, and after a control search that has taken back what its run said. Both ways give the same.
/** Parties in scope without a valid answer; skipped ones only where no earlier answer is still valid. */
async function readNotScreened(database: Queryable, runId: number): Promise<readonly NotScreenedFacts[]> {
  return database.query(
    notScreenedRow,
    `select ${partyFactsSql} as party, screening.outcome,
       coalesce(screening.outcome_reason, 'remaining') as reason,
       case
         when state.run_id is null then null
         when state.run_id < run.run_id and state.screened_at > 'epoch' then state.screened_at
         else ${lastScreenedSql}
       end as "lastScreenedAt"
     from screening
     join run on run.run_id = screening.run_id
     left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
     ${joinPartySql('screening')}
     where screening.run_id = $1
       and (screening.outcome in ('failed', 'remaining') or (screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due'))
     order by customer.reference collate "C", party.ordinal`,
    [runId],
  );
}
