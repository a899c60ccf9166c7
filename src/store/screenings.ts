import { z } from 'zod';
import type { ChangedParty, PartySaid } from '../changes/match-changes.js';
import type { Match } from '../matches/match.js';
import { type FactsOf, matchSchema, partySaidSchema } from '../vocabulary/facts.js';
import { answerStates, partyTypes, riskTiers } from '../vocabulary.js';
import { type Database, firstRow, type Queryable, requireRows } from './database/database.js';
import { toHiddenSql, toMatchRow } from './listed-parties.js';
import { toPlannedSql } from './plan-blocks.js';
import { assessedTierSql, hiddenMatchesSql, partySaidSql } from './row-shapes.js';

/** The outcome of a planned screening of one party. */
type ScreeningResult =
  | { partyId: number; outcome: 'screened' | 'reused'; responseId: number; reason: null }
  | { partyId: number; outcome: 'failed'; responseId: null; reason: string };

/** Saves the outcomes of planned screenings; an answer needs it only where a party has a row of its own (`savePartyStates`). */
export async function saveScreeningResults(
  transaction: Queryable,
  runId: number,
  batchId: number,
  results: readonly ScreeningResult[],
): Promise<void> {
  const groups = new Map<string, ScreeningResult[]>();
  for (const result of results) {
    const key = `${result.outcome} ${result.reason}`;
    const group = groups.get(key);
    if (group) group.push(result);
    else groups.set(key, [result]);
  }
  await Promise.all([...groups.values()].map((group) => saveAlike(transaction, runId, batchId, group)));
}

async function saveAlike(transaction: Queryable, runId: number, batchId: number, results: readonly ScreeningResult[]) {
  const [first] = results;
  if (first === undefined) return;
  const partyIds = results.map(({ partyId }) => partyId);
  // No join of the update: a new plan has no statistics yet, and a join would read the whole run for each batch.
  const kept = `kept as (
    update planned_screening set outcome = $4, outcome_reason = $5, batch_id = $2,
      response_id = ($6::bigint[])[array_position($3::bigint[], party_id)]
    where run_id = $1 and party_id = any ($3::bigint[]) and outcome = 'remaining'
    returning party_id
  )`;
  const planned = `planned as (${toPlannedSql('$1', '$3')} and task.outcome = 'remaining')`;
  // An answer needs no row: the state says which run gave it, and a second one of the same run is refused there.
  const made =
    first.outcome === 'screened'
      ? 'made as (select party_id from planned)'
      : `made as (
           insert into planned_screening (
             run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order
           )
           select $1, party_id, request_id, ($6::bigint[])[array_position($3::bigint[], party_id)], $2, customer_version, plan_reason,
             $4, $5, search_order
           from planned
           where $4 = 'reused' or not exists (
             select from party_state state join run on run.account_id = state.account_id
             where run.run_id = $1 and state.party_id = planned.party_id and state.run_id = run.run_id
           )
           returning party_id
         )`;
  const saved = await transaction.query(
    z.object({ parties: z.number() }),
    `with ${kept}, ${planned}, ${made}
     select ((select count(*) from kept) + (select count(*) from made))::integer as parties`,
    [runId, batchId, partyIds, first.outcome, first.reason, results.map((result) => result.responseId)],
  );
  requireRows(firstRow(saved, 'planned_screening').parties, results.length, 'planned_screening');
}

// Columns instead of JSON take half of the database's time for a page.
const taskRow = z
  .object({
    requestId: z.number(),
    type: z.enum(partyTypes),
    name: z.string(),
    partyIds: z.array(z.number()),
    customerVersions: z.array(z.number()),
    responseId: z.number().nullable(),
    digest: z.string().nullable(),
    matches: z.number().nullable(),
    hits: z.number().nullable(),
  })
  .transform(({ partyIds, customerVersions, responseId, digest, matches, hits, ...request }) => ({
    ...request,
    parties: partyIds.map((partyId, place) => ({ partyId, customerVersion: customerVersions[place] ?? 0 })),
    /**
     * The last answer, if the same bytes would leave all these parties as they are: this version checked it under the same settings, for the
     * same request and records. Its digest is in hex.
     */
    known:
      responseId === null || digest === null || matches === null || hits === null
        ? null
        : { responseId, digest, matches, hits },
  }));
/** A remaining search of a run with its parties. */
export type SearchTask = z.output<typeof taskRow>;

/** Parties in the order of their searches, as numbers: a million take 8 MB. */
const pageRow = z.object({ partyIds: z.array(z.number()) }).transform(({ partyIds }) => Float64Array.from(partyIds));
const pageSize = 2_000;
/** The first page is small, because all workers wait for it. */
const firstPageSize = 256;

/**
 * The remaining searches of a run's plan, distinct and in order, in chunks of `chunkSize` while others commit. The order is read once, the
 * rows page by page.
 */
