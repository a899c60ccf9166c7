import type { Match } from '../matches/match.js';
import type { Party } from '../roster/customer.js';
import { type Agreement, compareBirthDates } from './compare-birth-dates.js';

/** How far a customer's facts bear out a match, beside the service's own score. */
export interface Corroboration {
  birthDate: Agreement;
  country: Agreement;
}

/** Compares a party's facts with those of a match; one listed date or country that agrees is enough. */
export function corroborate(
  party: Pick<Party, 'birthDate' | 'countries'>,
  match: Pick<Match, 'birthDates' | 'countries'>,
): Corroboration {
  return {
    birthDate: compareBirthDates(party.birthDate, match.birthDates),
    country: compareCountries(party.countries, match.countries),
  };
}

function compareCountries(ours: readonly string[], listed: readonly string[]): Agreement {
  if (ours.length === 0 || listed.length === 0) return 'unknown';
  const known = new Set(listed.map((country) => country.toLowerCase()));
  return ours.some((country) => known.has(country.toLowerCase())) ? 'agree' : 'contradict';
}
