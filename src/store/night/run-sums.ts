import { z } from 'zod';
import {
  count,
  type FactsOf,
  runCountsSchema,
  severityCountsSchema,
  stateCountsSchema,
} from '../../vocabulary/facts.js';
import { type CustomerState, customerStates, type ListableOutcome } from '../../vocabulary.js';
import { findRow, type Queryable, readRow, readValue } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { toSqlList } from '../row-shapes.js';
import { readMatchSets } from './responses.js';
import { type AnswerFindings, readAnswerFindings } from './run-health.js';

/** The sums of a screening run, fixed at its close; the shape of `run.sums`. */
export const runSumsSchema = z.object({
  counts: runCountsSchema,
  states: stateCountsSchema,
  failedBecause: z.record(z.string(), count),
  skippedBecause: z.record(z.string(), count),
  /** Answered customers that count as not screened, because a related party is unreadable, a name is in doubt, or rows contradict each other. */
  unreadableParties: count,
  baseline: severityCountsSchema,
  changesBySeverity: severityCountsSchema,
  attemptsByOutcome: z.record(z.string(), count),
  possiblyBilledTwice: count,
});
export type RunSums = FactsOf<typeof runSumsSchema>;

const tally = z.record(z.string(), z.number());
const customersRow = z.object({
  sums: tally,
  states: tally,
  searches: z.number(),
  failedBecause: tally,
  skippedBecause: tally,
  unreadableParties: z.number(),
});
const rowsRow = z.object({ rows: z.number(), customers: z.number(), rejected: z.number(), duplicates: z.number() });
const attemptsRow = z.object({ name: z.string(), isUnanswered: z.boolean(), count: z.number() });
const changesRow = z.object({ isBaseline: z.boolean(), severity: z.string(), count: z.number() });

const nothingFound = { critical: 0, high: 0, medium: 0, low: 0, info: 0 };

/**
 * Computes the sums of a run from its screenings, attempts, answers and change events. `held` avoids a second pass over the answers, and
 * `isJudged` one whose customers were judged in the same transaction.
 */
export async function computeRunSums(
  database: Queryable,
  runId: number,
  { held, isJudged = false }: { held?: Pick<AnswerFindings, 'matches' | 'hits'>; isJudged?: boolean } = {},
): Promise<RunSums> {
  // Independent statements are sent together.
  const [customers, imported, changes, attempts, { matches, hits }] = await Promise.all([
    sumCustomers(database, runId, isJudged),
    readImportedRows(database, runId),
    countChanges(database, runId),
    countAttempts(database, runId),
    held ?? readAnswerFindings(database, runId),
  ]);
  const { searches, failedBecause, skippedBecause, unreadableParties } = customers;
  return runSumsSchema.parse({
    counts: {
      ...imported,
      ...customers.sums,
      searches,
      attempts: attempts.total,
      matches,
      hits,
      changes: changes.total,
    },
    states: customers.states,
    failedBecause,
    skippedBecause,
    unreadableParties,
    baseline: { ...nothingFound, ...changes.baseline },
    changesBySeverity: { ...nothingFound, ...changes.found },
    attemptsByOutcome: attempts.byOutcome,
    possiblyBilledTwice: attempts.areUnanswered ? await countBilledTwice(database, runId) : 0,
  });
}

/** SQL: the number of customers by name, in the order of the names. */
const tallySql = (name: Sql, where: Sql): Sql => sql`
  (select coalesce(json_object_agg(name, count order by name), '{}')
   from (select ${name} as name, count(*) as count from customer where ${where} group by ${name}) tally)`;

/** SQL: the states of a customer, best first (DESIGN: The one rule); the last one of its parties counts. */
const customerStatesSql = sql`array[${toSqlList(customerStates)}]`;
const toPlace = (state: CustomerState): number => customerStates.indexOf(state) + 1;

/** SQL: a state and its number of customers, those without an accepted record included. */
const toStateCount = (state: CustomerState): string => {
  const customers = `count(*) filter (where worst = ${toPlace(state)})`;
  return state === 'not_screened' ? `'${state}', ${customers} + max(unaccepted.ids)` : `'${state}', ${customers}`;
};

