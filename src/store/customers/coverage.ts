import { z } from 'zod';
import { insertRows, type Queryable } from '../database/database.js';
import { recordset, type Sql, sql } from '../database/statement.js';
import { gapsSql, type PlanInput } from '../night/plan-sql.js';
import { toSqlList } from '../row-shapes.js';

/**
 * The status of a customer's screening: never made, made under names that nobody can vouch for (garbled, or of rows that contradict each other),
 * made for a former record, overdue, made with a live key by a run without a passed control search, or valid.
 */
const statuses = ['never', 'unreadable', 'changed', 'overdue', 'unproven', 'valid'] as const;

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

/**
 * SQL: each customer in scope once (`covered`) at the moment of the input, on its account and with its screening frequencies: the status and
 * state of the customer, and why its last search failed.
 */
function coveredCustomersSql({ rosterId, accountId, tiers }: PlanInput): Sql {
  const ends = tiers.map((one) => ({ name: one.tier, staleAt: one.staleBefore, moment: one.assessedAt }));
  return sql`
  covered as (
    select standing.reference, standing.risk_tier as tier, state_by(standing.last_state, now.reason) as state, standing.as_of as screened_at,
      case
        when now.reason is null then 'valid'
        when now.reason = 'expired' then 'overdue'
        when now.reason in ('never', 'changed', 'unproven') then now.reason
        else 'unreadable'
      end as status,
      case
        when now.reason is null or now.reason in ('never', 'changed', 'expired', 'unproven')
          then case when standing.has_failed then standing.because end
        else now.reason
      end as failed_because
    from customer_standing standing
    join ${recordset(ends)} as tier (name text, stale_at timestamptz, moment timestamptz) on tier.name = standing.risk_tier
    cross join lateral (
      select reason_at(standing.reason, standing.as_of, standing.latest_at, tier.stale_at, tier.moment) as reason
    ) now
    where standing.roster_id = ${rosterId} and standing.account_id ${accountId === null ? sql`is null` : sql`= ${accountId}`}
      and standing.in_scope
    union all
    select reference, 'high', 'not_screened', null, 'never', reason from unaccepted_customer where roster_id = ${rosterId}
  )`;
}

/**
 * Counts the customers in scope of a roster by tier, status, state and last failure, and lists `list` of those without a valid screening, the
 * worst first: never screened, then unreadable, then changed, then by age.
 */
export async function readCoverage(database: Queryable, input: PlanInput, list = 0) {
  const groups = await countCovered(database, input);
  return { groups, uncovered: list > 0 ? await listUncovered(database, input, list) : [] };
}

function countCovered(database: Queryable, input: PlanInput): Promise<readonly CoverageGroup[]> {
  return database.query(
    groupRow,
    sql`with ${coveredCustomersSql(input)}
     select tier, status, state, failed_because, count(*) as customers, min(screened_at) as "oldestScreenedAt"
     from covered
     group by tier, status, state, failed_because`,
  );
}

function listUncovered(database: Queryable, input: PlanInput, limit: number) {
  return database.query(
    uncoveredRow,
    sql`with ${coveredCustomersSql(input)}
     select reference, tier, status, screened_at as "lastScreenedAt", failed_because
     from covered
     where status <> 'valid'
     order by array_position(array[${toSqlList(statuses)}], status), array_position(array[${toSqlList(tier.options)}], tier),
       screened_at nulls first, reference collate "C"
     limit ${limit}`,
  );
}

/** The rosters of an organisation that were ever imported, by name. */
export async function readImportedRosters(database: Queryable, organisationId: number) {
  return database.query(
    z.object({ rosterId: z.number(), roster: z.string() }),
    sql`select roster_id, name as roster from roster
     where organisation_id = ${organisationId} and exists (select from roster_import where roster_import.roster_id = roster.roster_id)
     order by name collate "C"`,
  );
}

/** Why customers of a roster cannot be screened; `unreadable_id` counts rows without a readable customer id. */
const gapReasons = [
  'row_rejected',
  'conflicting_duplicate',
  'roster_held',
  'related_party_unreadable',
  'doubtful_name',
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

/** SQL: the gaps of a roster, each with whether an exception is valid for it at a moment. */
const eachGapSql = (rosterId: number, now: Date): Sql => sql`
  select gap.reason, gap.reference, null::integer as rows, exists (
    select from acceptance accepted
    where accepted.roster_id = ${rosterId} and accepted.reference = gap.reference and accepted.gap = gap.reason
      and accepted.until >= (${now}::timestamptz at time zone 'UTC')::date
  ) as is_accepted
  from (${gapsSql(rosterId)}) gap
  union all
  -- A partial roster (delta) corrects no row of the last full one.
  select 'unreadable_id', null, unreadable.rows, exists (
    select from acceptance accepted
    where accepted.roster_id = ${rosterId} and accepted.gap = 'unreadable_id' and accepted.rows >= unreadable.rows
      and accepted.until >= (${now}::timestamptz at time zone 'UTC')::date
  )
  from (
    select sum(unreadable_ids)::integer as rows from roster_import
    where roster_id = ${rosterId} and import_id >= coalesce((
      select max(import_id) from roster_import where roster_id = ${rosterId} and not is_delta
    ), 0)
  ) unreadable
  where unreadable.rows > 0`;

/** Counts the gaps of a roster by reason, and how many of them have a valid exception at a moment. */
export async function readCoverageGaps(database: Queryable, rosterId: number, now: Date) {
  return database.query(
    gapRow,
    sql`select reason, sum(coalesce(rows, 1))::integer as count,
       coalesce(sum(coalesce(rows, 1)) filter (where is_accepted), 0)::integer as accepted
     from (${eachGapSql(rosterId, now)}) gap group by reason order by reason`,
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
  const { because: reason, ...said } = exception;
  const open = await transaction.query(
    openGapRow,
    sql`select reason, reference, rows from (${eachGapSql(rosterId, exception.acceptedAt)}) gap where not is_accepted
     order by reference collate "C" nulls last, reason`,
  );
  const unknown = (customers ?? []).filter((customer) => !open.some(({ reference }) => reference === customer));
  const accepted = open.filter(({ reference }) => customers === null || customers.some((one) => one === reference));
  if (unknown.length === 0) {
    const rows = accepted.map(({ reason: gap, ...of }) => ({ kind: 'gap', rosterId, gap, ...of, reason, ...said }));
    await insertRows(transaction, 'acceptance', rows);
  }
  return { accepted, unknown };
}
