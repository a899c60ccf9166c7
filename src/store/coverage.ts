import { z } from 'zod';
import { type Bindings, openBindings } from './bindings.js';
import type { Database, Queryable } from './database.js';
import { isWholeSql } from './night-sql.js';
import type { PlanInput } from './plan-input.js';

/**
 * Whether a customer's screening holds: never screened at all, for a former record only, too long ago, with a live key by a run in which no
 * control search has passed, or valid.
 */
const standings = ['never', 'changed', 'overdue', 'unproven', 'valid'] as const;
export type CoverageStanding = (typeof standings)[number];

/** Customers of one tier, standing, state and last failure. */
export interface CoverageGroup {
  tier: 'high' | 'medium' | 'low';
  standing: CoverageStanding;
  state: string;
  /** Why the last search for them failed, where no valid answer has come since. */
  failedBecause: string | null;
  customers: number;
  oldestScreenedAt: Date | null;
}

/** One customer whose screening does not hold. */
export interface UncoveredCustomer {
  reference: string;
  tier: 'high' | 'medium' | 'low';
  standing: CoverageStanding;
  lastScreenedAt: Date | null;
  failedBecause: string | null;
}

const tier = z.enum(['high', 'medium', 'low']);
const groupRow = z.object({
  tier,
  standing: z.enum(standings),
  state: z.string(),
  failedBecause: z.string().nullable(),
  customers: z.number(),
  oldestScreenedAt: z.date().nullable(),
}) satisfies z.ZodType<CoverageGroup>;
const uncoveredRow = z.object({
  reference: z.string(),
  tier,
  standing: z.enum(standings),
  lastScreenedAt: z.date().nullable(),
  failedBecause: z.string().nullable(),
}) satisfies z.ZodType<UncoveredCustomer>;

const hourMs = 3_600_000;

/** Reads from `customer_standing` as of an instant, on an account and by the screening frequency of these tiers. */
function judgedBy<Row>(
  database: Database,
  { accountId, tiers }: PlanInput,
  read: (transaction: Queryable) => Promise<Row>,
): Promise<Row> {
  const hours = Object.fromEntries(tiers.map(({ tier: name, cadenceMs }) => [name, cadenceMs / hourMs]));
  return database.transaction(async (transaction) => {
    await transaction.execute(
      `select set_config('nightscreen.status_at', $1, true), set_config('nightscreen.status_account', $2, true),
         set_config('nightscreen.status_hours', $3, true)`,
      // No account has the number 0: nothing counts as screened.
      [tiers[0]?.judgedAt.toISOString() ?? '', String(accountId ?? 0), JSON.stringify(hours)],
    );
    return read(transaction);
  });
}

/**
 * SQL that gives each customer in scope once, in the worst standing and state of its parties (the view `customer_standing`), with why its
 * last search failed; failures are looked for in the roster's last three plans.
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
      -- Fenced off: one plan after the other, whatever the history.
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
    select standing.reference, standing.risk_tier as tier, standing.state, standing.as_of as screened_at,
      case
        when standing.reason is null then 'valid'
        when standing.reason = 'expired' then 'overdue'
        when standing.reason in ('changed', 'unproven') then standing.reason
        else 'never'
      end as standing,
      case
        when standing.reason in ('never', 'changed', 'expired', 'unproven') then failure.reason
        else coalesce(standing.reason, failure.reason)
      end as failed_because
    from customer_standing standing
    left join failure on failure.customer_id = standing.customer_id
    where standing.roster_id = ${rosterId} and standing.in_scope
  )`;
}

/** Counts the customers in scope of a roster by tier, standing, state and last failure. */
export async function readCoverage(database: Database, input: PlanInput): Promise<readonly CoverageGroup[]> {
  const bindings = openBindings();
  const sql = `with ${coveredCustomersSql(bindings, input)}
     select tier, standing, state, failed_because as "failedBecause", count(*) as customers, min(screened_at) as "oldestScreenedAt"
     from covered
     group by tier, standing, state, failed_because`;
  return judgedBy(database, input, (transaction) => transaction.query(groupRow, sql, bindings.values));
}

/** The customers whose screening does not hold, the worst first: never screened, then changed, then by age; `limit` of them. */
export async function listUncovered(
  database: Database,
  input: PlanInput,
  limit: number,
): Promise<readonly UncoveredCustomer[]> {
  const bindings = openBindings();
  const sql = `with ${coveredCustomersSql(bindings, input)}
     select reference, tier, standing, screened_at as "lastScreenedAt", failed_because as "failedBecause"
     from covered
     where standing <> 'valid'
     order by array_position(array['${standings.join("', '")}'], standing), array_position(array['high', 'medium', 'low'], tier),
       screened_at nulls first, reference collate "C"
     limit ${bindings.bind(limit, 'bigint')}`;
  return judgedBy(database, input, (transaction) => transaction.query(uncoveredRow, sql, bindings.values));
}

/** The rosters of an organisation that were ever imported, by name. */
export async function readImportedRosters(
  database: Queryable,
  organisationId: number,
): Promise<readonly { rosterId: number; roster: string }[]> {
  return database.query(
    z.object({ rosterId: z.number(), roster: z.string() }),
    `select roster_id as "rosterId", name as roster from roster
     where organisation_id = $1 and exists (select from roster_import where roster_import.roster_id = roster.roster_id)
     order by name collate "C"`,
    [organisationId],
  );
}
