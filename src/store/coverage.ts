import { z } from 'zod';
import { type Bindings, type Database, openBindings, type Queryable } from './database/database.js';
import { isWholeSql } from './metrics.js';
import { gapsSql, type PlanInput } from './plan-sql.js';

/**
 * The status of a customer's screening: never made, made for a former record, overdue, made with a live key by a run without a passed control
 * search, or valid.
 */
const statuses = ['never', 'changed', 'overdue', 'unproven', 'valid'] as const;

const tier = z.enum(['high', 'medium', 'low']);
const groupRow = z.object({
  tier,
  status: z.enum(statuses),
  state: z.string(),
  /** Why their last search failed; null after a later valid answer. */
  failedBecause: z.string().nullable(),
  customers: z.number(),
  oldestScreenedAt: z.date().nullable(),
});
/** Customers of one tier, status, state and last failure. */
export type CoverageGroup = z.infer<typeof groupRow>;
const uncoveredRow = z.object({
  reference: z.string(),
  tier,
  status: z.enum(statuses),
  lastScreenedAt: z.date().nullable(),
  failedBecause: z.string().nullable(),
});

const hourMs = 3_600_000;

/** Reads from the view `customer_standing` as of an instant, on an account and with the screening frequency of each tier. */
function assessedBy<Row>(
  database: Database,
  { accountId, tiers }: PlanInput,
  read: (transaction: Queryable) => Promise<Row>,
): Promise<Row> {
  const hours = Object.fromEntries(tiers.map(({ tier: name, cadenceMs }) => [name, cadenceMs / hourMs]));
  return database.transaction(async (transaction) => {
    await transaction.execute(
      `select set_config('nightscreen.status_at', $1, true), set_config('nightscreen.status_account', $2, true),
         set_config('nightscreen.status_hours', $3, true)`,
      // No account has the number 0, so that no customer counts as screened.
      [tiers[0]?.assessedAt.toISOString() ?? '', String(accountId ?? 0), JSON.stringify(hours)],
    );
    return read(transaction);
  });
}

/**
 * SQL: each customer in scope once, with the worst status and state of its parties (the view `customer_standing`) and the reason of its last
 * failure in the roster's last three plans.
 */
function coveredCustomersSql({ bind }: Bindings, input: PlanInput): string {
  const rosterId = bind(input.rosterId, 'bigint');
  return `
  failure as (
    select failed.customer_id, min(failed.outcome_reason) as reason
    from (
      select distinct on (screening.party_id) party.customer_id, screening.party_id, screening.outcome_reason, screening.run_id
      from (
        select run_id from run
        where roster_id = ${rosterId} and account_id = ${bind(input.accountId, 'bigint')} and in_scope is not null and ${isWholeSql('run')}
        order by run_id desc limit 3
      ) plans
      -- \`offset 0\`: one plan after the other, however long the history is.
      cross join lateral (
        select run_id, party_id, outcome_reason from screening where run_id = plans.run_id and outcome = 'failed' offset 0
      ) screening
      join party on party.party_id = screening.party_id
      order by screening.party_id, screening.run_id desc
    ) failed
    left join party_state state on state.account_id = ${bind(input.accountId, 'bigint')} and state.party_id = failed.party_id
    where coalesce(failed.run_id >= state.run_id, true)
    group by failed.customer_id
  ),
  covered as (
    select current_status.reference, current_status.risk_tier as tier, current_status.state, current_status.as_of as screened_at,
      case
        when current_status.reason is null then 'valid'
        when current_status.reason = 'expired' then 'overdue'
        when current_status.reason in ('changed', 'unproven') then current_status.reason
        else 'never'
      end as status,
      case
        when current_status.reason in ('never', 'changed', 'expired', 'unproven') then failure.reason
        else coalesce(current_status.reason, failure.reason)
      end as failed_because
    from customer_standing current_status
    left join failure on failure.customer_id = current_status.customer_id
    where current_status.roster_id = ${rosterId} and current_status.in_scope
  )`;
}

/**
 * Counts the customers in scope of a roster by tier, status, state and last failure, and lists `list` of those without a valid screening, the
 * worst first: never screened, then changed, then by age.
 */
export async function readCoverage(database: Database, input: PlanInput, list = 0) {
  const groups = await countCovered(database, input);
  return { groups, uncovered: list > 0 ? await listUncovered(database, input, list) : [] };
}

async function countCovered(database: Database, input: PlanInput): Promise<readonly CoverageGroup[]> {
  const bindings = openBindings();
  const sql = `with ${coveredCustomersSql(bindings, input)}
     select tier, status, state, failed_because, count(*) as customers, min(screened_at) as "oldestScreenedAt"
     from covered
     group by tier, status, state, failed_because`;
  return assessedBy(database, input, (transaction) => transaction.query(groupRow, sql, bindings.values));
}

