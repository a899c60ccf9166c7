import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { verifyEvidence } from '../../src/evidence/verify.js';
import type { LedgerEntry } from '../../src/sandbox/calls.js';
import type { Database } from '../../src/store/database/database.js';
import { sql } from '../../src/store/database/statement.js';
import { hiddenMatchesSql } from '../../src/store/row-shapes.js';
import { toEvidence } from './site.js';

/** What is wrong with the reports and the evidence of one site, and what tells the reports from those of another. */
export async function compareReports(calm: string, other: string): Promise<readonly string[]> {
  const evidence = await verifyEvidence(toEvidence(other));
  const damages = evidence.problems.map(({ pack, file, what }) => `evidence: ${pack} ${file}: ${what}`);
  if (evidence.packs === 0) damages.push('evidence: there is no pack');
  const [calmRuns, otherRuns] = await Promise.all([readdir(calm), readdir(other)]);
  if (calmRuns.length !== 1 || otherRuns.length !== 1) {
    return [`reports: ${calmRuns.join(', ')} became ${otherRuns.join(', ')}`];
  }
  const [calmFolder, otherFolder] = [join(calm, calmRuns[0] ?? ''), join(other, otherRuns[0] ?? '')];
  const broken = await findBroken(otherFolder);
  const changes = await Promise.all(
    [calmFolder, otherFolder].map((folder) => readFile(join(folder, 'changes.csv'), 'utf8')),
  );
  const isSame = blankOut(changes[0] ?? '') === blankOut(changes[1] ?? '');
  return [...damages, ...broken, ...(isSame ? [] : ['reports: changes.csv tells of other changes'])];
}

// Names of runs, times, and the numbers of changes, each before the cell of its run.
const blankOut = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\d-[a-z]+-\d+/g, 'RUN')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/,\d+,RUN\b/g, '');

async function findBroken(folder: string): Promise<readonly string[]> {
  const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  const broken: string[] = [];
  for (const line of lines) {
    const [digest = '', name = ''] = line.split(/\s+\*?/);
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    if (createHash('sha256').update(bytes).digest('hex') !== digest) broken.push(`reports: ${name} is broken`);
  }
  return broken;
}

/** Our ledger beside the service's own count. */
export interface LedgerFigures {
  /** Searches that the service counted. */
  calls: number;
  /** Attempts that our ledger holds as sent or as unknown. */
  noted: number;
  /** Those of them whose outcome nobody learned. */
  unknown: number;
  /** Those that were sent, or may have been, and have no answer: the only ones that a stop may cause to be made again. */
  unanswered: number;
  /** Names of which the ledger has fewer attempts than the service counted calls, or knows more of them to have been sent. */
  wrong: readonly string[];
}

const noteRow = z.object({ key: z.string(), noted: z.number(), known: z.number(), unanswered: z.number() });

