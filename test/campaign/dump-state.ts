import { z } from 'zod';
import type { Database } from '../../src/store/database/database.js';

const rowSchema = z.object({ row: z.unknown() });

// Without ids and times, which differ from run to run; text in the order of its bytes, which is the same on every database.
const dumps = {
  customers: `select jsonb_build_array(customer.reference, version.record, customer.absent_since is null, party.ordinal, party.is_current,
      request.type, request.name) as row
    from customer join customer_version version using (customer_id, version) join party using (customer_id)
    join screening_request request using (request_id)
    order by customer.reference collate "C", party.ordinal`,
  states: `select jsonb_build_array(customer.reference, state.state, response.body, state.customer_version, state.reported_scores,
      state.unreturned) as row
    from party_state state join party using (party_id) join customer using (customer_id) join response using (response_id)
    order by customer.reference collate "C"`,
  outcomes: `select jsonb_build_array(run.kind, run.started_at::date, customer.reference, plan_reason, outcome, outcome_reason, response.body,
      screening.batch_id is null) as row
    from screening join run using (run_id) join party using (party_id) join customer using (customer_id)
    left join response using (response_id)
    order by run.run_id, customer.reference collate "C"`,
  changes: `select jsonb_build_array(run.started_at::date, customer.reference, change.kind, severity, rule, cause, is_baseline, match_id,
      fields, before, after) as row
    from change_event change join run using (run_id) join party using (party_id) join customer using (customer_id)
    order by run.run_id, customer.reference collate "C", match_id collate "C", change.kind collate "C", change_id`,
  answers: `select jsonb_build_array(response.body, total, truncated, count(match.rank)) as row
    from response left join match using (response_id) group by response_id order by response.body collate "C"`,
  canaries: `select distinct jsonb_build_array(run.started_at::date, type, name, expect, verdict) as row
    from canary_outcome join run using (run_id) order by 1`,
  imports: `select jsonb_build_array(rows, customers, rejected, duplicates, absent) as row from roster_import order by import_id`,
  leftovers: `select jsonb_build_array(
      (select count(*) from roster_staging), (select count(*) from search_attempt where outcome = 'in_flight'),
      (select count(*) from run where state = 'running')) as row`,
} as const;

/** What must be the same after crashes and without them: one line a row, under the name of what it tells of. */
export async function dumpState(database: Database): Promise<Readonly<Record<string, readonly string[]>>> {
  const entries: [string, readonly string[]][] = [];
  for (const [name, sql] of Object.entries(dumps)) {
    const rows = await database.query(rowSchema, sql);
    entries.push([name, rows.map(({ row }) => JSON.stringify(row))]);
  }
  entries.push(['runs', await dumpRuns(database)]);
  return Object.fromEntries(entries);
}

const runRow = z.object({ kind: z.string(), state: z.string(), reasons: z.array(z.string()), sums: z.unknown() });

async function dumpRuns(database: Database): Promise<readonly string[]> {
  const rows = await database.query(
    runRow,
    'select kind, state, state_reasons as reasons, sums from run order by run_id',
  );
  return rows.map((row) => JSON.stringify(row, (key, value: unknown) => (isOfCalls(key) ? undefined : value)));
}

// Crashes cost calls, and nothing else.
const isOfCalls = (key: string): boolean => /attempt|unknown|calls|spent|cost|billed/i.test(key);

/** The first few differences between two dumps, in words; empty when there is none. */
export function compareStates(
  calm: Readonly<Record<string, readonly string[]>>,
  other: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  return Object.entries(calm).flatMap(([name, lines]) => {
    const others = other[name] ?? [];
    const at = lines.findIndex((line, index) => line !== others[index]);
    if (at === -1 && lines.length === others.length) return [];
    const index = at === -1 ? Math.min(lines.length, others.length) : at;
    const [line = 'nothing', otherLine = 'nothing'] = [lines[index], others[index]];
    const from = Math.max(0, findParting(line, otherLine) - 60);
    const [was, is] = [line, otherLine].map((text) => text.slice(from, from + 160));
    return [`${name}[${index}] (${lines.length} and ${others.length} rows) from ${from}: ${was} became ${is}`];
  });
}

const findParting = (one: string, other: string): number =>
  [...one].findIndex((letter, index) => letter !== other.charAt(index));
