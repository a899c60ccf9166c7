import { z } from 'zod';
import type { ChangedParty, PartySaid } from '../../changes/match-changes.js';
import type { Match } from '../../matches/match.js';
import { type FactsOf, matchSchema, partySaidSchema } from '../../vocabulary/facts.js';
import { answerStates, partyTypes, riskTiers } from '../../vocabulary.js';
import { type Database, executeAll, insertRows, type Queryable, readColumn, readRow } from '../database/database.js';
import { recordset, type Sql, sql } from '../database/statement.js';
import { assessedTierSql, hiddenMatchesSql, partySaidSql } from '../row-shapes.js';
import type { RunNumbers } from './ledger.js';
import { toHiddenSql, toMatchRow } from './listed-parties.js';

/** Saves planned requests that the service could not answer. */
export async function saveFailures(
  transaction: Queryable,
  { runId, wave }: RunNumbers,
  failures: readonly { requestId: number; reason: string }[],
): Promise<void> {
  const rows = failures.map(({ requestId, reason }) => ({ runId, requestId, reason, wave }));
  await insertRows(transaction, 'failure', rows);
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
  })
  .transform(({ partyIds, customerVersions, responseId, digest, ...request }) => ({
    ...request,
    parties: partyIds.map((partyId, place) => ({ partyId, customerVersion: customerVersions[place] ?? 0 })),
    /**
     * The last answer, if the same bytes would leave all these parties as they are: this version checked it under the same settings, for the
     * same request and records. Its digest is in hex.
     */
    known: responseId === null || digest === null ? null : { responseId, digest },
  }));
/** A remaining search of a run with its parties. */
export type SearchTask = z.output<typeof taskRow>;

const pageSize = 2_000;

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
  const read = (partyIds: readonly number[] | undefined): Promise<SearchTask[]> | undefined => {
    const tasks = partyIds && readPage(database, { runId, partyIds, version, settingsDigest });
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

/** The remaining searches among these parties of a run, in order. Each is looked up by its key, whatever is known of the run's tables. */
export async function readTasksOf(
  { database, version, settingsDigest }: { database: Queryable; version: string; settingsDigest: string },
  runId: number,
  partyIds: readonly number[],
): Promise<SearchTask[]> {
  const left = await readColumn(
    database,
    z.number(),
    sql`select party_id from (
       select planned.party_id,
         (select true from call where run_id = ${runId} and request_id = planned.request_id and batch is not null limit 1) as is_answered,
         (select true from failure where run_id = ${runId} and request_id = planned.request_id) as has_failed,
         (select true from reused where run_id = ${runId} and party_id = planned.party_id and wave is not null) as is_reused
       from planned where run_id = ${runId} and party_id = any (${partyIds})
       offset 0
     ) party
     where coalesce(is_answered, has_failed, is_reused) is null
       and not exists (select from run where run_id = ${runId} and unconfirmed_because is not null)`,
  );
  return readPage(database, { runId, partyIds: left, version, settingsDigest });
}

/** The pages of parties in the order of their searches. All parties of a search have the same order, so they stay on one page. */
function readOrder(database: Queryable, runId: number) {
  return readColumn(
    database,
    z.array(z.number()),
    sql`select array_agg(party_id)
     from (
       select party_id, rank() over (order by place, request_id) as position
       from (
         select request_id, party_id, min(search_order) over (partition by request_id) as place
         from (${remainingSql(runId)}) planned
       ) remaining
     ) placed
     group by (position - 1) / ${pageSize}
     order by min(position)`,
  );
}

function readPage(
  database: Queryable,
  of: { runId: number; partyIds: readonly number[]; version: string; settingsDigest: string },
): Promise<SearchTask[]> {
  return database.query(
    taskRow,
    sql`select request.request_id, request.type, request.name, task.party_ids, task.customer_versions,
       response.response_id, encode(response.digest, 'hex') as digest
     from (
       select planned.request_id, min(planned.search_order) as place,
         array_agg(planned.party_id order by planned.party_id) as party_ids,
         array_agg(planned.customer_version order by planned.party_id) as customer_versions,
         case when bool_and(coalesce(
           state.request_id = planned.request_id and state.customer_version = planned.customer_version
           and state.settings_digest = ${of.settingsDigest} and state.unreturned is null
           and answering.version = ${of.version} and answering.resumed = 0
           -- Another version may have checked an answer that was used again.
           and reused.party_id is null, false)
         ) and min(state.response_id) = max(state.response_id) and min(state.state) = max(state.state) then min(state.response_id) end
           as response_id,
         min(state.state) as state
       from planned
       join run on run.run_id = planned.run_id
       left join party_state state on state.account_id = run.account_id and state.party_id = planned.party_id
       left join run answering on answering.run_id = state.run_id
       left join reused on reused.run_id = state.run_id and reused.party_id = state.party_id
       where planned.run_id = ${of.runId} and planned.party_id = any (${of.partyIds})
       group by planned.request_id
     ) task
     join screening_request request using (request_id)
     left join response on response.response_id = task.response_id
       and response.total is distinct from (select list_cap from run join account using (account_id) where run_id = ${of.runId})
       and task.state = case
         when response.hits > 0 then 'open_alert' when response.truncated then 'truncated'
         when response.total = 0 then 'clear' else 'below_threshold'
       end
     order by task.place, task.request_id`,
  );
}

/**
 * SQL: the parties of a run that are still to be searched for. What is done is looked up in hashes, however little is known of a run that has
 * just begun: as joins, 10,000 customers took minutes.
 */
export const remainingSql = (runId: number): Sql => sql`
  select party_id, request_id, search_order, reason from planned
  where run_id = ${runId} and search_order is not null
    and request_id not in (select request_id from call where run_id = ${runId} and batch is not null)
    and request_id not in (select request_id from failure where run_id = ${runId})
    and party_id not in (select party_id from reused where run_id = ${runId} and wave is not null)
    and not exists (select from run where run_id = ${runId} and unconfirmed_because is not null)`;

/** The number of distinct searches of a run, of the remaining ones, and of those of customers never screened. */
export async function countSearchTasks(database: Queryable, runId: number) {
  return readRow(
    database,
    z.object({ total: z.number(), remaining: z.number(), remainingOfNew: z.number() }),
    sql`select (
         select count(distinct request_id)::integer from planned
         where run_id = ${runId} and search_order is not null
           and party_id not in (select party_id from reused where run_id = ${runId} and wave is not null)
       ) as total,
       count(distinct request_id)::integer as remaining,
       count(distinct request_id) filter (where reason = 'new')::integer as "remainingOfNew"
     from (${remainingSql(runId)}) remaining`,
  );
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
    sql`select party_id, array_agg(match_id) as "matchIds"
     from alert_with_match where party_id = any (${partyIds}) and account_id = ${accountId} and is_true_match
     group by party_id`,
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
    sql`select party_id, request_id, response_id, customer_version, settings_digest, reported_scores,
       ${hiddenMatchesSql('unreturned')} as unreturned, state
     from party_state where account_id = ${accountId} and party_id = any (${partyIds})`,
  );
  return new Map(rows.map((row) => [row.partyId, row]));
}

