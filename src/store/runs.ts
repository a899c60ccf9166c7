import { z } from 'zod';
import type { HaltCode, RunKind, RunState } from '../reports/run-facts.js';
import { noteBillableAttempts } from './budget-usage.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { holdStates } from './party-states.js';
import { type RunProgress, type RunRow, runRow } from './run-row.js';
import type { RunSums } from './run-sums.js';
import type { PlanSelection } from './screening-plan.js';

/** What a run is begun with. */
interface NewRun {
  organisationId: number;
  rosterId: number | null;
  mode: 'test' | 'live';
  kind: RunKind;
  selection: PlanSelection | null;
  /** The file that was given with the command in place of the configured source. */
  rosterFile: string | null;
  leaseKey: string;
  epoch: number;
  owner: string;
  settingsDigest: string;
  settings: Readonly<Record<string, unknown>>;
  /** The accepted settings that it is begun under; left out where it is judged by none. */
  settingsRecordId?: number | undefined;
  version: string;
  startedAt: Date;
}

/** Stores a new run in state `running`. */
export async function insertRun(database: Queryable, run: NewRun): Promise<RunRow> {
  const rows = await database.query(
    runRow,
    `insert into run (
       organisation_id, roster_id, mode, kind, selection, state, stage, lease_key, epoch, owner, settings_digest, version, started_at,
       settings, roster_file, settings_record_id
     )
     values ($1, $2, $3, $4, $5, 'running', 'started', $6, $7, $8, $9, $10, $11, $12::text::jsonb, $13, $14)
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
      JSON.stringify(run.settings),
      run.rosterFile,
      run.settingsRecordId ?? null,
    ],
  );
  return firstRow(rows, 'run');
}

/** Takes an open run over: state `running` again, written under the new epoch; `rosterFile` and `settingsRecordId` as of now unless left out. */
export async function takeOverRun(
  database: Queryable,
  runId: number,
  { epoch, owner }: { epoch: number; owner: string },
  now: { rosterFile?: string | null | undefined; settingsRecordId?: number | undefined } = {},
): Promise<RunRow> {
  const rows = await database.query(
    runRow,
    `update run set state = 'running', state_reasons = '{}', halted_by = null, epoch = $2, owner = $3, resumed = resumed + 1, finished_at = null,
       roster_file = case when $4 then $5 else roster_file end, settings_record_id = coalesce($6, settings_record_id)
     where run_id = $1
     returning *`,
    [runId, epoch, owner, now.rosterFile !== undefined, now.rosterFile ?? null, now.settingsRecordId ?? null],
  );
  return firstRow(rows, 'run');
}

/** Notes how far a run has come. */
export async function setRunStage(database: Queryable, runId: number, stage: RunProgress): Promise<void> {
  await database.execute('update run set stage = $2 where run_id = $1', [runId, stage]);
}

/** Notes under which account a run works; gives the run's mode, which is the account's where there is one. */
export async function setRunAccount(
  database: Queryable,
  runId: number,
  accountId: number | null,
): Promise<'test' | 'live'> {
  const rows = await database.query(
    z.object({ mode: z.enum(['test', 'live']) }),
    `update run set account_id = $2,
       mode = coalesce((select case when is_test then 'test' else 'live' end from account where account_id = $2), mode)
     where run_id = $1
     returning mode`,
    [runId, accountId],
  );
  return firstRow(rows, 'run').mode;
}

/**
 * Notes the run whose results this one is compared with: the roster's last finished screening under the same account, without those of
 * which a failed control search left nothing.
 */
export async function setComparedRun(database: Queryable, runId: number): Promise<void> {
  await database.execute(
    `update run set compared_run_id = (
       select max(earlier.run_id) from run earlier
       where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
         and earlier.kind <> 'import' and earlier.state in ('complete', 'incomplete')
         and not (
           exists (select from canary_outcome canary where canary.run_id = earlier.run_id and canary.verdict = 'failed')
           and (earlier.sums #>> '{counts,screened}')::bigint + (earlier.sums #>> '{counts,reused}')::bigint = 0
         )
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
    haltedBy?: HaltCode | null;
    stage: RunProgress | null;
    finishedAt: Date;
    sums: RunSums | null;
  },
): Promise<void> {
  await database.execute(
    `update run set state = $2, state_reasons = $3, stage = coalesce($4, stage), finished_at = $5, sums = $6::text::jsonb,
       halted_by = $7
     where run_id = $1`,
    [
      runId,
      end.state,
      [...end.stateReasons],
      end.stage,
      end.finishedAt,
      end.sums === null ? null : JSON.stringify(end.sums),
      end.haltedBy ?? null,
    ],
  );
  await noteFailedParties(database, runId);
  await noteBillableAttempts(database, runId);
}

/** Gives a run that has been closed the state and the reasons that only its end has shown. */
export async function addRunReasons(
  database: Queryable,
  runId: number,
  { state, reasons }: { state: RunState; reasons: readonly string[] },
): Promise<void> {
  await database.execute('update run set state = $2, state_reasons = $3 where run_id = $1', [
    runId,
    state,
    [...reasons],
  ]);
}

// Adding up 100,000 customers takes about two seconds, a million about 20 (measured on 2 cores): a process that is asked to stop has eight.
const addedUpAtStop = 100_000;

/** Whether a run has too many customers in scope to be added up while its process is being stopped. */
export async function isTooLargeToAddUp(database: Queryable, runId: number): Promise<boolean> {
  const rows = await database.query(
    z.object({ large: z.boolean() }),
    'select coalesce(in_scope, 0) > $2 as large from run where run_id = $1',
    [runId, addedUpAtStop],
  );
  return rows[0]?.large ?? false;
}

/** Notes which parties a run failed to screen, so that the next plan asks about them whatever their cadence says. */
async function noteFailedParties(transaction: Queryable, runId: number): Promise<void> {
  await holdStates(
    transaction,
    `select run.account_id, screening.party_id from screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and screening.outcome = 'failed'`,
    [runId],
  );
  await transaction.execute(
    `update party_state set failed_run_id = screening.run_id
     from screening join run on run.run_id = screening.run_id
     where screening.run_id = $1 and screening.outcome = 'failed'
       and party_state.account_id = run.account_id and party_state.party_id = screening.party_id`,
    [runId],
  );
}
