import { z } from 'zod';
import {
  cadenceSchema,
  detailCountsSchema,
  healthSchema,
  openAlertsSchema,
  settledSchema,
  watchSchema,
} from '../vocabulary/facts.js';
import {
  type HaltCode,
  haltCodes,
  planSelections,
  type RunKind,
  type RunMode,
  type RunStage,
  runKinds,
  runModes,
  runStages,
  runStates,
} from '../vocabulary.js';
import { type Database, findRow, type Queryable, readColumn, readRow, readValue } from './database/database.js';
import { insertInto, rawSql, type Sql, sql, updateOf } from './database/statement.js';
import { queuePack } from './evidence/packs.js';
import { noteFailedParties } from './night/apply-answers.js';
import { noteBillableAttempts } from './night/ledger.js';
import { runSumsSchema } from './night/run-sums.js';
import { isWholeSql } from './operations/metrics.js';
import { isOfOrganisation } from './organisations.js';
import { screeningKindsSql } from './row-shapes.js';

/** Stores a new run in state `running`, with the process that works on it. */
export async function insertRun(
  database: Queryable,
  run: Pick<
    RunRow,
    | 'organisationId'
    | 'rosterId'
    | 'mode'
    | 'kind'
    | 'selection'
    | 'rosterFile'
    | 'leaseKey'
    | 'epoch'
    | 'owner'
    | 'settingsDigest'
    | 'settings'
    | 'version'
    | 'startedAt'
  > & { settingsId?: number | undefined },
): Promise<RunRow> {
  const row = { ...run, state: 'running', stage: 'started' };
  const stored = await readRow(database, runRow, sql`${insertInto('run', [row])} returning *`);
  const { epoch, owner, startedAt } = run;
  await saveRunWorker(database, stored.runId, { epoch, owner, takenAt: startedAt, differences: [] });
  return stored;
}

/**
 * Takes an open run over under a new epoch, in state `running`, and stores the changes since its start; replaces `rosterFile` and
 * `settingsId` unless undefined.
 */
export async function takeOverRun(
  database: Queryable,
  runId: number,
  holder: z.infer<typeof holderRow>,
  now: { rosterFile?: string | null | undefined; settingsId?: number | undefined } = {},
): Promise<RunRow> {
  const run = await readRow(
    database,
    runRow,
    sql`update run set state = 'running', state_reasons = '{}', halted_by = null, epoch = ${holder.epoch}, owner = ${holder.owner}, resumed = resumed + 1, finished_at = null, wave = wave + 1,
       roster_file = case when ${now.rosterFile !== undefined} then ${now.rosterFile ?? null} else roster_file end, settings_id = coalesce(${now.settingsId ?? null}, settings_id)
     where run_id = ${runId}
     returning *`,
  );
  await saveRunWorker(database, runId, holder);
  return run;
}

/** Whether an organisation only tries Nightscreen out: the key is a test key, and no run ever had a live one. */
export async function isOnTrial(database: Queryable, organisation: string, mode: RunMode): Promise<boolean> {
  if (mode === 'live') return false;
  return readValue(
    database,
    z.boolean(),
    sql`select not exists (
       select from run join organisation using (organisation_id) where organisation.name = ${organisation} and run.mode = 'live'
     ) as on_trial`,
  );
}

/** Stores values of a run. */
export async function updateRun(database: Queryable, runId: number, values: Partial<RunRow>): Promise<void> {
  await database.execute(sql`${updateOf('run', values)} where run.run_id = ${runId}`);
}

/** Stores the account of a run and returns the run's mode, which is the account's if there is one. */
export function setRunAccount(database: Queryable, runId: number, accountId: number | null): Promise<RunMode> {
  return readValue(
    database,
    z.enum(runModes),
    sql`update run set account_id = ${accountId},
       mode = coalesce((select case when is_test then 'test' else 'live' end from account where account_id = ${accountId}), mode)
     where run_id = ${runId}
     returning mode`,
  );
}

export async function closeRun(
  database: Queryable,
  runId: number,
  {
    stage,
    ...end
  }: Pick<RunRow, 'state' | 'stateReasons' | 'finishedAt' | 'sums'> & {
    haltedBy?: HaltCode | null;
    stage: RunStage | null;
  },
): Promise<void> {
  await updateRun(database, runId, { haltedBy: null, ...end, ...(stage && { stage }) });
  if (end.sums?.counts.failed !== 0) await noteFailedParties(database, runId);
  await noteBillableAttempts(database, runId);
  await queuePack(database, runId);
}

// The sums of 100,000 customers take about two seconds, of a million about 20 (measured on 2 cores); a process has eight to stop.
const addedUpAtStop = 100_000;

/** Whether a run has too many customers in scope for its sums to be computed while its process stops. */
export function isTooLargeToAddUp(database: Queryable, runId: number): Promise<boolean> {
  return readValue(
    database,
    z.boolean(),
    sql`select coalesce(in_scope, 0) > ${addedUpAtStop} as large from run where run_id = ${runId}`,
  );
}

