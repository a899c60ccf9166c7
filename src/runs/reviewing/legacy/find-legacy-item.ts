import { compareBirthDates } from '../../../changes/compare-birth-dates.js';
import { foldName } from '../../../matches/fold-name.js';
import type { LegacyCandidate, LegacyCustomer } from '../../../store/review/legacy.js';
import { gatherBy } from '../../replaying/gather-by.js';
import type { LegacyFacts } from './read-legacy-rows.js';

/** Why nobody can tell which item a row of an older system is about. */
export type Unmatched =
  | 'unknown_customer'
  | 'several_rosters'
  | 'not_listed'
  | 'ambiguous'
  | 'name_differs'
  | 'birth_date_differs';

/** By what a row names its match. */
export type NamedMatch = Pick<LegacyFacts, 'reference' | 'roster' | 'matchId' | 'listedName' | 'listedBirthDate'>;

/**
 * The items that a row is about, one on each account where the match is: of those of its customer whose match is still listed the one with
 * its match id, else the only one with its listed name and, where it gives one, its birth date. An id under which somebody of another name
 * or birth date is listed today is none. Where more than one fits on any account, none is meant on all of them.
 */
export function findLegacyItems(
  facts: NamedMatch,
  customers: readonly LegacyCustomer[],
): { items: readonly LegacyCandidate[] } | { unmatched: Unmatched } {
  const meant = customers.filter(
    ({ reference, roster }) => reference === facts.reference && (facts.roster ?? roster) === roster,
  );
  const [customer] = meant;
  if (customer === undefined) return { unmatched: 'unknown_customer' };
  if (meant.length > 1) return { unmatched: 'several_rosters' };
  const found = [...gatherBy(customer.items, ({ accountId }) => accountId).values()].map((items) =>
    findOnAccount(facts, items),
  );
  const items = found.flatMap((one) => ('item' in one ? [one.item] : []));
  const reasons = new Set(found.flatMap((one) => ('unmatched' in one ? [one.unmatched] : [])));
  if (items.length > 0 && !reasons.has('ambiguous')) return { items };
  return { unmatched: mostTelling.find((reason) => reasons.has(reason)) ?? 'not_listed' };
}

/** Of the reasons of several accounts, which to tell. */
const mostTelling = ['ambiguous', 'name_differs', 'birth_date_differs'] as const;

type Found = { item: LegacyCandidate } | { unmatched: Unmatched };

function findOnAccount(facts: NamedMatch, items: readonly LegacyCandidate[]): Found {
  const ofId = items.filter(({ listed }) => listed.id === facts.matchId);
  const [item] = ofId;
  if (item === undefined) return findByName(facts, items);
  if (ofId.length > 1) return { unmatched: 'ambiguous' };
  if (facts.listedName !== null && !isNamed(item, facts.listedName)) return { unmatched: 'name_differs' };
  if (compareBirthDates(facts.listedBirthDate, item.listed.birthDates) === 'contradict') {
    return { unmatched: 'birth_date_differs' };
  }
  return { item };
}

function findByName({ listedName, listedBirthDate }: NamedMatch, items: readonly LegacyCandidate[]): Found {
  const named = listedName === null ? [] : items.filter((item) => isNamed(item, listedName));
  if (named.length === 0) return { unmatched: 'not_listed' };
  const fitting =
    listedBirthDate === null
      ? named
      : named.filter(({ listed }) => compareBirthDates(listedBirthDate, listed.birthDates) === 'agree');
  const [item] = fitting;
  if (item === undefined) return { unmatched: 'birth_date_differs' };
  return fitting.length > 1 ? { unmatched: 'ambiguous' } : { item };
}

const isNamed = ({ listed }: LegacyCandidate, name: string): boolean => foldName(listed.name) === foldName(name);