/**
 * SQL: the worst state by answers and alerts of each customer (`customer_id`) of a run, of those of its parties that meet a condition, and
 * whether one of them has no answer that counts.
 */
const worstStatesSql = (runId: number, condition: Sql): Sql => sql`
  select party.customer_id, bool_or(party.answer_state is null) as has_none,
    max(array_position(${customerStatesSql}, case
      when party.is_true_match then 'true_match'
      when party.waiting > 0 then 'open_alert'
      else party.answer_state
    end)) as worst
  from run join party_standing party on party.roster_id = run.roster_id and party.account_id = run.account_id
  where run.run_id = ${runId} and ${condition} and party.party_id in (select party_id from own)
  group by party.customer_id`;

/** SQL: the customers of the roster of a run whose answers make nobody clear: with an unreadable related party, or a doubtful name. */
const unreadableSql = (runId: number): Sql => sql`
  select customer_id from customer join run using (roster_id) where run_id = ${runId} and unreadable_party_since is not null
  union
  select customer_id from customer_version latest
  join customer using (customer_id, version)
  join run using (roster_id)
  where run_id = ${runId} and latest.has_doubtful_name`;

/** SQL: the same by the states that this transaction has judged; customers who are offboarded meanwhile have none. */
const judgedStatesSql = (runId: number): Sql => sql`
  select own.customer_id, case when state.customer_id is null then judged.has_none else state.reason is not distinct from 'never' end as has_none,
    coalesce(array_position(${customerStatesSql}, state.last_state), judged.worst) as worst
  from (select distinct customer_id from own) own
  join run on run.run_id = ${runId}
  left join customer_state state on state.account_id = run.account_id and state.customer_id = own.customer_id
  left join lateral (
    ${worstStatesSql(runId, sql`state.customer_id is null and party.customer_id = own.customer_id`)}
  ) judged on true`;

/** Counts each customer of the run once: failed before remaining before screened before skipped, and the worst state of its parties. */
function sumCustomers(database: Queryable, runId: number, isJudged: boolean): Promise<z.infer<typeof customersRow>> {
  return readRow(
    database,
    customersRow,
    sql`with own as materialized (
       select party.party_id, party.customer_id, party.is_current, party.ordinal, screening.request_id, screening.outcome, screening.outcome_reason,
         screening.wave is not null and not screening.is_reused as is_searched,
         screening.outcome in ('screened', 'reused') or coalesce(screening.outcome_reason = 'not_due', false) as is_valid
       from screening
       join party using (party_id)
       where screening.run_id = ${runId}
     ),
     customer as materialized (
       select own.customer_id, bool_or(outcome <> 'skipped') as is_planned,
         bool_or(outcome = 'failed') as has_failed, bool_or(outcome = 'remaining') as has_remaining,
         bool_and(outcome in ('screened', 'reused', 'skipped')) as is_answered,
         bool_and(outcome in ('reused', 'skipped')) as is_reused,
         min(outcome_reason) filter (where outcome = 'failed') as failed_because,
         coalesce(
           min(outcome_reason) filter (where outcome = 'skipped' and outcome_reason <> 'not_due'),
           min(outcome_reason) filter (where outcome = 'skipped')
         ) as skipped_because,
         -- A party that is no longer in the roster, without a waiting alert, does not affect its customer's state.
         greatest(coalesce(min(standing.worst), ${toPlace('clear')}::integer), case
           when bool_or(is_current and (not is_valid or standing.has_none is not false)) or bool_or(unreadable.customer_id is not null) or min(ordinal) > 0
             then ${toPlace('not_screened')}::integer
         end) as worst,
         -- Without an accepted row, with an unreadable related party, or with a doubtful name.
         bool_or(unreadable.customer_id is not null) or min(ordinal) > 0 as is_unreadable
       from own
       left join (${isJudged ? judgedStatesSql(runId) : worstStatesSql(runId, sql`true`)}) standing on standing.customer_id = own.customer_id
       left join (${unreadableSql(runId)}) unreadable on unreadable.customer_id = own.customer_id
       group by own.customer_id
     )
     , unaccepted as materialized (
       select coalesce(run.unaccepted, '{}') as by_reason,
         (select coalesce(sum(ids::integer), 0) from jsonb_each_text(coalesce(run.unaccepted, '{}')) reason (name, ids)) as ids
       from run where run_id = ${runId}
     )
     select jsonb_build_object(
         'inScope', coalesce((select in_scope from run where run_id = ${runId}), 0),
         'planned', count(*) filter (where is_planned),
         'skipped', count(*) filter (where not is_planned) + max(unaccepted.ids),
         'failed', count(*) filter (where has_failed),
         'remaining', count(*) filter (where has_remaining and not has_failed),
         'reused', count(*) filter (where is_planned and is_reused),
         'screened', count(*) filter (where is_planned and is_answered and not is_reused)
       ) as sums,
       jsonb_build_object(${rawSql(customerStates.map(toStateCount).join(', '))}) as states,
       (count(*) filter (where is_unreadable and is_answered and worst = ${toPlace('not_screened')}))::integer as "unreadableParties",
       (select count(distinct request_id)::integer from own where is_searched) as searches,
       ${tallySql(sql`failed_because`, sql`has_failed`)} as "failedBecause",
       to_json(${tallySql(sql`skipped_because`, sql`not is_planned`)}::jsonb || (select by_reason from unaccepted)) as "skippedBecause"
     from unaccepted left join customer on true`,
  );
}

