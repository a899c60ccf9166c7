import { z } from 'zod';
import type { PartySaid } from '../changes/detect-changes.js';
import type { SeenCustomer } from '../matches/review/seen-facts.js';
import type { PartyFacts } from '../reports/run-facts.js';

/** A party as the roster described it in one version of its customer; the shape that `partyFactsSql` builds. */
export const partyFactsSchema = z.object({
  reference: z.string(),
  role: z.enum(['customer', 'alias', 'joint_holder', 'director', 'beneficial_owner', 'conflicting_row']),
  type: z.enum(['person', 'entity']),
  name: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(['low', 'medium', 'high']).nullable(),
}) satisfies z.ZodType<PartyFacts>;

/** What of a party's facts a reviewer's decision is bound to; the shape that `seenCustomerSql` builds. */
export const seenCustomerSchema = partyFactsSchema.omit({
  reference: true,
  riskTier: true,
}) satisfies z.ZodType<SeenCustomer>;

/** What a record says of a party beside its request; the shape that `partySaidSql` builds. */
export const partySaidSchema = z.object({
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  riskTier: z.enum(['low', 'medium', 'high']).nullable(),
  doubts: z.record(z.string(), z.string()),
  said: z.record(z.string(), z.string()),
}) satisfies z.ZodType<PartySaid>;

/** SQL that builds the same as JSON from `version` (customer_version) and `party`: aliases have the facts of their customer. */
export const partySaidSql = `(
  select jsonb_build_object(
    'birthDate', facts.own -> 'birthDate', 'countries', facts.own -> 'countries', 'riskTier', version.risk_tier,
    'doubts', coalesce(facts.holder -> 'doubts', '{}'), 'said', coalesce(facts.holder -> 'said', '{}')
  )
  from (
    select seat as own, case when seat ->> 'role' in ('customer', 'alias') then version.record else seat end as holder
    from (select version.record -> 'parties' -> party.ordinal::integer as seat) seats
  ) facts
)`;

/** SQL: the tier by which severities are judged. One that cannot be read may be the highest, and lowers nothing. */
export const judgedTierSql =
  "coalesce(version.risk_tier, case when version.record -> 'doubts' ? 'riskTier' then 'high' end)";

/** SQL that builds the same as JSON from `version` (customer_version) and `party`. */
export const seenCustomerSql = `(
  select jsonb_build_object(
    'role', said.facts -> 'role', 'type', said.facts -> 'type', 'name', said.facts -> 'name',
    'birthDate', said.facts -> 'birthDate', 'countries', said.facts -> 'countries'
  )
  from (select version.record -> 'parties' -> party.ordinal as facts) said
)`;

/** SQL that builds a party's facts as JSON from `customer`, `version` (customer_version) and `party`. */
export const partyFactsSql = `jsonb_build_object(
  'reference', customer.reference,
  'role', version.record -> 'parties' -> party.ordinal::integer ->> 'role',
  'type', version.record -> 'parties' -> party.ordinal::integer ->> 'type',
  'name', version.record -> 'parties' -> party.ordinal::integer ->> 'name',
  'birthDate', version.record -> 'parties' -> party.ordinal::integer ->> 'birthDate',
  'countries', version.record -> 'parties' -> party.ordinal::integer -> 'countries',
  'riskTier', version.risk_tier
)`;

/** SQL that joins `party`, `customer` and `version` to a table that names a party and a customer version. */
export const joinPartySql = (table: string): string => `
  join party on party.party_id = ${table}.party_id
  join customer on customer.customer_id = party.customer_id
  join customer_version version on version.customer_id = party.customer_id and version.version = ${table}.customer_version`;
