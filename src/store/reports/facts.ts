import { z } from 'zod';
import { StoreError } from '../../errors.js';
import type { RunFacts, SweepFacts, TrendPoint } from '../../reports/run-facts.js';
import { notScreenedSchema } from '../../vocabulary/facts.js';
import { droppedPartySchema } from '../../vocabulary/source-facts.js';
import { isScreeningKind, listableOutcomes, screeningKinds } from '../../vocabulary.js';
import { type Database, type Queryable, readRow } from '../database/database.js';
import { type Sql, sql } from '../database/statement.js';
import { readReconciliations } from '../dossiers/discrepancies.js';
import { readSweep } from '../dossiers/dossiers.js';
import { readPacksBefore } from '../evidence/packs.js';
import { countMatchChanges, previewLines, readReportChanges } from '../night/changes.js';
import { readControlFacts } from '../night/controls.js';
import { readHeldFacts } from '../night/held-runs.js';
import { readDetailLookups } from '../night/match-details.js';
import { runSumsSchema } from '../night/run-sums.js';
import { isWholeSql } from '../operations/metrics.js';
import { readSettingsChanges } from '../organisations.js';
import {
  readDoubtedRows,
  readRejects,
  readRosterAcceptances,
  readRosterChanges,
  readRosterSource,
} from '../roster/imports.js';
import { joinPartySql, partyFactsSql, screeningKindsSql, toSqlList } from '../row-shapes.js';
import { type RunRow, readRun, toRunId } from '../runs.js';
import type { ReportRevision } from './revisions.js';

const nobody = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

/**
 * The stored facts of a finished run, with the sweeps and earlier runs that its report covers; the same at any later time. Long lists are
 * truncated, and read from `lists` when they are written. Throws StoreError for a run that has not finished.
 */
export async function readRunFacts(
  database: Queryable,
  run: RunRow,
  covered: Pick<ReportRevision, 'sweepRunIds' | 'earlierRunIds'> & Partial<ReportRevision>,
  lists: Pick<Database, 'cursor'>,
): Promise<RunFacts> {
  if (run.finishedAt === null) {
    throw new StoreError('run_not_finished', `${toRunId(run)} has not finished, so it has no report yet`);
  }
  const { sums } = run;
  const runIds = [run.runId, ...covered.earlierRunIds];
  const isScreening = isScreeningKind(run.kind);
  const { sweepRunIds } = covered;
  const found = await readReportChanges(database, lists, { runIds, sweepRunIds, now: run.finishedAt });
  const { changes, baseline, dossierChanges } = found;
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
    timezone: timezoneSchema.parse(run.settings),
    settingsDigest: run.settingsDigest,
    settingsChanges: await readSettingsChanges(database, run.runId, covered.formerSettingsId ?? null),
    cadence: run.cadence,
    keyFingerprint: run.keys.join(', '),
    packs: await readPacksBefore(database, run.runId),
    comparedWith: compared?.finishedAt ? { runId: toRunId(compared), finishedAt: compared.finishedAt } : null,
    rosterSource: await readRosterSource(database, run.rosterId, run.runId),
    rosterChanges: await readRunChanges(database, run),
    rosterAcceptances: await readRosterAcceptances(database, run.runId),
    counts: sums?.counts ?? null,
    states: isScreening ? (sums?.states ?? null) : null,
    failedBecause: sums?.failedBecause ?? {},
    skippedBecause: sums?.skippedBecause ?? {},
    baseline: sums?.baseline ?? nobody,
    carriedFrom: await readCarriedOver(database, covered.earlierRunIds),
    changes: changes.held,
    baselineChanges: baseline.held,
    sweeps: await readSweeps(database, sweepRunIds),
    dossierChanges,
    reconciliations: await readReconciliations(database, run.runId, covered.earlierRunIds),
    notScreened: notScreened.held,
    cut: { changes: changes.cut, baseline: baseline.cut, notScreened: notScreened.cut },
    rejects: await readRejects(database, run.runId),
    doubted: await readDoubtedRows(database, run.runId),
    droppedParties: await readDroppedParties(database, runIds, run.accountId),
    openAlerts: isScreening ? run.openAlerts : null,
    details: {
      counts: run.details,
      records: await readDetailLookups(database, [...covered.earlierRunIds, run.runId]),
    },
    controls: await readControlFacts(database, run.runId),
    watch: isScreening ? run.watch : null,
    held: isScreening ? await readHeldFacts(database, run.runId) : [],
    health: isScreening ? run.health : null,
    settled: isScreening ? run.settledAlerts : null,
    trend: isScreening ? await readRunTrend(database, run.runId) : [],
    possiblyBilledTwice: sums?.possiblyBilledTwice ?? 0,
    attemptsByOutcome: sums?.attemptsByOutcome ?? {},
    span: null,
  };
}

