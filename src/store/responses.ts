import { z } from 'zod';
import type { Match, MatchSet } from '../matches/match.js';
import type { Queryable } from './database.js';
import { requireRows } from './require-all.js';
import { storedMatchSchema, storedMatchSql } from './stored-match.js';

/** An answer to store under its keyed digest. */
export interface NewResponse {
  /** In hex. */
  digest: string;
  body: string;
  matchSet: MatchSet;
}

const idRow = z.object({ response_id: z.number(), digest: z.string() });

/** Stores answers that are not known yet, each with its matches, once ever; gives the id of each by hex digest. */
export async function saveResponses(
  transaction: Queryable,
  organisationId: number,
  responses: readonly NewResponse[],
  now: Date,
): Promise<ReadonlyMap<string, number>> {
  // In one order: two runs that store the same answers at the same time would wait for each other otherwise.
  const inOrder = responses.toSorted((one, other) => (one.digest < other.digest ? -1 : 1));
  const byDigest = new Map(inOrder.map((response) => [response.digest, response]));
  const known = await findResponses(transaction, organisationId, [...byDigest.keys()]);
  // Most of a night nothing is new, and then no answer has to go to the database once more.
  const unknown = [...byDigest.keys()].filter((digest) => !known.has(digest));
  if (unknown.length === 0) return known;
  const rows = [...byDigest].flatMap(([digest, { body, matchSet }]) =>
    known.has(digest) ? [] : [{ digest, body, ...toSizes(matchSet) }],
  );
  const inserted = await transaction.query(
    idRow,
    `insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, first_match_id)
     select $1, decode(digest, 'hex'), body, total, truncated, $3, matches, hits, first_match_id
     from jsonb_to_recordset($2::text::jsonb) as row (
       digest text, body text, total bigint, truncated boolean, matches integer, hits integer, first_match_id text
     )
     order by row.digest collate "C"
     on conflict (organisation_id, digest) do nothing
     returning response_id, encode(digest, 'hex') as digest`,
    [organisationId, JSON.stringify(rows), now],
  );
  await saveMatches(
    transaction,
    inserted.flatMap((row) =>
      (byDigest.get(row.digest)?.matchSet.matches ?? []).map((match) => ({ ...match, responseId: row.response_id })),
    ),
  );
  const all = new Map([...known, ...inserted.map((row) => [row.digest, row.response_id] as const)]);
  if (all.size === byDigest.size) return all;
  // Another run has stored some of them meanwhile.
  const stored = await findResponses(transaction, organisationId, [...byDigest.keys()]);
  requireRows(stored.size, byDigest.size, 'response');
  return stored;
}

/** What is stored with an answer beside its text; the first match is the one of rank 1. */
const toSizes = ({ total, truncated, matches }: MatchSet) => ({
  total,
  truncated,
  matches: matches.length,
  hits: matches.filter(({ isHit }) => isHit).length,
  first_match_id: matches.find(({ rank }) => rank === 1)?.id ?? null,
});

async function findResponses(
  transaction: Queryable,
  organisationId: number,
  digests: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (digests.length === 0) return new Map();
  const rows = await transaction.query(
    idRow,
    `select response_id, encode(digest, 'hex') as digest from response
     where organisation_id = $1 and digest = any ($2::bytea[])`,
    [organisationId, digests.map((digest) => `\\x${digest}`)],
  );
  return new Map(rows.map((row) => [row.digest, row.response_id]));
}

async function saveMatches(
  transaction: Queryable,
  matches: readonly (Match & { responseId: number })[],
): Promise<void> {
  if (matches.length === 0) return;
  const saved = await transaction.execute(
    `insert into match (response_id, rank, match_id, name, schema, is_hit, score, topics, birth_dates, countries)
     select "responseId", rank, id, name, schema, "isHit", score, topics, "birthDates", countries
     from jsonb_to_recordset($1::text::jsonb) as row (
       "responseId" bigint, rank integer, id text, name text, schema text, "isHit" boolean, score double precision,
       topics text[], "birthDates" text[], countries text[]
     )`,
    [JSON.stringify(matches)],
  );
  requireRows(saved, matches.length, 'match');
}

const matchSetRow = z.object({
  response_id: z.number(),
  total: z.number(),
  truncated: z.boolean(),
  matches: z.array(storedMatchSchema),
});

/** The match sets of stored answers by response id. */
export async function readMatchSets(
  database: Queryable,
  responseIds: readonly number[],
): Promise<ReadonlyMap<number, MatchSet>> {
  if (responseIds.length === 0) return new Map();
  const rows = await database.query(
    matchSetRow,
    `select response.response_id, response.total, response.truncated,
       coalesce(
         jsonb_agg(
           ${storedMatchSql} order by match.rank
         ) filter (where match.rank is not null),
         '[]'::jsonb
       ) as matches
     from response left join match using (response_id)
     where response.response_id = any ($1::bigint[])
     group by response.response_id`,
    [[...new Set(responseIds)]],
  );
  return new Map(rows.map(({ response_id: id, ...matchSet }) => [id, matchSet]));
}
