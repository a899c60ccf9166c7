import { screeningKinds } from '../vocabulary.js';
import { rawSql, type Sql, sql } from './database/statement.js';

/** SQL: the matches of an answer, or those that `where` keeps, as such JSON in the order of their ranks. */
export const storedMatchesSql = (responseId: string, where = 'true'): Sql => sql`(
  select coalesce(jsonb_agg(show_match(listed, match.rank, match.is_hit, match.score) order by match.rank), '[]')
  from match left join listed_party listed using (listed_id)
  where match.response_id = ${rawSql(responseId)} and ${rawSql(where)}
)`;

/** SQL: the known matches that a cut list hides, as such JSON. */
export const hiddenMatchesSql = (unreturned: string): Sql => sql`(
  select coalesce(jsonb_agg(
    show_match(listed, (one -> 'rank')::integer, (one -> 'isHit')::boolean, (one -> 'score')::float8) order by place
  ), '[]')
  from jsonb_array_elements(nullif(${rawSql(unreturned)}, 'null')) with ordinality as hidden (one, place)
  left join listed_party listed on listed.listed_id = (one -> 'listedId')::bigint
)`;

/** SQL: that JSON from `version` (customer_version) and `party`; an alias has the facts of its customer. */
export const partySaidSql = sql`(
  select jsonb_build_object(
    'birthDate', facts.own -> 'birthDate', 'countries', facts.own -> 'countries', 'riskTier', version.risk_tier,
    'doubts', coalesce(facts.holder -> 'doubts', '{}'), 'said', coalesce(facts.holder -> 'said', '{}')
  )
  from (
    select slot as own, case when slot ->> 'role' in ('customer', 'alias') then version.record else slot end as holder
    from (select version.record -> 'parties' -> party.ordinal::integer as slot) slots
  ) facts
)`;

/** SQL: the risk tier for severities; an unreadable one counts as high. */
export const assessedTierSql = sql`coalesce(version.risk_tier, case when version.record -> 'doubts' ? 'riskTier' then 'high' end)`;

/** SQL: that JSON from `version` (customer_version) and `party`. */
export const seenCustomerSql = sql`(
  select jsonb_build_object(
    'role', said.facts -> 'role', 'type', said.facts -> 'type', 'name', said.facts -> 'name',
    'birthDate', said.facts -> 'birthDate', 'countries', said.facts -> 'countries'
  )
  from (select version.record -> 'parties' -> party.ordinal as facts) said
)`;

/** SQL: a party's facts as JSON from `customer`, `version` (customer_version) and `party`. */
export const partyFactsSql = sql`jsonb_build_object(
  'reference', customer.reference,
  'role', version.record -> 'parties' -> party.ordinal::integer ->> 'role',
  'type', version.record -> 'parties' -> party.ordinal::integer ->> 'type',
  'name', version.record -> 'parties' -> party.ordinal::integer ->> 'name',
  'birthDate', version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate',
  'countries', version.record -> 'parties' -> party.ordinal::integer -> 'countries',
  'riskTier', version.risk_tier
)`;

/** SQL: joins `party`, `customer` and `version` to a table with a party and a customer version. */
export const joinPartySql = (table: string): Sql => sql`
  join party on party.party_id = ${rawSql(table)}.party_id
  join customer on customer.customer_id = party.customer_id
  join customer_version version on version.customer_id = party.customer_id and version.version = ${rawSql(table)}.customer_version`;

/** SQL: that JSON from the numbers of the disposition and of the listed party; null without one. */
export const replacedSql = (dispositionId: string, listedId: string): Sql => sql`(
  select jsonb_build_object(
    'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at,
    'name', former.name, 'matchId', former.match_id
  )
  from disposition_with_text made left join listed_party former on former.listed_id = ${rawSql(listedId)}
  where made.disposition_id = ${rawSql(dispositionId)}
)`;

/** SQL: the state at `now` of a row of `standing` (customer_standing), by the screening frequencies of its account (`planned`). */
export const stateAtSql = (planned: 'planned' | 'shown', now: Date): Sql => sql`state_by(standing.last_state, reason_at(
  standing.reason, standing.as_of, standing.latest_at,
  ${now}::timestamptz - to_validity(to_cadence(${rawSql(planned)}.hours, standing.risk_tier)), ${now}::timestamptz
))`;

/** SQL: a closed set, for `in (...)` and `array[...]`. */
export const toSqlList = (codes: readonly string[]): Sql => rawSql(codes.map((code) => `'${code}'`).join(', '));

/** SQL: the run kinds that screen, for `in (...)`. */
export const screeningKindsSql = toSqlList(screeningKinds);