/** Compares the ledger of all runs that began at or after `since` with the calls that the service counted, name by name. */
export async function countLedger(
  database: Database,
  since: Date,
  calls: readonly LedgerEntry[],
): Promise<LedgerFigures> {
  const rows = await database.query(
    noteRow,
    sql`select request.type || '/' || request.name as key,
       count(*) filter (where outcome <> 'not_sent')::integer as noted,
       -- A call that was cut or too late may never have arrived, as on a connection that the service has closed meanwhile.
       count(*) filter (where outcome not in ('not_sent', 'in_flight', 'unknown', 'timeout', 'connection'))::integer as known,
       count(*) filter (where outcome in ('in_flight', 'unknown', 'aborted'))::integer as unanswered
     from call join screening_request request using (request_id) join run using (run_id)
     where run.started_at >= ${since} group by 1`,
  );
  const counted = new Map<string, number>();
  for (const { searchType, searchName } of calls) {
    const key = `${searchType}/${searchName}`;
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  const notes = new Map(rows.map((row) => [row.key, row]));
  const wrong = [...new Set([...counted.keys(), ...notes.keys()])].flatMap((key) => {
    const { noted, known } = notes.get(key) ?? { noted: 0, known: 0 };
    const called = counted.get(key) ?? 0;
    return noted >= called && known <= called ? [] : [`${key}: ${called} calls, ${noted} noted, ${known} known`];
  });
  const sum = (pick: (row: z.output<typeof noteRow>) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  return {
    calls: calls.length,
    noted: sum((row) => row.noted),
    unknown: sum((row) => row.noted - row.known),
    unanswered: sum((row) => row.unanswered),
    wrong,
  };
}

const rowSchema = z.object({ row: z.unknown() });

// Without ids and times, which differ from run to run; text in the order of its bytes, which is the same on every database.
const dumps = {
  customers: `select jsonb_build_array(customer.reference, version.record, customer.absent_since is null, party.ordinal, party.is_current,
      request.type, request.name) as row
    from customer join customer_version version using (customer_id, version) join party using (customer_id)
    join screening_request request using (request_id)
    order by customer.reference collate "C", party.ordinal`,
  states: `select jsonb_build_array(customer.reference, state.state, response.body, state.customer_version, state.reported_scores,
      ${hiddenMatchesSql('state.unreturned')}) as row
    from party_state state join party using (party_id) join customer using (customer_id) join response using (response_id)
    order by customer.reference collate "C"`,
  outcomes: `select jsonb_build_array(run.kind, run.started_at::date, customer.reference, plan_reason, outcome, outcome_reason, response.body,
      screening.wave is null) as row
    from screening join run using (run_id) join party using (party_id) join customer using (customer_id)
    left join response using (response_id)
    order by run.run_id, customer.reference collate "C"`,
  changes: `select jsonb_build_array(run.started_at::date, customer.reference, change.kind, severity, rule, cause, is_baseline, match_id,
      fields, before, after) as row
    from change_event change join run using (run_id) join party using (party_id) join customer using (customer_id)
    order by run.run_id, customer.reference collate "C", match_id collate "C", change.kind collate "C", change_id`,
  answers: `select jsonb_build_array(response.body, total, truncated, count(match.rank)) as row
    from response left join match using (response_id) group by response_id order by response.body collate "C"`,
  controls: `select distinct jsonb_build_array(run.started_at::date, type, name, expect, verdict) as row
    from control_outcome join run using (run_id) order by 1`,
  imports: `select jsonb_build_array(rows, customers, rejected, duplicates, absent) as row from roster_import order by import_id`,
  leftovers: `select jsonb_build_array(
      (select count(*) from roster_staging), (select count(*) from call where outcome = 'in_flight'),
      (select count(*) from run where state = 'running')) as row`,
} as const;

const dumpsOfCustomers = {
  customerStates: `select jsonb_build_array(reference, in_scope, state, reason, waiting, held) as row
    from customer_screening_status order by reference collate "C"`,
  stateChanges: `select jsonb_build_array(customer.reference, from_state, to_state, reason) as row
    from customer_state_change change join customer using (customer_id) order by customer.reference collate "C", change_id`,
  alerts: `select jsonb_build_array(customer.reference, match_id, alert.state, is_hit, severity, rule, topic, is_baseline, absence, is_true_match,
      (select jsonb_agg(jsonb_build_array(kind, verdict) order by disposition.disposition_id) from disposition
       where disposition.alert_id = alert.alert_id)) as row
    from alert_with_match alert join party using (party_id) join customer using (customer_id)
    order by customer.reference collate "C", match_id collate "C", alert_id`,
  // An early warning is sent where a night lasts long enough.
  outbox: `select jsonb_build_array(kind, state, count(*)) as row from outbox where kind not like 'warning%'
    group by kind, state order by kind, state`,
} as const;

/** One line a row, under the name of what it tells of. */
type Dump = Readonly<Record<string, readonly string[]>>;

async function readDumps(database: Database, statements: Readonly<Record<string, string>>): Promise<Dump> {
  const entries: [string, readonly string[]][] = [];
  for (const [name, sql] of Object.entries(statements)) {
    const rows = await database.query(rowSchema, sql);
    entries.push([name, rows.map(({ row }) => JSON.stringify(row))]);
  }
  return Object.fromEntries(entries);
}

/** What must be the same after crashes and without them. */
export async function dumpState(database: Database): Promise<Dump> {
  return { ...(await readDumps(database, dumps)), runs: await dumpRuns(database) };
}

/** The same, with alerts, states of customers and their changes, which a night writes when it is applied. */
export async function dumpApplied(database: Database): Promise<Dump> {
  return { ...(await dumpState(database)), ...(await readDumps(database, dumpsOfCustomers)) };
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
export function compareStates(calm: Dump, other: Dump): readonly string[] {
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
