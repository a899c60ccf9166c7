import { z } from 'zod';
import type { RunKind, RunState } from '../reports/run-facts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { type RunSums, runSumsSchema } from './run-sums.js';
import type { PlanSelection } from './screening-plan.js';

const runProgress = z.enum(['started', 'imported', 'planned', 'screened', 'finished']);
/** How far a run has come; it goes on from here when it is resumed. */
export type RunProgress = z.infer<typeof runProgress>;

/** A run as stored. */
export interface RunRow {
  runId: number;
  organisationId: number;
  rosterId: number | null;
  accountId: number | null;
  /** Mode of the key that the run works with. */
  mode: 'test' | 'live';
  kind: RunKind;
  state: RunState;
  stateReasons: readonly string[];
  stage: RunProgress;
  selection: PlanSelection | null;
  leaseKey: string;
  epoch: number;
  owner: string;
  resumed: number;
  settingsDigest: string;
  keyFingerprint: string | null;
  version: string;
  comparedRunId: number | null;
  startedAt: Date;
  finishedAt: Date | null;
  sums: RunSums | null;
}

const runRow = z
  .object({
    run_id: z.number(),
    organisation_id: z.number(),
    roster_id: z.number().nullable(),
    account_id: z.number().nullable(),
    mode: z.enum(['test', 'live']),
    kind: z.enum(['import', 'screen', 'rescreen', 'onboard', 'sweep']),
    state: z.enum(['running', 'complete', 'incomplete', 'stopped', 'unbalanced', 'refused', 'abandoned']),
    state_reasons: z.array(z.string()),
    stage: runProgress,
    selection: z.enum(['due', 'new', 'all']).nullable(),
    lease_key: z.string(),
    epoch: z.number(),
    owner: z.string(),
    resumed: z.number(),
    settings_digest: z.string(),
    key_fingerprint: z.string().nullable(),
    version: z.string(),
    compared_run_id: z.number().nullable(),
    started_at: z.date(),
    finished_at: z.date().nullable(),
    sums: runSumsSchema.nullable(),
  })
  .transform(
    (row): RunRow => ({
      runId: row.run_id,
      organisationId: row.organisation_id,
      rosterId: row.roster_id,
      accountId: row.account_id,
      mode: row.mode,
      kind: row.kind,
      state: row.state,
      stateReasons: row.state_reasons,
      stage: row.stage,
      selection: row.selection,
      leaseKey: row.lease_key,
      epoch: row.epoch,
      owner: row.owner,
      resumed: row.resumed,
      settingsDigest: row.settings_digest,
      keyFingerprint: row.key_fingerprint,
      version: row.version,
      comparedRunId: row.compared_run_id,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      sums: row.sums,
    }),
  );

/** What a run is begun with. */
export interface NewRun {
  organisationId: number;
  rosterId: number | null;
  mode: 'test' | 'live';
  kind: RunKind;
  selection: PlanSelection | null;
  leaseKey: string;
  epoch: number;
  owner: string;
  settingsDigest: string;
  version: string;
  startedAt: Date;
}

/** Stores a new run in state `running`. */
export async function insertRun(database: Queryable, run: NewRun): Promise<RunRow> {
  const rows = await database.query(
    runRow,
    `insert into run (
       organisation_id, roster_id, mode, kind, selection, state, stage, lease_key, epoch, owner, settings_digest, version, started_at
     )
     values ($1, $2, $3, $4, $5, 'running', 'started', $6, $7, $8, $9, $10, $11)
     returning *`,
    [
      run.organisationId,
      run.rosterId,
      run.mode,
      run.kind,
      run.selection,
      run.leaseKey,
      run.epoch,
      run.owner,
      run.settingsDigest,
      run.version,
      run.startedAt,
    ],
  );
  return firstRow(rows, 'run');
}

/** The newest run under this lease that never came to its end, or null. */
export async function findOpenRun(database: Queryable, leaseKey: string): Promise<RunRow | null> {
  const rows = await database.query(
    runRow,
    `select * from run where lease_key = $1 and state in ('running', 'stopped') order by run_id desc limit 1`,
    [leaseKey],
  );
  return rows[0] ?? null;
}