async function readImportedRows(database: Queryable, runId: number): Promise<z.infer<typeof rowsRow>> {
  const imported = await findRow(
    database,
    rowsRow,
    sql`select rows, customers, rejected, duplicates from roster_import where run_id = ${runId} order by import_id desc limit 1`,
  );
  return imported ?? { rows: 0, customers: 0, rejected: 0, duplicates: 0 };
}

/** The changes of a run and the matches of first screenings, by severity. */
async function countChanges(database: Queryable, runId: number) {
  const rows = await database.query(
    changesRow,
    sql`select is_baseline, severity, count(*)::integer as count
     from change_event where run_id = ${runId} group by is_baseline, severity`,
  );
  const baseline = rows.filter(({ isBaseline }) => isBaseline);
  const found = rows.filter(({ isBaseline }) => !isBaseline);
  return {
    total: found.reduce((sum, { count }) => sum + count, 0),
    found: Object.fromEntries(found.map(({ severity, count }) => [severity, count])),
    baseline: Object.fromEntries(baseline.map(({ severity, count }) => [severity, count])),
  };
}

const isUnansweredSql = sql`outcome in ('unknown', 'timeout', 'connection')`;

/** The sent calls by status, else by outcome. */
async function countAttempts(database: Queryable, runId: number) {
  const rows = await database.query(
    attemptsRow,
    sql`select coalesce(case when outcome = 'error_status' then status::text end, outcome) as name,
       ${isUnansweredSql} as "isUnanswered", count(*)::integer as count
     from call where run_id = ${runId} and outcome not in ('not_sent', 'in_flight')
     group by outcome, name order by name`,
  );
  return {
    total: rows.reduce((sum, { count }) => sum + count, 0),
    byOutcome: Object.fromEntries(rows.map(({ name, count }) => [name, count])),
    areUnanswered: rows.some(({ isUnanswered }) => isUnanswered),
  };
}

/** The number of calls without a known answer that were sent, or may have been, and then repeated. */
function countBilledTwice(database: Queryable, runId: number): Promise<number> {
  return readValue(
    database,
    z.number(),
    sql`select count(*)::integer as calls
     from call unanswered where unanswered.run_id = ${runId} and ${isUnansweredSql} and exists (
       select from call again
       where again.run_id = ${runId} and again.request_id = unanswered.request_id
         and (again.worker, again.number) > (unanswered.worker, unanswered.number)
         and again.outcome <> 'not_sent'
     )`,
  );
}