export async function* readSearchTasks(
  { database, version, settingsDigest }: { database: Database; version: string; settingsDigest: string },
  runId: number,
  chunkSize: number,
): AsyncGenerator<SearchTask[], void> {
  const pages = await readOrder(database, runId);
  const read = (page: Float64Array | undefined): Promise<SearchTask[]> | undefined => {
    const tasks = page && readPage(database, [runId, Array.from(page), version, settingsDigest]);
    // Whoever comes to the page gets the failure. Until then the rejection must not end the process.
    tasks?.catch(() => undefined);
    return tasks;
  };
  // A page is read while the one before it is searched for: a night of 100,000 waited 2 s for its pages.
  let next = read(pages[0]);
  for (let at = 1; next !== undefined; at += 1) {
    const tasks = await next;
    next = read(pages[at]);
    for (let start = 0; start < tasks.length; start += chunkSize) yield tasks.slice(start, start + chunkSize);
  }
}

/** All parties of a search have the same order, so they stay on one page. */
function readOrder(database: Queryable, runId: number) {
  return database.query(
    pageRow,
    `select array_agg(party_id) as "partyIds"
     from (
       select party_id, rank() over (order by place, request_id) as position
       from (
         select request_id, party_id, min(search_order) over (partition by request_id) as place
         from open_screening where run_id = $1 and outcome = 'remaining'
       ) remaining
     ) placed
     group by case when position <= $2 then 0 else 1 + (position - $2 - 1) / $3 end
     order by min(position)`,
    [runId, firstPageSize, pageSize],
  );
}

function readPage(
  database: Queryable,
  parameters: [runId: number, partyIds: readonly number[], version: string, settingsDigest: string],
): Promise<SearchTask[]> {
  return database.query(
    taskRow,
    `select request.request_id, request.type, request.name, task.party_ids, task.customer_versions,
       response.response_id, encode(response.digest, 'hex') as digest, response.matches, response.hits
     from (
       select planned.request_id, min(planned.search_order) as place,
         array_agg(planned.party_id order by planned.party_id) as party_ids,
         array_agg(planned.customer_version order by planned.party_id) as customer_versions,
         case when bool_and(coalesce(
           state.run_id <> run.run_id and state.request_id = planned.request_id and state.customer_version = planned.customer_version
           and state.settings_digest = $4 and state.unreturned is null
           and answering.version = $3 and answering.resumed = 0
           -- Another version may have checked an answer that was used again.
           and (state.run_id, state.party_id) not in (select run_id, party_id from plan_exception where party_id = any ($2::bigint[]) and because is null), false)
         ) and min(state.response_id) = max(state.response_id) and min(state.state) = max(state.state) then min(state.response_id) end
           as response_id,
         min(state.state) as state
       from (
         select party_id, request_id, customer_version, search_order, true as is_explicit from planned_screening
         where run_id = $1 and party_id = any ($2::bigint[]) and outcome = 'remaining'
         union all
         select party_id, request_id, customer_version, search_order, false
         from (${toPlannedSql('$1', '$2')} and task.outcome = 'remaining') block
       ) planned
       join run on run.run_id = $1
       -- offset 0: looked up one by one. As a join, each page of a first night reads all states so far.
       left join lateral (
         select party_id, run_id, request_id, response_id, customer_version, settings_digest, unreturned, state.state from party_state state
         where state.account_id = run.account_id and state.party_id = planned.party_id offset 0
       ) state on true
       left join run answering on answering.run_id = state.run_id
       where planned.is_explicit or state.run_id is distinct from run.run_id
       group by planned.request_id
     ) task
     join screening_request request using (request_id)
     left join response on response.response_id = task.response_id
       and response.total is distinct from (select list_cap from run join account using (account_id) where run_id = $1)
       and task.state = case
         when response.hits > 0 then 'open_alert' when response.truncated then 'truncated'
         when response.total = 0 then 'clear' else 'below_threshold'
       end
     order by task.place, task.request_id`,
    parameters,
  );
}

