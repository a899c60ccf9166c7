import { z } from 'zod';
import type { PartySaid } from '../changes/match-changes.js';
import type { SeenCustomer, SeenFacts } from '../matches/alert.js';
import type { Match } from '../matches/match.js';
import type { PartyFacts, ReplacedFacts } from '../reports/list-facts.js';
import { dispositionVerdicts, partyRoles, partyTypes, riskTiers, screeningKinds } from '../vocabulary.js';

/** A match as stored in JSON, in an answer or a change event. */
export const storedMatchSchema: z.ZodType<Match> = z.object({
  rank: z.number(),
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  isHit: z.boolean(),
  score: z.number(),
  topics: z.array(z.string()),
  birthDates: z.array(z.string()),
  countries: z.array(z.string()),
});

/** SQL: the matches of an answer, or those that `where` keeps, as such JSON in the order of their ranks. */
export const storedMatchesSql = (responseId: string, where = 'true'): string => `(
  select coalesce(jsonb_agg(show_match(listed, match.rank, match.is_hit, match.score) order by match.rank), '[]')
  from match left join listed_party listed using (listed_id)
  where match.response_id = ${responseId} and ${where}
)`;

/** SQL: the known matches that a cut list hides, as such JSON. */
export const hiddenMatchesSql = (unreturned: string): string => `(
  select coalesce(jsonb_agg(
    show_match(listed, (one -> 'rank')::integer, (one -> 'isHit')::boolean, (one -> 'score')::float8) order by place
  ), '[]')
  from jsonb_array_elements(nullif(${unreturned}, 'null')) with ordinality as hidden (one, place)
  left join listed_party listed on listed.listed_id = (one -> 'listedId')::bigint
)`;

/** The facts of a party in one version of its customer, as `partyFactsSql` builds them. */
export const partyFactsSchema = z.object({
  reference: z.string(),
  role: z.enum(partyRoles),
  type: z.enum(partyTypes),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(riskTiers).nullable(),
}) satisfies z.ZodType<PartyFacts>;

/** The facts of a party that bind a disposition, as `seenCustomerSql` builds them. */
export const seenCustomerSchema = partyFactsSchema.omit({
  reference: true,
  riskTier: true,
}) satisfies z.ZodType<SeenCustomer>;

const texts = z.array(z.string());
/** The facts that a disposition is bound to, as stored. */
export const seenFactsSchema = z.object({
  listed: z.object({ schema: z.string(), name: z.string(), topics: texts, birthDates: texts, countries: texts }),
  customer: z.object({
    role: z.string(),
    type: z.string(),
    name: z.string(),
    birthDate: z.string().nullable(),
    countries: texts,
  }),
}) satisfies z.ZodType<SeenFacts>;

/** The facts of a party's record besides its request, as `partySaidSql` builds them. */
export const partySaidSchema = z.object({
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(riskTiers).nullable(),
  doubts: z.record(z.string(), z.string()),
  said: z.record(z.string(), z.string()),
}) satisfies z.ZodType<PartySaid>;

/** SQL: that JSON from `version` (customer_version) and `party`; an alias has the facts of its customer. */
export const partySaidSql = `(
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
export const assessedTierSql =
  "coalesce(version.risk_tier, case when version.record -> 'doubts' ? 'riskTier' then 'high' end)";

/** SQL: that JSON from `version` (customer_version) and `party`. */
export const seenCustomerSql = `(
  select jsonb_build_object(
    'role', said.facts -> 'role', 'type', said.facts -> 'type', 'name', said.facts -> 'name',
    'birthDate', said.facts -> 'birthDate', 'countries', said.facts -> 'countries'
  )
  from (select version.record -> 'parties' -> party.ordinal as facts) said
)`;

/** SQL: a party's facts as JSON from `customer`, `version` (customer_version) and `party`. */
export const partyFactsSql = `jsonb_build_object(
  'reference', customer.reference,
  'role', version.record -> 'parties' -> party.ordinal::integer ->> 'role',
  'type', version.record -> 'parties' -> party.ordinal::integer ->> 'type',
  'name', version.record -> 'parties' -> party.ordinal::integer ->> 'name',
  'birthDate', version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate',
  'countries', version.record -> 'parties' -> party.ordinal::integer -> 'countries',
  'riskTier', version.risk_tier
)`;

/** SQL: joins `party`, `customer` and `version` to a table with a party and a customer version. */
export const joinPartySql = (table: string): string => `
  join party on party.party_id = ${table}.party_id
  join customer on customer.customer_id = party.customer_id
  join customer_version version on version.customer_id = party.customer_id and version.version = ${table}.customer_version`;

/** The last disposition of a match that was absent when the match of the alert appeared, as `replacedSql` builds it. */
export const replacedShape = z.object({
  verdict: z.enum(dispositionVerdicts),
  reviewer: z.string(),
  reason: z.string(),
  decidedAt: z.coerce.date(),
  name: z.string(),
  matchId: z.string(),
}) satisfies z.ZodType<ReplacedFacts>;

/** SQL: that JSON from the numbers of the disposition and of the listed party; null without one. */
export const replacedSql = (dispositionId: string, listedId: string): string => `(
  select jsonb_build_object(
    'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at,
    'name', former.name, 'matchId', former.match_id
  )
  from disposition_with_text made left join listed_party former on former.listed_id = ${listedId}
  where made.disposition_id = ${dispositionId}
)`;

/** SQL: the run kinds that screen, for `in (...)`. */
export const screeningKindsSql = screeningKinds.map((kind) => `'${kind}'`).join(', ');
