import { z } from 'zod';
import type { MatchSet } from '../../matches/match.js';
import { matchSchema, partySaidSchema, partySchema, seenCustomerSchema } from '../../vocabulary/facts.js';
import { runKinds } from '../../vocabulary.js';
import { findValue, type Queryable, readColumn, readRow, readValue } from '../database/database.js';
import { recordset, type Sql, sql } from '../database/statement.js';
import { assessedTierSql, partySaidSql, seenCustomerSql, storedMatchesSql } from '../row-shapes.js';
import { findListedSql, saveListedParties, toMatchRow } from './listed-parties.js';
import { searchedSql } from './screenings.js';

const idRow = z.object({ responseId: z.number(), digest: z.string() });

/** Stores new answers under their keyed digests (hex), each with its matches and only once; returns all ids by digest. */
export async function saveResponses(
  transaction: Queryable,
  organisationId: number,
  responses: readonly { digest: string; body: string; matchSet: MatchSet }[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  // One order for all runs: two runs that store the same answers would deadlock otherwise.
  const inOrder = responses.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
  const byDigest = new Map(inOrder.map((response) => [response.digest, response]));
  const known = await findResponses(transaction, organisationId, [...byDigest.keys()]);
  // Usually no answer is new, so no body is sent to the database.
  if (known.size === byDigest.size) return known;
  const fresh = [...byDigest.values()].filter(({ digest }) => !known.has(digest));
  const rows = fresh.map(({ digest, body, matchSet }) => ({ digest, body, ...toSizes(matchSet) }));
  const matches = fresh.flatMap(({ matchSet }) => matchSet.matches);
  const [, inserted] = await Promise.all([
    saveListedParties(transaction, organisationId, matches),
    transaction.query(
      idRow,
      sql`insert into response (
         organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id, listed_ids, are_hits, scores
       )
       select ${organisationId}, decode(digest, 'hex'), body, total, truncated, ${now}, matches, hits, first_match_id, said.listed_ids, said.are_hits, said.scores
       from ${recordset(rows)} as row (
         digest text, body text, total bigint, truncated boolean, matches integer, hits integer, first_match_id text, listed jsonb
       )
       cross join lateral (
         select array_agg(listed_id order by rank) as listed_ids, array_agg(is_hit order by rank) as are_hits,
           array_agg(score order by rank) as scores
         from jsonb_to_recordset(row.listed) as one (digest text, rank integer, is_hit boolean, score double precision)
         cross join lateral ${findListedSql(sql`${organisationId}`, 'one.digest')} listed
       ) said
       order by row.digest collate "C"
       on conflict (organisation_id, digest) do nothing
       returning response_id, encode(digest, 'hex') as digest`,
    ),
  ]);
  const all = new Map([...known, ...inserted.map((row) => [row.digest, row.responseId] as const)]);
  if (all.size === byDigest.size) return all;
  // Another run has stored some of them in the meantime. The caller requires each.
  return findResponses(transaction, organisationId, [...byDigest.keys()]);
}

/** An answer's matches as they are stored, and their counts; the first match has rank 1. */
const toSizes = ({ total, truncated, matches }: MatchSet) => ({
  total,
  truncated,
  matches: matches.length,
  hits: matches.filter(({ isHit }) => isHit).length,
  firstMatchId: matches.find(({ rank }) => rank === 1)?.id ?? null,
  listed: matches.map(toMatchRow),
});

async function findResponses(
  transaction: Queryable,
  organisationId: number,
  digests: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (digests.length === 0) return new Map();
  const rows = await transaction.query(
    idRow,
    sql`select response_id, encode(digest, 'hex') as digest from response
     where organisation_id = ${organisationId} and digest = any (${digests.map((digest) => `\\x${digest}`)}::bytea[])`,
  );
  return new Map(rows.map((row) => [row.digest, row.responseId]));
}

const matchSetRow = z.object({
  responseId: z.number(),
  total: z.number(),
  truncated: z.boolean(),
  matches: z.array(matchSchema),
});

/** The match sets of stored answers by response id. */
export async function readMatchSets(
  database: Queryable,
  responseIds: readonly number[],
): Promise<ReadonlyMap<number, MatchSet>> {
  if (responseIds.length === 0) return new Map();
  const rows = await database.query(
    matchSetRow,
    sql`select response_id, total, truncated, ${storedMatchesSql('response.response_id')} as matches
     from response where response_id = any (${[...new Set(responseIds)]})`,
  );
  return new Map(rows.map(({ responseId: id, ...matchSet }) => [id, matchSet]));
}

const answerRow = z.object({
  partyId: z.number(),
  accountId: z.number(),
  runId: z.number(),
  kind: z.enum(runKinds),
  startedAt: z.date(),
  savedAt: z.date(),
  requestId: z.number(),
  responseId: z.number(),
  customerVersion: z.number(),
  settingsDigest: z.string(),
  /** The length at which lists counted as truncated without notice. */
  cap: z.number().nullable(),
});

/**
 * The stored history of the next `limit` parties of an organisation after `after`: their answers by party, account and run, without unapplied
 * and repeated ones, with the match sets; the parties in each of these versions; and the dispositions, oldest first. Null after the last.
 */
export async function readHistory(database: Queryable, organisation: string, after: number, limit: number) {
  const partyIds = await readColumn(
    database,
    z.number(),
    sql`select party_id
     from party join customer using (customer_id) join roster using (roster_id) join organisation using (organisation_id)
     where organisation.name = ${organisation} and party_id > ${after}
     order by party_id limit ${limit}`,
  );
  const last = partyIds.at(-1);
  if (last === undefined) return null;
  const answers = await readAnswerHistory(database, partyIds);
  const responseIds = answers.map(({ responseId }) => responseId);
  return {
    last,
    answers,
    matchSets: await readMatchSets(database, responseIds),
    parties: await readHistoricalParties(database, answers),
    decisions: await readDecisionHistory(database, partyIds),
  };
}

/** Answers of a party on an account that differ from the one before in text, record, request, settings or cap. */
async function readAnswerHistory(database: Queryable, partyIds: readonly number[]) {
  return database.query(
    answerRow,
    sql`select party_id, account_id, run_id, kind, started_at, saved_at, request_id, response_id, customer_version, settings_digest, cap
     from (
       select answer.*, lag(answer.likeness) over (partition by party_id, account_id order by run_id) as former
       from (
         select answered.party_id, run.account_id, run.run_id, run.kind, run.started_at,
           coalesce(answered.answered_at, run.started_at) as saved_at, answered.request_id,
           answered.response_id, answered.customer_version, run.settings_digest, cap.length as cap,
           concat_ws('/', answered.response_id, answered.customer_version, answered.request_id, run.settings_digest, coalesce(cap.length, 0))
             as likeness
         from run
         join screening answered on answered.run_id = run.run_id and answered.party_id = any (${partyIds})
         left join lateral (
           select length
           from account
           cross join jsonb_array_elements(account.list_caps) with ordinality as noted (cap, place)
           cross join jsonb_to_record(cap) as found (length integer, "foundRunId" bigint, "goneRunId" bigint)
           where account.account_id = run.account_id and "foundRunId" <= run.run_id and coalesce("goneRunId" >= run.run_id, true)
           order by place desc limit 1
         ) cap on true
         where run.account_id is not null and answered.outcome in ('screened', 'reused')
       ) answer
     ) compared
     where likeness is distinct from former
     order by party_id, account_id, run_id`,
  );
}

const partyRow = z.object({
  partyId: z.number(),
  version: z.number(),
  reference: z.string(),
  customer: seenCustomerSchema,
  riskTier: partySchema.shape.riskTier,
  said: partySaidSchema,
});
/** Parties in each of these customer versions. */
async function readHistoricalParties(
  database: Queryable,
  asked: readonly { partyId: number; customerVersion: number }[],
) {
  return database.query(
    partyRow,
    sql`select distinct on (party.party_id, version.version) party.party_id, version.version, customer.reference,
       ${seenCustomerSql} as customer, ${assessedTierSql} as "riskTier", ${partySaidSql} as said
     from ${searchedSql(asked)}
     join customer on customer.customer_id = party.customer_id`,
  );
}

const decisionRow = z.object({
  partyId: z.number(),
  accountId: z.number(),
  matchId: z.string(),
  at: z.date(),
  kind: z.enum(['decided', 'true_match', 'fell', 'away', 'back']),
});
/** The dispositions of these parties' alerts and the later events, oldest first; `true_match` is a disposition too. */
async function readDecisionHistory(database: Queryable, partyIds: readonly number[]) {
  return database.query(
    decisionRow,
    sql`select alert.party_id, alert.account_id, alert.match_id as "matchId", said.at, said.kind
     from alert_with_match alert
     cross join lateral (
       select decided_at as at, 0 as place, disposition_id as number,
         case
           when kind = 'undone' then 'fell'
           when verdict = 'true_match' and kind <> 'proposed' then 'true_match'
           else 'decided'
         end as kind
       from disposition where disposition.alert_id = alert.alert_id
       union all
       select happened_at, 1, event_id, case kind when 'reopened' then 'fell' when 'auto_closed' then 'away' else 'back' end
       from alert_event where alert_event.alert_id = alert.alert_id and kind in ('reopened', 'auto_closed', 'returned')
     ) said
     where alert.party_id = any (${partyIds})
     order by said.at, said.place, said.number`,
  );
}

/** The number of stored changes of an organisation's runs since then; first screenings separately. */
export async function countStoredChanges(database: Queryable, organisation: string, since: Date | null) {
  return readRow(
    database,
    z.object({ changes: z.number(), baseline: z.number() }),
    sql`select count(*) filter (where not is_baseline)::integer as changes, count(*) filter (where is_baseline)::integer as baseline
     from change_event join run using (run_id) join organisation using (organisation_id)
     where organisation.name = ${organisation} and run.started_at >= coalesce(${since}, run.started_at)`,
  );
}

/** The length at which an account's lists are truncated without notice, or null. */
export function readListCap(database: Queryable, accountId: number): Promise<number | null> {
  return findValue(database, z.number().nullable(), sql`select list_cap from account where account_id = ${accountId}`);
}

/** The number of searches of a run whose lists were longer before, by their length now. */
export async function countShortened(database: Queryable, runId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query(
    z.object({ length: z.number(), searches: z.number() }),
    sql`select response.total::integer as length, count(distinct answer.request_id)::integer as searches
     from next_state next
     join party_answer answer on answer.run_id = next.run_id and answer.party_id = next.party_id
     join response on response.response_id = answer.response_id
     join response former on former.response_id = next.former_response_id
     where next.run_id = ${runId} and next.former_request_id = answer.request_id and response.total between 1 and former.total - 1
     group by response.total`,
  );
  return new Map(rows.map(({ length, searches }) => [length, searches]));
}

/**
 * Stores the cap of an account after a run, or its end; `gone` is the cap that ended. Treats the run's lists of these lengths as complete
 * again, or as truncated, and returns the number of customers with such a list.
 */
export async function applyListCap(
  transaction: Queryable,
  key: { accountId: number; runId: number; now: Date },
  { cap, gone }: { cap: number | null; gone: number | null },
): Promise<number> {
  await transaction.execute(
    sql`update account set list_caps = case when list_cap is null then list_caps else
         jsonb_set(list_caps, '{-1}', list_caps -> -1 || jsonb_build_object('goneRunId', ${key.runId}::bigint, 'goneAt', ${key.now}::timestamptz)) end
       || case when ${cap}::integer is null then '[]' else jsonb_build_array(jsonb_build_object(
         'length', ${cap}::integer, 'foundRunId', ${key.runId}::bigint, 'foundAt', ${key.now}::timestamptz, 'goneRunId', null, 'goneAt', null)) end
     where account_id = ${key.accountId} and list_cap is distinct from ${cap}::integer`,
  );
  const freed = gone === null ? 0 : await takeForWhole(transaction, key.runId, gone);
  return cap === null ? freed : takeForCut(transaction, key.runId, cap);
}

/** SQL: the parties of a run, also those it did not search, whose last answer on its account has this length. */
const partiesOfLength = (runId: number, length: number): Sql => sql`
  select state.party_id, state.account_id
  from screening
  join run on run.run_id = screening.run_id
  join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
  join response on response.response_id = state.response_id
  where screening.run_id = ${runId} and screening.outcome in ('screened', 'reused', 'skipped')
    and response.total = ${length} and not response.truncated`;

/** SQL: what a change keeps when another replaces it. */
const changeColumns = sql`run_id, wave, party_id, customer_version, severity, cause, is_baseline, match_id, fields,
  before_listed_id, before_rank, before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, adjustments,
  birth_date_agreement, country_agreement, sanction_hit, former_customer_version`;

/**
 * Treats the run's lists of this length as truncated: no customer is clear by one, and a missing match is not returned instead of removed.
 * Returns the number of customers with such a list.
 */
async function takeForCut(transaction: Queryable, runId: number, length: number): Promise<number> {
  // A removed match is kept as hidden, so that the next complete list decides.
  await transaction.execute(
    sql`with removed as materialized (
       select change_id, ${changeColumns}, rule from change_event
       where run_id = ${runId} and kind = 'match_removed' and party_id in (select party_id from (${partiesOfLength(runId, length)}) parties)
     ),
     replacing as (
       insert into change (${changeColumns}, kind, rule, replaces)
       select ${changeColumns}, 'match_not_returned', case when rule = 'delisted' then 'not_returned' else rule end, change_id from removed
     )
     update party_state set unreturned = coalesce(unreturned, '[]'::jsonb) || lost.matches
     from (
       select party_id, jsonb_agg(
         jsonb_build_object('listedId', before_listed_id, 'rank', before_rank, 'isHit', before_is_hit, 'score', before_score)
       ) as matches
       from removed group by party_id
     ) lost, run
     where run.run_id = ${runId} and party_state.account_id = run.account_id and party_state.party_id = lost.party_id`,
  );
  await transaction.execute(
    sql`update party_state set state = case
       when jsonb_path_exists(coalesce(party_state.unreturned, '[]'::jsonb), '$[*] ? (@.isHit == true)') then 'open_alert'
       else 'truncated'
     end
     from (${partiesOfLength(runId, length)}) parties
     where party_state.account_id = parties.account_id and party_state.party_id = parties.party_id
       and party_state.state in ('clear', 'below_threshold')`,
  );
  return countOfLength(transaction, runId, length);
}

/** The number of customers of a run with a list of this length. */
const countOfLength = (transaction: Queryable, runId: number, length: number): Promise<number> =>
  readValue(
    transaction,
    z.number(),
    sql`select count(distinct party.customer_id)::integer as customers from (${partiesOfLength(runId, length)}) parties join party using (party_id)`,
  );

/**
 * Treats the run's lists of this length as complete again, except those that hide a known match. Returns the number of customers with one.
 */
async function takeForWhole(transaction: Queryable, runId: number, length: number): Promise<number> {
  await transaction.execute(
    sql`update party_state set state = 'below_threshold'
     from (${partiesOfLength(runId, length)}) parties
     where party_state.account_id = parties.account_id and party_state.party_id = parties.party_id
       and party_state.state = 'truncated' and party_state.unreturned is null`,
  );
  return countOfLength(transaction, runId, length);
}