export const runRow = z.object({
  /** When its plan and calls left the database; null while they are there. */
  historyRemovedAt: z.date().nullable(),
  runId: z.number(),
  organisationId: z.number(),
  rosterId: z.number().nullable(),
  accountId: z.number().nullable(),
  /** The mode of the run's key. */
  mode: z.enum(runModes),
  kind: z.enum(runKinds),
  state: z.enum(runStates),
  stateReasons: z.array(z.string()).readonly(),
  /** The code of the early stop; null without one. */
  haltedBy: z.enum(haltCodes).nullable(),
  stage: z.enum(runStages),
  selection: z.enum(planSelections).nullable(),
  /** The file given with the command instead of the configured source; `-` for standard input. */
  rosterFile: z.string().nullable(),
  leaseKey: z.string(),
  epoch: z.number(),
  owner: z.string(),
  resumed: z.number(),
  /** The wave that is being searched. */
  wave: z.number(),
  settingsDigest: z.string(),
  /** The settings at its start. */
  settings: z.record(z.string(), z.unknown()).nullable(),
  version: z.string(),
  comparedRunId: z.number().nullable(),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  sums: runSumsSchema.nullable(),
  /** The fingerprints of its keys in order of first use. */
  keys: z.array(z.string()).readonly(),
  /** The screening frequencies of its plan; null without a plan. */
  cadence: cadenceSchema.nullable(),
  /** The counts of its look-ups; null without any. */
  details: detailCountsSchema.nullable(),
  /** The rates of its answers; null until it is closed. */
  watch: watchSchema.nullable(),
  /** The health of its calls; null for a run that made none. */
  health: healthSchema.nullable(),
  /** What waited for reviewers when it closed; null for a run that is open. */
  openAlerts: openAlertsSchema.nullable(),
  /** The decided alerts when it closed; null for a run without alerts. */
  settledAlerts: settledSchema.nullable(),
});
export type RunRow = z.infer<typeof runRow>;

/** The newest open run under this lease, or null. */
export function findOpenRun(database: Queryable, leaseKey: string): Promise<RunRow | null> {
  return findRow(
    database,
    runRow,
    sql`select * from run where lease_key = ${leaseKey} and state in ('running', 'stopped') order by run_id desc limit 1`,
  );
}

export function readRun(database: Queryable, runId: number): Promise<RunRow | null> {
  return findRow(database, runRow, sql`select * from run where run_id = ${runId}`);
}

/** The run of this number if it belongs to the organisation; null otherwise. */
export function findRunOf(database: Queryable, organisation: string, runId: number): Promise<RunRow | null> {
  return findRow(
    database,
    runRow,
    sql`select * from run where run_id = ${runId} and ${isOfOrganisation('run', organisation)}`,
  );
}

/** The newest runs of an organisation, newest first. */
export async function readRuns(database: Queryable, organisation: string, limit: number): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    sql`select * from run where ${isOfOrganisation('run', organisation)} order by run_id desc limit ${limit}`,
  );
}

/** SQL: the run is a finished screening of the organisation. */
const isReportableSql = (organisation: string): Sql => sql`${isOfOrganisation('run', organisation)}
  and run.kind in (${screeningKindsSql}) and run.state in ('complete', 'incomplete', 'stopped')`;

/** The newest finished screening of each roster of an organisation, oldest first, for reports. */
export async function findReportableRuns(database: Queryable, organisation: string): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    sql`select * from run where run_id in (
       select max(run_id) from run where ${isReportableSql(organisation)} and ${isWholeSql('run')} group by roster_id
     )
     order by run_id`,
  );
}

/**
 * The runs of an organisation to mail, oldest first: the newest finished screening of each roster, and those of the week before with unsent
 * findings. Runs that were mailed in their present state are omitted.
 */
export async function findUnsentRuns(database: Queryable, organisation: string): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    sql`select run.* from run
     join (
       select roster_id, max(run_id) as run_id, max(started_at) as started_at from run
       where ${isReportableSql(organisation)} and ${isWholeSql('run')} group by roster_id
     ) newest on newest.roster_id = run.roster_id
     where ${isReportableSql(organisation)} and (
         run.run_id = newest.run_id
         or run.started_at > newest.started_at - interval '7 days'
           and exists (select from change_event where change_event.run_id = run.run_id)
       )
       and not exists (
         select from report
         where report.sent_at is not null
           and (report.run_id = run.run_id and report.created_at >= run.finished_at or run.run_id = any (report.earlier_run_ids))
       )
     order by run.run_id`,
  );
}

/**
 * The interrupted runs of a roster under an account since its last finished one; the rest of their plans is planned again. `before` is the
 * run that plans; null when it has not begun.
 */
