import { z } from 'zod';
import { listTierDueTimes, toCadence } from '../../src/screening/cadence.js';
import type { ScreeningSettings } from '../../src/screening/settings.js';
import type { Database } from '../../src/store/database/database.js';
import { json, sql } from '../../src/store/database/statement.js';
import type { PlanInput } from '../../src/store/night/plan-sql.js';
import { runAsSuperuser } from './database-servers.js';

/** One customer of a planning world; it has one party, whose number is its own. */
export interface PlannedCustomer {
  riskTier?: 'low' | 'medium' | 'high';
  /** The number of the request that its party shares; its own by default. */
  request?: number;
  /** When it was last screened, or never. */
  screenedAt?: Date;
  /** Whether the last search for it failed in a later run. */
  hasFailed?: boolean;
  birthDate?: string;
  countries?: readonly string[];
  /** What it was like when it was last screened, where that differs. */
  before?: { birthDate?: string; countries?: readonly string[]; riskTier?: string; request?: number };
}

const toRecord = (id: number, customer: Pick<PlannedCustomer, 'birthDate' | 'countries'> & { riskTier?: string }) => ({
  reference: `C-${id}`,
  riskTier: customer.riskTier ?? null,
  parties: [
    {
      role: 'customer',
      type: 'person',
      name: `Name ${id}`,
      sentName: `Name ${id}`,
      birthDate: customer.birthDate ?? null,
      countries: customer.countries ?? [],
    },
  ],
});

// To truncate them takes five times as long: that gives each table and each index of theirs new files.
const emptyTables = `
  do $$
  declare
    each regclass;
  begin
    -- Without triggers, as truncate is.
    perform set_config('session_replication_role', 'replica', true);
    for each in
      with recursive reached as (
        select unnest(array['organisation', 'screening_request', 'customer', 'customer_version', 'party', 'planned', 'call']::regclass[])::oid as oid
        union
        select conrelid from pg_constraint join reached on confrelid = reached.oid where contype = 'f'
      )
      select oid from reached
    loop
      execute format('delete from %s', each);
    end loop;
    perform set_config('session_replication_role', 'origin', true);
  end $$`;

// By the session that inserts: it keeps numbers in advance.
const restartNumbers = `
  select setval(oid, 1, false) from pg_class where relkind = 'S' and relnamespace = current_schema()::regnamespace;`;

/**
 * Fills a database, in place of whatever it held, with one roster of these customers. Run 1 screened everybody who was, run 2 failed whoever has; run 3 is the
 * one to plan.
 */
export async function fillPlanningWorld(
  database: Database,
  customers: readonly PlannedCustomer[],
  screenedFrom: Date,
): Promise<void> {
  await runAsSuperuser(database, emptyTables);
  await database.runScript(`${restartNumbers}
    insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
    insert into roster (organisation_id, name, created_at) values (1, 'people', now());
    insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
    insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, lease_key, epoch, owner, settings_digest, version, started_at, finished_at)
      select 1, 1, 1, 'test', 'rescreen', case n when 3 then 'running' else 'complete' end, 'started', 'due', 'k', 1, 'o', 's', 'v',
        '${screenedFrom.toISOString()}', case when n < 3 then now() end
      from generate_series(1, 3) n;
    insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
      values (1, 1, 's', 'd', now(), 0, 0, 0, 0, 0);
    insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits) values (1, '\\x01', '{}', 0, false, now(), 0, 0);
    insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, ${customers.length}) n;`);
  const rows = customers.map((customer, index) => {
    const id = index + 1;
    const { before, screenedAt } = customer;
    return {
      id,
      request: customer.request ?? id,
      version: before ? 2 : 1,
      riskTier: customer.riskTier ?? null,
      record: toRecord(id, customer),
      before: before ? toRecord(id, { ...customer, ...before }) : null,
      beforeRequest: before?.request ?? customer.request ?? id,
      screenedAt: screenedAt?.toISOString() ?? null,
      failedRun: customer.hasFailed === true ? 2 : null,
    };
  });
  const input = sql`jsonb_to_recordset(${json(rows)}) as row (
    id bigint, request bigint, version integer, "riskTier" text, record jsonb, before jsonb, "beforeRequest" bigint,
    "screenedAt" timestamptz, "failedRun" bigint)`;
  for (const statement of [
    sql`insert into customer (roster_id, reference, version, record_digest, first_import_id)
     select 1, 'C-' || id, version, 'd', 1 from ${input} order by id`,
    sql`insert into customer_version (customer_id, version, import_id, risk_tier, record)
     select id, version, 1, "riskTier", record from ${input}
     union all select id, 1, 1, before ->> 'riskTier', before from ${input} where before is not null`,
    sql`insert into party (customer_id, ordinal, request_id, is_current) select id, 0, request, true from ${input} order by id`,
    sql`insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state, failed_run_id)
     select 1, id, 1, "beforeRequest", 1, 1, 's', "screenedAt", 'clear', "failedRun" from ${input} where "screenedAt" is not null`,
  ]) {
    await database.execute(statement);
  }
}

/** The input of a plan for run 3 of a planning world; everybody daily, without budget and reuse, unless told otherwise. */
export function buildPlanInput(
  now: Date,
  changes: Partial<PlanInput> & { cadence?: ScreeningSettings['cadence'] } = {},
): PlanInput {
  const { cadence, ...others } = changes;
  return {
    runId: 3,
    rosterId: 1,
    accountId: 1,
    selection: 'due',
    leaveAfterDays: 7,
    leftRuns: [],
    reuse: null,
    allowance: null,
    tiers: listTierDueTimes(toCadence({ cadenceHours: 24, cadence }), now),
    ...others,
  };
}

const plannedRow = z.object({ id: z.number(), reason: z.string(), skipped: z.string().nullable() });

/** The stored plan of run 3: `reason`, or `reason/skipped because`, by customer in their order. */
export async function readPlan(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    plannedRow,
    `select party_id as id, plan_reason as reason, case when outcome = 'skipped' then outcome_reason end as skipped
     from screening where run_id = 3 order by party_id`,
  );
  return rows.map(({ reason, skipped }) => (skipped === null || skipped === reason ? reason : `${reason}/${skipped}`));
}
