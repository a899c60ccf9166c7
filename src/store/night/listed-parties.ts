import { hash } from 'node:crypto';
import type { Match } from '../../matches/match.js';
import type { Queryable } from '../database/database.js';
import { insertInto, rawSql, type Sql, sql } from '../database/statement.js';

// A batch names a match two or three times: with its answer, in a change, and with the party to store.
const digests = new WeakMap<Match, string>();

/** A digest (hex) of what an answer says of a listed party, without what belongs to the search: rank, hit and score. */
export function digestListed(listed: Omit<Match, 'rank' | 'isHit' | 'score'>): string {
  const { id, name, schema, topics, birthDates, countries } = listed;
  return hash('sha256', JSON.stringify([id, name, schema, topics, birthDates, countries]));
}

function digestListedParty(match: Match): string {
  const known = digests.get(match) ?? digestListed(match);
  digests.set(match, known);
  return known;
}

/** A match for a statement, which finds its stored listed party by the digest. */
export const toMatchRow = (match: Match) => ({
  digest: digestListedParty(match),
  rank: match.rank,
  is_hit: match.isHit,
  score: match.score,
});

/** SQL: the stored listed party with a digest (hex), by its index whatever the statistics say. */
export const findListedSql = (organisationId: Sql, digest: string): Sql => sql`(
  select listed_id from listed_party where organisation_id = ${organisationId} and digest = decode(${rawSql(digest)}, 'hex') offset 0
)`;

/** SQL: matches (an array of `toMatchRow`) as references; null for a listed party that is not stored, which the table refuses. */
export const toHiddenSql = (organisationId: Sql, matches: string): Sql => sql`(
  select jsonb_agg(
    jsonb_build_object('listedId', found.listed_id, 'rank', one -> 'rank', 'isHit', one -> 'is_hit', 'score', one -> 'score') order by place
  )
  from jsonb_array_elements(${rawSql(matches)}) with ordinality as hidden (one, place)
  left join lateral ${findListedSql(organisationId, "one ->> 'digest'")} found on true
)`;

/** Stores the listed parties of matches, each once; a statement that is sent later finds them all. */
export async function saveListedParties(transaction: Queryable, organisationId: number, matches: readonly Match[]) {
  if (matches.length === 0) return;
  const byDigest = new Map(matches.map((match) => [digestListedParty(match), match]));
  // In one order for all runs: two runs that store the same parties would deadlock otherwise. Alerts of absent matches, whose id alone is new, are
  // stored 500 parties at a time: closes that deadlock over these few are repeated.
  const rows = Array.from(byDigest, ([digest, { id, name, schema, topics, birthDates, countries }]) => ({
    organisationId,
    digest: Buffer.from(digest, 'hex'),
    matchId: id,
    name,
    schema,
    topics,
    birthDates,
    countries,
  })).toSorted((one, other) => Buffer.compare(one.digest, other.digest));
  await transaction.execute(sql`${insertInto('listed_party', rows)} on conflict (organisation_id, digest) do nothing`);
}
