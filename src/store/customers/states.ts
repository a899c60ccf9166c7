import { z } from 'zod';
import { runModes, worstTopics } from '../../vocabulary.js';
import { type Database, type Queryable, readColumn, readValue } from '../database/database.js';
import { type Sql, sql } from '../database/statement.js';
import { stateAtSql } from '../row-shapes.js';

const statusRow = z.object({
  roster: z.string(),
  reference: z.string(),
  state: z.string(),
  inScope: z.boolean(),
  worstTopic: z.enum(worstTopics).nullable(),
  waiting: z.number(),
  held: z.boolean(),
  reason: z
    .enum([
      'never',
      'changed',
      'expired',
      'unproven',
      'related_party_unreadable',
      'doubtful_name',
      'row_rejected',
      'conflicting_duplicate',
      'roster_held',
    ])
    .nullable(),
  because: z.string().nullable(),
  lastState: z.string().nullable(),
  asOf: z.date().nullable(),
  neverScreened: z.boolean(),
  dueAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  riskTier: z.enum(['high', 'medium', 'low']),
  mode: z.enum(runModes).nullable(),
  runId: z.string().nullable(),
  changedAt: z.date().nullable(),
});
/** The status of a customer, as in the view `customer_screening_status`. */
export type CustomerStatus = z.infer<typeof statusRow>;

const rowsAtOnce = 2_000;

/**
 * The current statuses of the customers in scope of these rosters, or of these customers, all as of one moment, by roster and reference.
 */
export function readCustomerStatuses(
  database: Database,
  organisation: string,
  rosters: readonly string[],
  customers: readonly string[] | null = null,
) {
  return database.cursor(
    statusRow,
    sql`select roster, reference, in_scope, state, worst_topic, waiting, held, reason, because, last_state, as_of, never_screened, due_at,
       expires_at, risk_tier, mode, run_id, changed_at
     from customer_screening_status
     where organisation = ${organisation} and roster = any (${rosters})
       and (${customers}::text[] is null or reference = any (${customers}))
     order by roster collate "C", reference collate "C"`,
    rowsAtOnce,
  );
}

/**
 * Judges customers at `now` by their answers, alerts and dispositions: stores their states, records each that has changed, and queues the change for
 * the webhooks of the organisation. `withNew`: also customers that had no state yet. Whatever changes a state must be done before, and
 * nobody decides until the transaction ends.
 */
export async function judgeCustomers(
  transaction: Queryable,
  /** Null for all rosters, accounts or customers. */
  of: { rosterId: number | null; accountId: number | null; customerIds: readonly number[] | null },
  { withNew, now }: { withNew: boolean; now: Date },
): Promise<void> {
  await transaction.execute(
    sql`select judge_customers(roster_id, account_id, ${of.customerIds}::bigint[], ${withNew}, ${now})
     from roster_account
     where roster_id = coalesce(${of.rosterId}, roster_id) and account_id = coalesce(${of.accountId}, account_id)
     order by roster_id, account_id`,
  );
}

/** Above this, judging all customers of a roster takes no longer than judging so many of them one by one. */
const mostSingly = 5_000;

/** The customers that a statement finds, or null (all customers) when they are too many to judge them one by one. */
async function findCustomers(transaction: Queryable, statement: Sql): Promise<readonly number[] | null> {
  const found = await readColumn(transaction, z.number(), sql`${statement} limit ${mostSingly + 1}`);
  return found.length > mostSingly ? null : found;
}

/** Judges, in the transaction of an import, whom it has changed: their records, whether they have left, and parties that cannot be read. */
export async function judgeImported(
  transaction: Queryable,
  { runId, rosterId }: { runId: number; rosterId: number },
  now: Date,
): Promise<void> {
  const customerIds = await findCustomers(
    transaction,
    sql`select customer_id from roster_import join customer_version using (import_id) join customer_state using (customer_id)
       where roster_import.run_id = ${runId}
     union select customer_id from roster_import join roster_standing using (import_id) where roster_import.run_id = ${runId}
     union select customer_id from customer where roster_id = ${rosterId} and unreadable_party_since is not null
     union select customer_id from customer join customer_state state using (customer_id)
       where customer.roster_id = ${rosterId} and state.reason = 'related_party_unreadable'`,
  );
  await judgeCustomers(transaction, { rosterId, accountId: null, customerIds }, { withNew: false, now });
}

/** Judges, and so records, whose screening has expired since, or no longer has by another screening frequency. */
export async function judgeExpired(
  transaction: Queryable,
  { rosterId, accountId }: { rosterId: number; accountId: number },
  now: Date,
): Promise<void> {
  const customerIds = await findCustomers(
    transaction,
    sql`select standing.customer_id
     from customer_standing standing
     join roster_account planned on planned.roster_id = standing.roster_id and planned.account_id = standing.account_id
     where standing.roster_id = ${rosterId} and standing.account_id = ${accountId} and standing.recorded_state <> ${stateAtSql('planned', now)}`,
  );
  await judgeCustomers(transaction, { rosterId, accountId, customerIds }, { withNew: false, now });
}

/** Notes why a run has no valid answer for customers of its plan. A failure stays until they are searched for again. */
export async function noteUnanswered(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(
    sql`update customer_state state
     set because = found.because, because_run_id = case when found.because is not null then found.run_id end, has_failed = found.has_failed
     from (
       select screening.run_id, run.account_id, party.customer_id, bool_or(screening.outcome = 'failed') as has_failed,
         coalesce(
           min(screening.outcome_reason) filter (where screening.outcome = 'failed'),
           max(screening.outcome) filter (where screening.outcome = 'remaining'),
           min(screening.outcome_reason) filter (where screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due')
         ) as because
       from screening
       join run on run.run_id = screening.run_id
       join party on party.party_id = screening.party_id
       where screening.run_id = ${runId}
       group by screening.run_id, run.account_id, party.customer_id
     ) found
     where state.account_id = found.account_id and state.customer_id = found.customer_id
       and (state.because, state.because_run_id, state.has_failed) is distinct from (
         found.because, case when found.because is not null then found.run_id end, found.has_failed
       )
       and coalesce(state.because_run_id <= found.run_id, true)
       and (found.has_failed or found.because is null or not state.has_failed)`,
  );
}

/** The customers in the plan of a run. */
export function readPlannedCustomers(transaction: Queryable, runId: number): Promise<readonly number[]> {
  return readColumn(
    transaction,
    z.number(),
    sql`select distinct party.customer_id from planned join party using (party_id) where planned.run_id = ${runId} order by 1`,
  );
}

/** The number of the newest change of state; 0 before the first. */
export function readLastStateChange(transaction: Queryable): Promise<number> {
  return readValue(transaction, z.number(), 'select coalesce(max(change_id), 0) as last from customer_state_change');
}