/** The number of distinct searches of a run, of the remaining ones, and of those of customers never screened. */
export async function countSearchTasks(database: Queryable, runId: number) {
  const rows = await database.query(
    z.object({ total: z.number(), remaining: z.number(), remainingOfNew: z.number() }),
    `select count(distinct request_id)::integer as total,
       count(distinct request_id) filter (where outcome = 'remaining')::integer as remaining,
       count(distinct request_id) filter (where outcome = 'remaining' and plan_reason = 'new')::integer as "remainingOfNew"
     from open_screening where run_id = $1 and outcome not in ('skipped', 'reused')`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

const row = z.object({ partyId: z.number(), matchIds: z.array(z.string()) });

/** The match ids of true matches by party; parties without one are omitted. */
async function readTrueMatches(
  database: Queryable,
  accountId: number,
  partyIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<string>>> {
  if (partyIds.length === 0) return new Map();
  const rows = await database.query(
    row,
    `select party_id, array_agg(match_id) as "matchIds"
     from alert_with_match where party_id = any ($2::bigint[]) and account_id = $1 and is_true_match
     group by party_id`,
    [accountId, [...partyIds]],
  );
  return new Map(rows.map(({ partyId, matchIds }) => [partyId, new Set(matchIds)]));
}

const stateRow = z.object({
  partyId: z.number(),
  requestId: z.number(),
  responseId: z.number(),
  customerVersion: z.number(),
  settingsDigest: z.string(),
  /** The last reported scores that differ from the answer, by match id. */
  reportedScores: z
    .record(z.string(), z.number())
    .nullable()
    .transform((scores): Readonly<Record<string, number>> => scores ?? {}),
  /** Known matches that truncated lists have hidden since. */
  unreturned: z.array(matchSchema).readonly(),
  state: z.enum(answerStates),
});
export type PartyStateRow = FactsOf<typeof stateRow>;

export async function readPartyStates(
  database: Queryable,
  accountId: number,
  partyIds: readonly number[],
): Promise<ReadonlyMap<number, PartyStateRow>> {
  if (partyIds.length === 0) return new Map();
  const rows = await database.query(
    stateRow,
    `select party_id, request_id, response_id, customer_version, settings_digest, reported_scores,
       ${hiddenMatchesSql('unreturned')} as unreturned, state
     from party_state where account_id = $1 and party_id = any ($2::bigint[])`,
    [accountId, [...partyIds]],
  );
  return new Map(rows.map((row) => [row.partyId, row]));
}

/**
 * Locks the states of `partiesSql` (rows of `account_id` and `party_id`) until the transaction ends. One order for all callers prevents
 * deadlocks.
 */
export async function holdStates(transaction: Queryable, partiesSql: string, parameters: readonly unknown[]) {
  await transaction.execute(
    `select from party_state where (account_id, party_id) in (${partiesSql})
     order by party_id, account_id for no key update`,
    parameters,
  );
}

interface StateKey {
  accountId: number;
  runId: number;
  batchId: number;
  screenedAt: Date;
}

/**
 * Saves the newest valid answers of parties: of those in `dated` the same state is stored already, so that only its date is new. The former ones
 * are kept with them until a later run answers. True if some of the parties have a planned screening of their own, whose outcome must be saved
 * as well.
 */
export async function savePartyStates(
  transaction: Queryable,
  key: StateKey,
  { dated, replaced }: { dated: readonly number[]; replaced: readonly PartyStateRow[] },
): Promise<boolean> {
  const [isExplicit] = await Promise.all([
    dateStates(
      transaction,
      key,
      dated,
      replaced.map(({ partyId }) => partyId),
    ),
    replaceStates(transaction, key, replaced),
  ]);
  return isExplicit;
}

/** Dates unchanged states and locks all of them in the common order, so that a run and a reviewer do not deadlock. */
async function dateStates(
  transaction: Queryable,
  { accountId, runId, batchId, screenedAt }: StateKey,
  dated: readonly number[],
  others: readonly number[],
): Promise<boolean> {
  if (dated.length + others.length === 0) return false;
  const rows = await transaction.query(
    z.object({ known: z.number(), isExplicit: z.boolean() }),
    'select known, is_explicit from date_states($1, $2, $3, $4, $5, $6)',
    [accountId, runId, batchId, screenedAt, [...dated, ...others], [...others]],
  );
  const { known, isExplicit } = firstRow(rows, 'party_state');
  requireRows(known, dated.length, 'party_state');
  return isExplicit;
}

async function replaceStates(transaction: Queryable, key: StateKey, states: readonly PartyStateRow[]): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map((state) => ({
    party_id: state.partyId,
    request_id: state.requestId,
    response_id: state.responseId,
    customer_version: state.customerVersion,
    settings_digest: state.settingsDigest,
    state: state.state,
    reported_scores: Object.keys(state.reportedScores).length === 0 ? null : state.reportedScores,
    unreturned: state.unreturned.length === 0 ? null : state.unreturned.map(toMatchRow),
  }));
  const saved = await transaction.execute(
    `insert into party_state (
       account_id, run_id, batch_id, screened_at, party_id, request_id, response_id, customer_version, settings_digest, state,
       reported_scores, unreturned
     )
     select $1, $2, $5::bigint, $3, party_id, request_id, response_id, customer_version, settings_digest, state, reported_scores,
       ${toHiddenSql('(select organisation_id from account where account_id = $1)', 'row.unreturned')}
     from jsonb_to_recordset($4::text::jsonb) as row (
       party_id bigint, request_id bigint, response_id bigint, customer_version integer, settings_digest text, state text,
       reported_scores jsonb, unreturned jsonb
     )
     on conflict (account_id, party_id) do update set
       run_id = excluded.run_id, batch_id = excluded.batch_id, screened_at = excluded.screened_at, request_id = excluded.request_id,
       response_id = excluded.response_id, customer_version = excluded.customer_version,
       settings_digest = excluded.settings_digest, state = excluded.state, reported_scores = excluded.reported_scores,
       unreturned = excluded.unreturned,
       -- The replaced answer with its run and time.
       former_run_id = party_state.run_id, former_screened_at = party_state.screened_at,
       former_answer = jsonb_build_object(
         'request_id', party_state.request_id, 'response_id', party_state.response_id,
         'customer_version', party_state.customer_version, 'settings_digest', party_state.settings_digest,
         'state', party_state.state, 'reported_scores', party_state.reported_scores, 'unreturned', party_state.unreturned
       )
     -- A party that the run has an answer for already is not counted.
     where party_state.run_id <> excluded.run_id`,
    [key.accountId, key.runId, key.screenedAt, JSON.stringify(rows), key.batchId],
  );
  requireRows(saved, rows.length, 'party_state');
}

/** The facts of a party for the severity of its changes. */
interface ChangedPartyRow extends ChangedParty {
  /** Matches that were removed on the account and did not return, in order of removal. */
  removed: readonly Match[];
}

const partyRow = z.object({
  partyId: z.number(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(riskTiers).nullable(),
  gone: z.array(z.object({ kind: z.string(), before: matchSchema })),
});

/** A party with the customer version that was searched. */
interface SearchedParty {
  partyId: number;
  customerVersion: number;
}

/** Parties whose answers changed, by party id. */
export async function readChangedParties(
  database: Queryable,
  accountId: number,
  parties: readonly SearchedParty[],
): Promise<ReadonlyMap<number, ChangedPartyRow>> {
  if (parties.length === 0) return new Map();
  const rows = await database.query(
    partyRow,
    `select asked.party_id, ${assessedTierSql} as "riskTier",
       version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate' as "birthDate",
       version.record -> 'parties' -> party.ordinal::integer -> 'countries' as countries,
       coalesce((
         select jsonb_agg(jsonb_build_object('kind', event.kind, 'before', event.before) order by event.change_id)
         -- An offset of 0 keeps this apart: without statistics the planner would read all changes of a run for each party.
         from (
           select change_id, run_id, kind, before from change_event
           where party_id = asked.party_id and kind in ('match_removed', 'match_returned') offset 0
         ) event
         join run on run.run_id = event.run_id and run.account_id = $1
       ), '[]') as gone
     from unnest($2::bigint[], $3::integer[]) as asked (party_id, customer_version)
     join party on party.party_id = asked.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`,
    [accountId, parties.map(({ partyId }) => partyId), parties.map(({ customerVersion }) => customerVersion)],
  );
  return new Map(rows.map(({ partyId, gone, ...party }) => [partyId, { ...party, removed: findGone(gone) }]));
}

/** The facts that decide the severity of changes, each for its own list: party facts, true matches, and the facts of records. */
export async function readAssessedParties(
  database: Queryable,
  accountId: number,
  of: { parties: readonly SearchedParty[]; confirmed: readonly number[]; said: readonly SearchedParty[] },
) {
  const [parties, confirmed, said] = await Promise.all([
    readChangedParties(database, accountId, of.parties),
    readTrueMatches(database, accountId, of.confirmed),
    readPartiesSaid(database, of.said),
  ]);
  return { parties, confirmed, said };
}

/** The facts of the parties' records, by `party id/customer version`. */
async function readPartiesSaid(
  database: Queryable,
  parties: readonly SearchedParty[],
): Promise<ReadonlyMap<string, PartySaid>> {
  if (parties.length === 0) return new Map();
  const rows = await database.query(
    z.object({ key: z.string(), said: partySaidSchema }),
    `select concat_ws('/', asked.party_id, asked.customer_version) as key, ${partySaidSql} as said
     from unnest($1::bigint[], $2::integer[]) as asked (party_id, customer_version)
     join party on party.party_id = asked.party_id
     join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`,
    [parties.map(({ partyId }) => partyId), parties.map(({ customerVersion }) => customerVersion)],
  );
  return new Map(rows.map(({ key, said }) => [key, said]));
}

/** The matches that were removed and did not return. */
function findGone(events: readonly { kind: string; before: Match }[]): readonly Match[] {
  const gone = new Map<string, Match>();
  for (const { kind, before } of events) {
    // An id can be used twice.
    const key = JSON.stringify([before.id, before.name]);
    if (kind === 'match_removed') gone.set(key, before);
    else gone.delete(key);
  }
  return [...gone.values()];
}