/** The findings in the answers of a run so far. */
export function countFound(database: Queryable, runId: number): Promise<{ matches: number; hits: number }> {
  return readRow(
    database,
    z.object({ matches: z.number(), hits: z.number() }),
    sql`select coalesce(sum(response.matches), 0)::integer as matches, coalesce(sum(response.hits), 0)::integer as hits
     from (select distinct request_id, response_id from screening where run_id = ${runId} and outcome = 'screened') answered
     join response using (response_id)`,
  );
}

const balanceRow = z.object({
  rows: z.number(),
  customers: z.number(),
  rejected: z.number(),
  duplicates: z.number(),
  /** Counted from the roster with the plan. */
  inScope: z.number(),
  inPlan: z.number(),
  planned: z.number(),
  skipped: z.number(),
  screened: z.number(),
  reused: z.number(),
  failed: z.number(),
  remaining: z.number(),
  /** Searches of screened customers, and those that the ledger has as called and answered in this run. */
  answeredSearches: z.number(),
  recordedSearches: z.number(),
});
/** The counts of a run in the view `run_balance`, in customers unless the name differs; throws StoreError when there is no such run. */
export function readRunBalance(database: Queryable, runId: number) {
  return readRow(
    database,
    balanceRow,
    sql`select rows, customers, rejected, duplicates, in_scope, in_plan + unaccepted.ids as "inPlan", planned, skipped + unaccepted.ids as skipped, screened, reused,
       failed, remaining, answered_searches, recorded_searches
     from run_balance
     -- Ids without an accepted record are in scope but in no plan.
     cross join lateral (
       select coalesce(sum(ids::integer), 0)::integer as ids
       from run, jsonb_each_text(coalesce(run.unaccepted, '{}')) reason (name, ids)
       where run.run_id = run_balance.run_id
     ) unaccepted
     where run_id = ${runId}`,
  );
}

/** Adds up a run without customers: its calls, its `made` searches, and the matches of their answers. */
export async function addUpSearches(
  transaction: Queryable,
  runId: number,
  { made, responseIds }: { made: number; responseIds: readonly number[] },
): Promise<RunSums> {
  const sums = await computeRunSums(transaction, runId);
  const matchSets = await readMatchSets(transaction, responseIds);
  const matches = responseIds.flatMap((responseId) => matchSets.get(responseId)?.matches ?? []);
  const hits = matches.filter((match) => match.isHit).length;
  return { ...sums, counts: { ...sums.counts, searches: made, matches: matches.length, hits } };
}

const listedRow = z.object({
  reference: z.string(),
  /** The plan reason. */
  planned: z.string(),
  /** The reason of a failed or skipped customer; null for a remaining one. */
  because: z.string().nullable(),
});

/** Counts the planned customers of a run by reason; a customer with several parties counts under each of their reasons. */
export async function countPlanReasons(database: Queryable, runId: number): Promise<Readonly<Record<string, number>>> {
  const rows = await database.query(
    z.object({ name: z.string(), count: z.number() }),
    sql`select plan_reason as name, count(distinct party.customer_id) as count
     from screening join party using (party_id)
     where run_id = ${runId} and outcome <> 'skipped' group by plan_reason order by plan_reason`,
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** SQL: the place of a party's outcome; the last one of its parties is that of a customer. */
const urgencySql = (outcome: Sql): Sql =>
  sql`array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], ${outcome})`;

/**
 * A page of the failed, skipped or remaining customers of a run, in the order of their references after `after`. A customer with one failed
 * party is failed.
 */
export async function listRunCustomers(
  database: Queryable,
  runId: number,
  outcome: ListableOutcome,
  page: { after: string | null; limit: number },
) {
  return database.query(
    listedRow,
    sql`select customer.reference, min(screening.plan_reason) as planned,
       min(screening.outcome_reason) filter (where screening.outcome = ${outcome}) as because
     from screening
     join party using (party_id)
     join customer using (customer_id)
     where screening.run_id = ${runId} and (${page.after}::text is null or customer.reference collate "C" > ${page.after})
     group by customer.customer_id, customer.reference
     having max(${urgencySql(sql`screening.outcome`)}) = ${urgencySql(sql`${outcome}`)}
     order by customer.reference collate "C"
     limit ${page.limit}`,
  );
}