/** A first screening has none to compare with; the report of an import is about this import. */
async function readRunChanges(database: Queryable, { kind, runId, rosterId, comparedRunId }: RunRow) {
  const after = kind === 'import' ? runId - 1 : comparedRunId;
  return after === null ? [] : readRosterChanges(database, rosterId, { after, until: runId });
}

/** The time zone in the settings of a run. */
const timezoneSchema = z
  .object({ timezone: z.string() })
  .transform(({ timezone }) => timezone)
  .catch('UTC');

async function readCarriedOver(database: Queryable, runIds: readonly number[]): Promise<RunFacts['carriedFrom']> {
  const carried: RunFacts['carriedFrom'][number][] = [];
  for (const runId of runIds) {
    const run = await readRun(database, runId);
    if (!run) continue;
    const found = await countMatchChanges(database, runId);
    // An import that only dropped parties has no findings.
    if (found.changes + found.baseline > 0) carried.push({ runId: toRunId(run), ...found });
  }
  return carried;
}

async function readNames(database: Queryable, run: RunRow): Promise<{ organisation: string; roster: string | null }> {
  return readRow(
    database,
    z.object({ organisation: z.string(), roster: z.string().nullable() }),
    sql`select organisation.name as organisation, roster.name as roster
     from organisation
     left join roster on roster.roster_id = ${run.rosterId}
     where organisation.organisation_id = ${run.organisationId}`,
  );
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

/** The parties that the imports of these runs dropped in an unresolved state, on one account where it is known. */
async function readDroppedParties(database: Queryable, runIds: readonly number[], accountId: number | null) {
  return database.query(
    droppedPartySchema,
    sql`select distinct on (customer.reference collate "C", party.ordinal, imported.import_id)
       ${partyFactsSql} as party, dropped.state, imported.imported_at as "droppedAt"
     from roster_import imported
     cross join lateral (
       select "partyId" as party_id, "accountId" as account_id, "customerVersion" as customer_version, state
       from jsonb_to_recordset(imported.dropped_parties)
         as row ("partyId" bigint, "accountId" bigint, "customerVersion" integer, state text)
     ) dropped
     ${joinPartySql('dropped')}
     where imported.run_id = any (${runIds}) and (${accountId}::bigint is null or dropped.account_id = ${accountId})
     order by customer.reference collate "C", party.ordinal, imported.import_id, dropped.state desc`,
  );
}

const runsShown = 30;

const pointRow = z
  .object({
    runId: z.number(),
    kind: z.enum(screeningKinds),
    startedAt: z.date(),
    finishedAt: z.date(),
    sums: runSumsSchema,
    waiting: z.number().nullable(),
  })
  .transform(
    ({ sums, waiting, ...run }): TrendPoint => ({
      runId: toRunId(run),
      finishedAt: run.finishedAt,
      seconds: Math.round((run.finishedAt.getTime() - run.startedAt.getTime()) / 1_000),
      searches: sums.counts.searches,
      notScreened: sums.states.not_screened,
      hits: sums.counts.hits,
      changes: sums.counts.changes,
      changesBySeverity: sums.changesBySeverity,
      waiting,
    }),
  );

/**
 * The last runs of a run's roster on the same account, oldest first, this run last. The result is the same at any later time, because a run with a
 * successor is never resumed.
 */
async function readRunTrend(database: Queryable, runId: number): Promise<readonly TrendPoint[]> {
  const newestFirst = await database.query(
    pointRow,
    sql`select former.run_id, former.kind, former.started_at, former.finished_at, former.sums,
       (former.open_alerts ->> 'waiting')::integer as waiting
     from run
     join run former on former.roster_id = run.roster_id and former.account_id = run.account_id and former.run_id <= run.run_id
     where run.run_id = ${runId} and former.kind in (${screeningKindsSql}) and former.finished_at is not null
       and former.sums is not null and (former.run_id = run.run_id or ${isWholeSql('former')})
     order by former.run_id desc
     limit ${runsShown}`,
  );
  return newestFirst.toReversed();
}

/** SQL: the last answer of the party of `screening` before `run`, from the history. */
const lastScreenedSql = sql`(
  select before.answered_at
  from run earlier
  join screening before on before.run_id = earlier.run_id and before.party_id = screening.party_id
  where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
    and before.outcome in ('screened', 'reused')
  order by earlier.run_id desc
  limit 1
)`;

/** SQL: the run stopped before the answer of `screening` was applied. */
const isWaitingSql = sql`screening.outcome in ('screened', 'reused') and screening.wave > (
  select stopped.applied_wave from run stopped where stopped.run_id = screening.run_id
)`;

/** SQL: parties in scope without a valid answer; a skipped party only where no earlier answer is still valid. */
const isNotScreenedSql = (runId: number): Sql => sql`screening.run_id = ${runId} and (
  screening.outcome in ('failed', 'remaining') or screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due' or ${isWaitingSql}
)`;

/** SQL: the party of an id without a record. */
const unreadPartySql = sql`jsonb_build_object('reference', gap.reference, 'role', 'customer', 'type', 'person', 'name', '',
  'birthDate', null, 'countries', '[]'::jsonb, 'riskTier', null)`;

// The history has a row for each party and night. It is read only where the state of the party is of this run or a later one.
/** SQL: the lines in the order of reports. */
const notScreenedSql = (runId: number): Sql => sql`
  select party, outcome, reason, "lastScreenedAt"
  from (
    select ${partyFactsSql} as party, case when ${isWaitingSql} then 'skipped' else screening.outcome end as outcome,
      case when ${isWaitingSql} then 'not_applied' else coalesce(screening.outcome_reason, 'remaining') end as reason,
      case when state.run_id >= run.run_id then ${lastScreenedSql} else state.screened_at end as "lastScreenedAt"
    from screening
    join run on run.run_id = screening.run_id
    left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
    ${joinPartySql('screening')}
    where ${isNotScreenedSql(runId)}
    union all
    select coalesce(own.party, ${unreadPartySql}), 'skipped', gap.reason, own.screened_at
    from run_gap gap
    left join lateral (
      select ${partyFactsSql} as party, state.screened_at
      from screening
      join run on run.run_id = screening.run_id
      ${joinPartySql('screening')}
      left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
      where screening.run_id = gap.run_id and party.customer_id = gap.customer_id
      order by party.ordinal limit 1
    ) own on true
    where gap.run_id = ${runId}
  ) line
  order by array_position(array[${toSqlList(listableOutcomes)}], outcome), reason collate "C",
    (party ->> 'reference') collate "C", (party ->> 'name') collate "C"`;

/** The parties that a run did not screen: the first `previewLines`, and a truncated list where there are more. */
async function readNotScreened(database: Queryable, lists: Pick<Database, 'cursor'>, runId: number) {
  const held = await database.query(notScreenedSchema, sql`${notScreenedSql(runId)} limit ${previewLines + 1}`);
  if (held.length <= previewLines) return { held, cut: null };
  const { lines, ...customers } = await countNotScreened(database, runId);
  const read = () => lists.cursor(notScreenedSchema, notScreenedSql(runId), 1_000);
  return { held: held.slice(0, previewLines), cut: { lines, customers, read } };
}

const countRow = z.object({ lines: z.number(), failed: z.number(), remaining: z.number(), skipped: z.number() });

/** Counts lines, and customers by the worst outcome of their parties. */
async function countNotScreened(database: Queryable, runId: number): Promise<z.infer<typeof countRow>> {
  return readRow(
    database,
    countRow,
    sql`select coalesce(sum(lines), 0)::integer as lines, count(*) filter (where has_failed)::integer as failed,
       count(*) filter (where has_remaining and not has_failed)::integer as remaining,
       count(*) filter (where not has_remaining and not has_failed)::integer as skipped
     from (
       select sum(lines) as lines, bool_or(has_failed) as has_failed, bool_or(has_remaining) as has_remaining
       from (
         select customer.reference, 1 as lines, outcome = 'failed' as has_failed, outcome = 'remaining' as has_remaining
         from screening join party using (party_id) join customer using (customer_id)
         where ${isNotScreenedSql(runId)}
         union all
         select reference, 1, false, false from run_gap where run_id = ${runId}
       ) line
       group by reference
     ) listed`,
  );
}
