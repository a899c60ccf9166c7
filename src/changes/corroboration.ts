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

/** Former countries by codes of two letters (ISO 3166-3) as lists write them: the code of four letters, or what the country became. */
const formerCodes: Readonly<Record<string, readonly string[]>> = {
  ...{ su: ['suhh'], yu: ['yucs'], cs: ['cshh', 'csxx'], an: ['anhh'] },
  ...{ dd: ['de'], zr: ['cd'], bu: ['mm'], tp: ['tl'], hv: ['bf'], dy: ['bj'], rh: ['zw'], yd: ['ye'], uk: ['gb'] },
};

/** A country that was split up, or one that could not be read, may be any: it agrees with itself at most, and contradicts nothing. */
const isOpen = (code: string): boolean => code === 'zz' || /^..(?:hh|xx|cs)$/.test(code);

/** The last two letters of other codes of four letters are what the country became. */
const toCodes = (code: string): readonly string[] => {
  const folded = code.trim().toLowerCase();
  return formerCodes[folded] ?? [folded.length === 4 && !isOpen(folded) ? folded.slice(2) : folded];
};

function compareCountries(ours: readonly string[], listed: readonly string[]): Agreement {
  if (ours.length === 0 || listed.length === 0) return 'unknown';
  const [own, known] = [ours.flatMap(toCodes), new Set(listed.flatMap(toCodes))];
  if (own.some((code) => code !== 'zz' && known.has(code))) return 'agree';
  return own.some(isOpen) || [...known].some(isOpen) ? 'unknown' : 'contradict';
}
