import { z } from 'zod';
import { type Bindings, type Database, findRow, openBindings, type Queryable } from '../database/database.js';
import { rawSql } from '../database/statement.js';
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
    select * from last_failures(${rosterId}, ${bind(input.accountId, 'bigint')})
  ),
  covered as (
    select current_status.reference, current_status.risk_tier as tier, current_status.state, current_status.as_of as screened_at,
      case
        when current_status.reason is null then 'valid'
        when current_status.reason = 'expired' then 'overdue'
        when current_status.reason in ('never', 'changed', 'unproven') then current_status.reason
        when current_status.as_of is null then 'never'
        else 'unreadable'
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
 * worst first: never screened, then unreadable, then changed, then by age.
 */
export async function readCoverage(database: Database, input: PlanInput, list = 0) {
  const groups = (await findNotedGroups(database, input)) ?? (await countCovered(database, input));
  return { groups, uncovered: list > 0 ? await listUncovered(database, input, list) : [] };
}

const notedRow = z.object({
  at: z.coerce.date(),
  seconds: z.number(),
  lastChange: z.number(),
  lastDisposition: z.number(),
  /** Tier, state, reason, last failure, customers, and the time of the oldest screening. */
  entries: z.array(
    z.tuple([tier, z.string(), z.string().nullable(), z.string().nullable(), z.number(), z.number().nullable()]),
  ),
  /** For how long a screening is valid, by tier. */
  validMs: z.record(z.string(), z.number()),
});
type Noted = z.infer<typeof notedRow>;

/**
 * The groups from what the roster's last run noted when it closed, and the decisions since; without its history. Null where that does not say it
 * all: a run is open or has closed without a note, or another account, another screening frequency or an earlier moment is asked for.
 */
async function findNotedGroups(database: Database, input: PlanInput): Promise<readonly CoverageGroup[] | null> {
  const { rosterId, accountId, tiers } = input;
  const assessedAt = tiers[0]?.assessedAt;
  if (assessedAt === undefined || accountId === null) return null;
  const hours = Object.fromEntries(tiers.map(({ tier: name, cadenceMs }) => [name, cadenceMs / hourMs]));
  const noted = await findRow(
    database,
    notedRow,
    `select coverage ->> 'at' as at, (coverage ->> 'seconds')::integer as seconds, (coverage ->> 'lastChange')::bigint as "lastChange",
       (coverage ->> 'lastDisposition')::bigint as "lastDisposition",
       coverage -> 'entries' as entries, (
         select jsonb_object_agg(name, extract(epoch from cadence + screening_grace(cadence)) * 1000)
         from jsonb_each_text($4::text::jsonb) as each (name, value)
         cross join lateral (select value::double precision * interval '1 hour' as cadence) tier
       ) as "validMs"
     from roster
     where roster_id = $1 and (coverage ->> 'accountId')::bigint = $2 and (coverage ->> 'at')::timestamptz <= $3
       and coverage -> 'hours' @> $4::text::jsonb
       and (coverage ->> 'runId')::bigint = (select max(run_id) from run where run.roster_id = $1)
       and not exists (select from run where run.roster_id = $1 and run.state in ('running', 'stopped'))
       and (coverage ->> 'cap')::integer is not distinct from (
         select list_cap from account where account_id = $2
       )
       -- The last alert of an offboarded customer may be closed, which is no change of a state.
       and not exists (
         select from disposition said
         join alert using (alert_id)
         join party using (party_id)
         join customer using (customer_id)
         where said.disposition_id > (coverage ->> 'lastDisposition')::bigint and customer.roster_id = $1 and customer.left_at is not null
       )`,
    [rosterId, accountId, assessedAt, JSON.stringify(hours)],
  );
  if (noted === null) return null;
  const entries = await applyDecisions(database, input, noted);
  return entries && groupNoted(entries, noted.validMs, assessedAt);
}

/** Dispositions of people that may be committed after so many later ones; a run's own are in what it has noted. */
const lateDispositions = 1_000;
/** Above this, looking at each decided customer takes longer than counting them all. */
const mostDecided = 1_000;

/** The entries after the decisions since they were noted; null when one of these does not fit them. */
async function applyDecisions(database: Database, input: PlanInput, noted: Noted): Promise<Noted['entries'] | null> {
  const decided = await database.query(
    z.object({ customerId: z.number(), from: z.string().nullable(), hasLeft: z.boolean() }),
    // By the few dispositions, because the nights of other rosters may have changed a million states since.
    `select decided.customer_id, first.from_state as from, decided.left_at is not null as "hasLeft"
     from (
       select distinct customer.customer_id, customer.left_at
       from disposition said join alert using (alert_id) join party using (party_id) join customer using (customer_id)
       where customer.roster_id = $1 and said.origin <> 'policy' and said.disposition_id > coalesce((
         select disposition_id from disposition where origin <> 'policy' and disposition_id <= $2
         order by disposition_id desc offset $5 limit 1
       ), 0)
     ) decided
     cross join lateral (
       select from_state from customer_state_change change
       where change.customer_id = decided.customer_id and change.change_id > $3
       order by change.change_id limit 1
     ) first
     limit $4`,
    [input.rosterId, noted.lastDisposition, noted.lastChange, mostDecided + 1, lateDispositions],
  );
  if (decided.length === 0) return noted.entries;
  if (decided.length > mostDecided || decided.some(({ hasLeft }) => hasLeft)) return null;
  const tiers = input.tiers.map((each) => ({ ...each, assessedAt: noted.at }));
  const current = await assessedBy(database, { ...input, tiers }, (transaction) =>
    transaction.query(
      z.object({
        customerId: z.number(),
        tier,
        state: z.string(),
        reason: z.string().nullable(),
        asOf: z.date().nullable(),
      }),
      `select customer_id, risk_tier as tier, state, reason, as_of from customer_standing
       where roster_id = $1 and customer_id = any ($2::bigint[])`,
      [input.rosterId, decided.map(({ customerId }) => customerId)],
    ),
  );
  const toSpan = (ms: number | null): number | null => ms && Math.floor(ms / 1_000 / noted.seconds);
  const entries = noted.entries.map((entry): Noted['entries'][number] => [...entry]);
  for (const { customerId, from } of decided) {
    const now = current.find((one) => one.customerId === customerId);
    const span = now && toSpan(now.asOf?.getTime() ?? null);
    const former = entries.find(
      ([tierOf, state, reason, , customers, oldest]) =>
        tierOf === now?.tier && state === from && reason === now.reason && customers > 0 && toSpan(oldest) === span,
    );
    if (now === undefined || former === undefined) return null;
    former[4] -= 1;
    entries.push([now.tier, now.state, now.reason, former[3], 1, former[5]]);
  }
  return entries;
}

/** Counts entries as they are at a later moment: screenings have expired since, and only a waiting alert or a true match still holds then. */
function groupNoted(entries: Noted['entries'], validMs: Noted['validMs'], assessedAt: Date): readonly CoverageGroup[] {
  const groups = new Map<string, CoverageGroup>();
  for (const [tierOf, noted, before, failure, customers, oldest] of entries) {
    if (customers === 0) continue;
    const isExpired =
      oldest !== null &&
      (before === null || !['never', 'changed', 'expired'].includes(before)) &&
      oldest + (validMs[tierOf] ?? 0) <= assessedAt.getTime();
    const reason = isExpired ? 'expired' : before;
    const state = isExpired && !['open_alert', 'true_match'].includes(noted) ? 'not_screened' : noted;
    const status = statusByReason[reason ?? ''] ?? (oldest === null ? 'never' : 'unreadable');
    const failedBecause = reason !== null && reason in statusByReason ? failure : (reason ?? failure);
    const key = JSON.stringify([tierOf, status, state, failedBecause]);
    const known = groups.get(key);
    const oldestMs = Math.min(
      oldest ?? Number.POSITIVE_INFINITY,
      known?.oldestScreenedAt?.getTime() ?? Number.POSITIVE_INFINITY,
    );
    groups.set(key, {
      tier: tierOf,
      status,
      state,
      failedBecause,
      customers: customers + (known?.customers ?? 0),
      oldestScreenedAt: Number.isFinite(oldestMs) ? new Date(oldestMs) : null,
    });
  }
  return [...groups.values()];
}

const statusByReason: Readonly<Record<string, (typeof statuses)[number]>> = {
  '': 'valid',
  never: 'never',
  expired: 'overdue',
  changed: 'changed',
  unproven: 'unproven',
};

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
     order by array_position(array[${toSqlList(statuses)}], status), array_position(array[${toSqlList(tier.options)}], tier),
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

/** SQL: the gaps of roster $1, each with whether an exception is valid for it on the day of $2. */
const eachGapSql = `
  select gap.reason, gap.reference, null::integer as rows, exists (
    select from acceptance accepted
    where accepted.roster_id = $1 and accepted.reference = gap.reference and accepted.gap = gap.reason
      and accepted.until >= ($2::timestamptz at time zone 'UTC')::date
  ) as is_accepted
  from (${gapsSql(rawSql('$1'))}) gap
  union all
  -- A partial roster (delta) corrects no row of the last full one.
  select 'unreadable_id', null, unreadable.rows, exists (
    select from acceptance accepted
    where accepted.roster_id = $1 and accepted.gap = 'unreadable_id' and accepted.rows >= unreadable.rows
      and accepted.until >= ($2::timestamptz at time zone 'UTC')::date
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
      `insert into acceptance (kind, roster_id, gap, reference, rows, until, accepted_by, is_attested, reason, accepted_at)
       select 'gap', $1::bigint, reason, reference, rows, $3::date, $4, $5, $6, $7
       from jsonb_to_recordset($2::text::jsonb) as gap (reason text, reference text, rows integer)`,
      [rosterId, JSON.stringify(accepted), until, acceptedBy, isAttested, because, acceptedAt],
    );
  }
  return { accepted, unknown };
}