export function findLeftRuns(
  database: Queryable,
  scope: { rosterId: number; accountId: number | null },
  before: number | null,
): Promise<readonly number[]> {
  return readColumn(
    database,
    z.number(),
    sql`with screening_run as (
       select run_id, state from run
       where roster_id = ${scope.rosterId} and account_id = ${scope.accountId} and kind in (${screeningKindsSql}) and ${isWholeSql('run')} and (${before}::bigint is null or run_id < ${before})
     )
     select run_id from screening_run
     where state in ('running', 'stopped', 'abandoned')
       and run_id > coalesce((select max(run_id) from screening_run where state in ('complete', 'incomplete')), 0)
     order by run_id`,
  );
}

/** When a run last saved anything. */
export function readLastActivity(database: Queryable, run: RunRow): Promise<Date> {
  return readValue(
    database,
    z.date(),
    sql`select greatest(${run.startedAt}::timestamptz, ${run.finishedAt}::timestamptz, max(committed_at)) as last from batch where run_id = ${run.runId}`,
  );
}

/** The name of a run for people and folders: UTC date, kind, number. */
export function toRunId(run: { runId: number; kind: RunKind; startedAt: Date }): string {
  return `${run.startedAt.toISOString().slice(0, 10)}-${run.kind}-${run.runId}`;
}

/** SQL: the same name from a row of `run`. */
export const runIdSql = (run: string): Sql => {
  const row = rawSql(run);
  return sql`to_char(${row}.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || ${row}.kind || '-' || ${row}.run_id`;
};

const holderRow = z.object({
  epoch: z.number(),
  owner: z.string(),
  takenAt: z.date(),
  differences: z.array(z.string()).readonly(),
});
/** Notes a process that works on a run from now on, or only makes searches of it, under the next number of the run. Returns the number. */
export async function saveRunWorker(
  transaction: Queryable,
  runId: number,
  { epoch, owner, takenAt, differences }: z.infer<typeof holderRow>,
  hasJoined = false,
): Promise<number> {
  // One after another: two processes that join at once would take the same number.
  await transaction.execute(sql`select from run where run_id = ${runId} for no key update`);
  return readValue(
    transaction,
    z.number(),
    sql`insert into run_worker (run_id, worker, epoch, owner, taken_at, differences, has_joined)
     select ${runId}, coalesce(max(worker), 0) + 1, ${epoch}, ${owner}, ${takenAt}, ${differences}, ${hasJoined}
     from run_worker where run_id = ${runId}
     returning worker`,
  );
}

/** The number of a process in a run that it works on. */
export function readWorkerNumber(database: Queryable, runId: number, owner: string): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select max(worker) as worker from run_worker where run_id = ${runId} and owner = ${owner} and not has_joined`,
  );
}

/** The processes that began a run and resumed it, in order. */
export async function readRunHolders(database: Queryable, runId: number) {
  return database.query(
    holderRow,
    sql`select epoch, owner, taken_at, differences from run_worker where run_id = ${runId} and not has_joined order by worker`,
  );
}

/** Stores the key of a run by its fingerprint; a known key keeps its place. */
export async function noteRunKey(database: Queryable, runId: number, fingerprint: string): Promise<void> {
  await database.execute(
    sql`update run set keys = array_append(keys, ${fingerprint}) where run_id = ${runId} and ${fingerprint} <> all (keys)`,
  );
}

/** What is partitioned by run, with the columns that statements need to know. */
const partitioned = [
  ['planned', '(run_id, party_id, request_id)'],
  ['call', '(run_id, request_id)'],
] as const;

/**
 * Updates the database's statistics of a run that was planned, is resumed, makes another pass or is to be closed. Without them, statements about a
 * whole run are planned for empty tables and take minutes instead of seconds. Outside other transactions, because its locks would block runs.
 */
export async function refreshRunStatistics(database: Database, runId: number): Promise<void> {
  const first = runId - (runId % 256);
  const own = partitioned.map(([table, columns]) => `${table}_runs_${first}_${first + 255} ${columns}`);
  await database.execute(
    sql`analyze change (run_id, party_id, is_baseline, cause), next_state (run_id, party_id), party_state (account_id, party_id, run_id), alert (account_id, party_id),
       ${rawSql(own.join(', '))}`,
  );
  // To analyse a whole table reads all its history (12 ranges took 0.4 s, the own one 0.12 s), and no autovacuum does it: only once it has doubled.
  const grown = await readColumn(
    database,
    z.string(),
    sql`select parent.relname::text from pg_class parent
     where parent.oid = any (${partitioned.map(([table]) => table)}::text[]::regclass[]) and 2 * greatest(parent.reltuples, 0) < (
       select sum(greatest(part.reltuples, 0)) from pg_inherits join pg_class part on part.oid = inhrelid where inhparent = parent.oid
     )`,
  );
  const whole = partitioned.filter(([table]) => grown.includes(table));
  if (whole.length > 0) await database.execute(sql`analyze ${rawSql(whole.map((one) => one.join(' ')).join(', '))}`);
}