/** Takes an open run over: state `running` again, written under the new epoch. */
export async function takeOverRun(database: Queryable, runId: number, epoch: number, owner: string): Promise<RunRow> {
  const rows = await database.query(
    runRow,
    `update run set state = 'running', state_reasons = '{}', epoch = $2, owner = $3, resumed = resumed + 1, finished_at = null
     where run_id = $1
     returning *`,
    [runId, epoch, owner],
  );
  return firstRow(rows, 'run');
}

/** Notes how far a run has come. */
export async function setRunStage(database: Queryable, runId: number, stage: RunProgress): Promise<void> {
  await database.execute('update run set stage = $2 where run_id = $1', [runId, stage]);
}

/** Notes under which account and key a run works. */
export async function setRunAccount(
  database: Queryable,
  runId: number,
  accountId: number | null,
  keyFingerprint: string | null,
): Promise<void> {
  await database.execute('update run set account_id = $2, key_fingerprint = $3 where run_id = $1', [
    runId,
    accountId,
    keyFingerprint,
  ]);
}

/** Notes the run whose results this one is compared with: the roster's last finished screening under the same account. */
export async function setComparedRun(database: Queryable, runId: number): Promise<void> {
  await database.execute(
    `update run set compared_run_id = (
       select max(earlier.run_id) from run earlier
       where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
         and earlier.kind <> 'import' and earlier.state in ('complete', 'incomplete')
     )
     where run_id = $1`,
    [runId],
  );
}

/** Closes a run in its final state with its sums. */
export async function closeRun(
  database: Queryable,
  runId: number,
  end: {
    state: RunState;
    stateReasons: readonly string[];
    stage: RunProgress | null;
    finishedAt: Date;
    sums: RunSums | null;
  },
): Promise<void> {
  await database.execute(
    `update run set state = $2, state_reasons = $3, stage = coalesce($4, stage), finished_at = $5, sums = $6::text::jsonb
     where run_id = $1`,
    [
      runId,
      end.state,
      [...end.stateReasons],
      end.stage,
      end.finishedAt,
      end.sums === null ? null : JSON.stringify(end.sums),
    ],
  );
}

/** The run with this number, or null. */
export async function readRun(database: Queryable, runId: number): Promise<RunRow | null> {
  const rows = await database.query(runRow, 'select * from run where run_id = $1', [runId]);
  return rows[0] ?? null;
}

/** The newest runs, newest first. */
export async function readRuns(database: Queryable, limit: number): Promise<readonly RunRow[]> {
  return database.query(runRow, 'select * from run order by run_id desc limit $1', [limit]);
}

/** The newest finished screening of each roster, oldest first: what there is to report on. */
export async function findReportableRuns(database: Queryable): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    `select * from run where run_id in (
       select max(run_id) from run
       where kind in ('screen', 'rescreen', 'onboard') and state in ('complete', 'incomplete', 'stopped')
       group by roster_id
     )
     order by run_id`,
  );
}

/**
 * What there is to mail, oldest first: of each roster the newest finished screening, and those of the week before it whose findings
 * were never mailed; none that has been mailed as it now stands.
 */
export async function findUnsentRuns(database: Queryable): Promise<readonly RunRow[]> {
  return database.query(
    runRow,
    `select run.* from run
     join (
       select roster_id, max(run_id) as run_id, max(started_at) as started_at from run
       where kind in ('screen', 'rescreen', 'onboard') and state in ('complete', 'incomplete', 'stopped')
       group by roster_id
     ) newest on newest.roster_id = run.roster_id
     where run.kind in ('screen', 'rescreen', 'onboard') and run.state in ('complete', 'incomplete', 'stopped')
       and (
         run.run_id = newest.run_id
         or run.started_at > newest.started_at - interval '7 days'
           and exists (select from change_event where change_event.run_id = run.run_id and not is_baseline)
       )
       and not exists (
         select from report
         where report.run_id = run.run_id and report.sent_at is not null and report.created_at >= run.finished_at
       )
     order by run.run_id`,
  );
}

/** When a run last saved anything. */
export async function readLastActivity(database: Queryable, run: RunRow): Promise<Date> {
  const rows = await database.query(
    z.object({ last: z.date() }),
    `select greatest($2::timestamptz, $3::timestamptz, max(committed_at)) as last from commit_batch where run_id = $1`,
    [run.runId, run.startedAt, run.finishedAt],
  );
  return firstRow(rows, 'commit_batch').last;
}
