import type { Party } from '../../roster/customer.js';
import { foldName } from '../fold-name.js';
import type { Match } from '../match.js';

/** The customer's side of what a reviewer sees. */
export type SeenCustomer = Pick<Party, 'role' | 'type' | 'name' | 'birthDate' | 'countries'>;

/**
 * What a decision is bound to: the listed party's facts and the customer's, in one order and spelling. Without score, rank, risk tier, match
 * id and whether the service flags it: none of them says who somebody is.
 */
export interface SeenFacts {
  listed: {
    schema: string;
    name: string;
    topics: readonly string[];
    birthDates: readonly string[];
    countries: readonly string[];
  };
  customer: {
    role: string;
    type: string;
    name: string;
    birthDate: string | null;
    countries: readonly string[];
  };
}

/** The facts whose change opens an item again, as reports name them. */
export const seenFields = [
  'listed_schema',
  'listed_name',
  'listed_topics',
  'listed_birth_date',
  'listed_country',
  'customer_role',
  'customer_type',
  'customer_name',
  'customer_birth_date',
  'customer_country',
] as const;
export type SeenField = (typeof seenFields)[number];

/** What a reviewer sees of a match and the party that it was found for. */
export function toSeenFacts(customer: SeenCustomer, match: Match): SeenFacts {
  const { role, type, name, birthDate, countries } = customer;
  return {
    listed: {
      schema: match.schema,
      name: foldName(match.name),
      topics: toSet(match.topics),
      birthDates: toSet(match.birthDates),
      countries: toSet(match.countries),
    },
    customer: { role, type, name: foldName(name), birthDate, countries: toSet(countries) },
  };
}

/** Which of the facts differ, in a fixed order; none when a decision still holds. */
export function compareSeenFacts(before: SeenFacts, after: SeenFacts): readonly SeenField[] {
  return seenFields.filter((field) => read[field](before) !== read[field](after));
}

/** One text for the same facts, whatever order they came in: what digests are made of. */
export const toSeenText = (facts: SeenFacts): string => JSON.stringify(seenFields.map((field) => read[field](facts)));

const toSet = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

const read: Readonly<Record<SeenField, (facts: SeenFacts) => string>> = {
  listed_schema: ({ listed }) => listed.schema,
  listed_name: ({ listed }) => listed.name,
  listed_topics: ({ listed }) => JSON.stringify(listed.topics),
  listed_birth_date: ({ listed }) => JSON.stringify(listed.birthDates),
  listed_country: ({ listed }) => JSON.stringify(listed.countries),
  customer_role: ({ customer }) => customer.role,
  customer_type: ({ customer }) => customer.type,
  customer_name: ({ customer }) => customer.name,
  customer_birth_date: ({ customer }) => customer.birthDate ?? '',
  customer_country: ({ customer }) => JSON.stringify(customer.countries),
};
