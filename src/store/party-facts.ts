import { z } from 'zod';
import type { SeenCustomer } from '../matches/review/seen-facts.js';
import type { PartyFacts } from '../reports/run-facts.js';

/** A party as the roster described it in one version of its customer; the shape that `partyFactsSql` builds. */
export const partyFactsSchema = z.object({
  reference: z.string(),
  role: z.enum(['customer', 'alias', 'joint_holder', 'director', 'beneficial_owner', 'other', 'conflicting_row']),
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