async function listUncovered(database: Database, input: PlanInput, limit: number) {
  const bindings = openBindings();
  const sql = `with ${coveredCustomersSql(bindings, input)}
     select reference, tier, status, screened_at as "lastScreenedAt", failed_because
     from covered
     where status <> 'valid'
     order by array_position(array['${statuses.join("', '")}'], status), array_position(array['high', 'medium', 'low'], tier),
       screened_at nulls first, reference collate "C"
     limit ${bindings.bind(limit, 'bigint')}`;
  return assessedBy(database, input, (transaction) => transaction.query(uncoveredRow, sql, bindings.values));
}

/** The rosters of an organisation that were ever imported, by name. */
export async function readImportedRosters(database: Queryable, organisationId: number) {
  return database.query(
    z.object({ rosterId: z.number(), roster: z.string() }),
    `select roster_id, name as roster from roster
     where organisation_id = $1 and exists (select from roster_import where roster_import.roster_id = roster.roster_id)
     order by name collate "C"`,
    [organisationId],
  );
}

/** Why customers of a roster cannot be screened; `unreadable_id` counts rows without a readable customer id. */
const gapReasons = [
  'row_rejected',
  'conflicting_duplicate',
  'roster_held',
  'related_party_unreadable',
  'unreadable_id',
] as const;
const gapRow = z.object({ reason: z.enum(gapReasons), count: z.number(), accepted: z.number() });
/** The number of customers or rows of a roster that cannot be screened for one reason, and how many of them are accepted. */
export type CoverageGap = z.infer<typeof gapRow>;

const openGapRow = z.object({
  reason: z.enum(gapReasons),
  /** Null for the rows without a readable id, which count together. */
  reference: z.string().nullable(),
  rows: z.number().nullable(),
});

/** SQL: the gaps of roster $1, each with whether an exception is valid for it on the day of $2. */
const eachGapSql = `
  select gap.reason, gap.reference, null::integer as rows, exists (
    select from coverage_exception exception
    where exception.roster_id = $1 and exception.reference = gap.reference and exception.reason = gap.reason
      and exception.until >= ($2::timestamptz at time zone 'UTC')::date
  ) as is_accepted
  from (${gapsSql('$1')}) gap
  union all
  -- A partial roster (delta) corrects no row of the last full one.
  select 'unreadable_id', null, unreadable.rows, exists (
    select from coverage_exception exception
    where exception.roster_id = $1 and exception.reason = 'unreadable_id' and exception.rows >= unreadable.rows
      and exception.until >= ($2::timestamptz at time zone 'UTC')::date
  )
  from (
    select sum(unreadable_ids)::integer as rows from roster_import
    where roster_id = $1 and import_id >= coalesce((
      select max(import_id) from roster_import where roster_id = $1 and not is_delta
    ), 0)
  ) unreadable
  where unreadable.rows > 0`;

/** Counts the gaps of a roster by reason, and how many of them have a valid exception at a moment. */
export async function readCoverageGaps(database: Queryable, rosterId: number, now: Date) {
  return database.query(
    gapRow,
    `select reason, sum(coalesce(rows, 1))::integer as count,
       coalesce(sum(coalesce(rows, 1)) filter (where is_accepted), 0)::integer as accepted
     from (${eachGapSql}) gap group by reason order by reason`,
    [rosterId, now],
  );
}

/** The number of accepted customers among the gaps; rows without a readable id are no customers. */
export const countAccepted = (gaps: readonly CoverageGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.reason === 'unreadable_id' ? 0 : gap.accepted), 0);

/**
 * Accepts the open gaps of a roster, or with `customers` only theirs, until a day (`yyyy-mm-dd`, UTC, inclusive). If a customer has no open gap
 * (`unknown`), nothing is stored.
 */
export async function saveCoverageExceptions(
  transaction: Queryable,
  rosterId: number,
  customers: readonly string[] | null,
  exception: { until: string; acceptedBy: string; isAttested: boolean; because: string; acceptedAt: Date },
) {
  const { until, acceptedBy, isAttested, because, acceptedAt } = exception;
  const open = await transaction.query(
    openGapRow,
    `select reason, reference, rows from (${eachGapSql}) gap where not is_accepted
     order by reference collate "C" nulls last, reason`,
    [rosterId, acceptedAt],
  );
  const unknown = (customers ?? []).filter((customer) => !open.some(({ reference }) => reference === customer));
  const accepted = open.filter(({ reference }) => customers === null || customers.some((one) => one === reference));
  if (unknown.length === 0 && accepted.length > 0) {
    await transaction.execute(
      `insert into coverage_exception (roster_id, reason, reference, rows, until, accepted_by, is_attested, because, accepted_at)
       select $1::bigint, reason, reference, rows, $3::date, $4, $5, $6, $7
       from jsonb_to_recordset($2::text::jsonb) as gap (reason text, reference text, rows integer)`,
      [rosterId, JSON.stringify(accepted), until, acceptedBy, isAttested, because, acceptedAt],
    );
  }
  return { accepted, unknown };
}