/**
 * Saves what answers make of the states of these parties, beside the states that they were compared with; applied with the wave of the answers.
 */
export async function saveNextStates(
  transaction: Queryable,
  { accountId, runId }: { accountId: number; runId: number },
  states: readonly PartyStateRow[],
): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map(({ partyId, settingsDigest, state, reportedScores, unreturned }) => ({
    partyId,
    settingsDigest,
    state,
    reportedScores: Object.keys(reportedScores).length === 0 ? null : reportedScores,
    unreturned: unreturned.length === 0 ? null : unreturned.map(toMatchRow),
  }));
  const organisationSql = sql`(select organisation_id from account where account_id = ${accountId})`;
  await executeAll(
    transaction,
    rows.length,
    sql`insert into next_state (
       run_id, party_id, settings_digest, state, reported_scores, unreturned, former_run_id, former_request_id, former_response_id,
       former_settings_digest, former_state, former_unreturned
     )
     select ${runId}, row.party_id, row.settings_digest, row.state, row.reported_scores, ${toHiddenSql(organisationSql, 'row.unreturned')},
       former.run_id, former.request_id, former.response_id, former.settings_digest, former.state, former.unreturned
     from ${recordset(rows)} as row (party_id bigint, settings_digest text, state text, reported_scores jsonb, unreturned jsonb)
     left join party_state former on former.account_id = ${accountId} and former.party_id = row.party_id`,
  );
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

/** SQL: these parties as `asked`, with `party` and the customer version that was searched (`version`). */
export const searchedSql = (parties: readonly SearchedParty[]): Sql => sql`
  ${recordset(parties.map(({ partyId, customerVersion }) => ({ partyId, customerVersion })))} as asked (party_id bigint, customer_version integer)
  join party on party.party_id = asked.party_id
  join customer_version version on version.customer_id = party.customer_id and version.version = asked.customer_version`;

/** Parties whose answers changed, by party id. */
export async function readChangedParties(
  database: Queryable,
  accountId: number,
  parties: readonly SearchedParty[],
): Promise<ReadonlyMap<number, ChangedPartyRow>> {
  if (parties.length === 0) return new Map();
  const rows = await database.query(
    partyRow,
    sql`select asked.party_id, ${assessedTierSql} as "riskTier",
       version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate' as "birthDate",
       version.record -> 'parties' -> party.ordinal::integer -> 'countries' as countries,
       coalesce((
         select jsonb_agg(jsonb_build_object('kind', event.kind, 'before', event.before) order by event.change_id)
         -- An offset of 0 keeps this apart: without statistics the planner would read all changes of a run for each party.
         from (
           select change_id, run_id, kind, before from change_event
           where party_id = asked.party_id and kind in ('match_removed', 'match_returned') offset 0
         ) event
         join run on run.run_id = event.run_id and run.account_id = ${accountId}
       ), '[]') as gone
     from ${searchedSql(parties)}`,
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
    sql`select concat_ws('/', asked.party_id, asked.customer_version) as key, ${partySaidSql} as said
     from ${searchedSql(parties)}`,
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
