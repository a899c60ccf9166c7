import type { Match } from '../matches/match.js';
import type { Party } from '../roster/customer.js';
import type { corroborationSchema, FactsOf } from '../vocabulary/facts.js';
import type { Agreement } from '../vocabulary.js';

/** How far a customer's facts agree with a match, apart from the service's score. */
export type Corroboration = FactsOf<typeof corroborationSchema>;

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

/** Two-letter codes of former countries (ISO 3166-3) in lists: their four-letter code, or the successor country. */
const formerCodes: Readonly<Record<string, readonly string[]>> = {
  su: ['suhh'],
  yu: ['yucs'],
  cs: ['cshh', 'csxx'],
  an: ['anhh'],
  dd: ['de'],
  zr: ['cd'],
  bu: ['mm'],
  tp: ['tl'],
  hv: ['bf'],
  dy: ['bj'],
  rh: ['zw'],
  yd: ['ye'],
  uk: ['gb'],
};

/** A divided or unreadable country can be any country: it agrees only with itself and contradicts none. */
const isOpen = (code: string): boolean => code === 'zz' || /^..(?:hh|xx|cs)$/.test(code);

/** The last two letters of other four-letter codes are the successor country. */
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

interface PartialDate {
  year: number;
  month: number | null;
  day: number | null;
}

/**
 * Compares a customer's birth date (`yyyy`, `yyyy-mm` or `yyyy-mm-dd`) with all listed ones. Only a clearly different date contradicts. One
 * mistyped part, swapped day and month, or a year off by one when only years are known is `unknown`. 1 January counts as a year alone,
 * because lists and forms write it for unknown days. A date with `?` contradicts nothing: its century, or the order of day and month, is a
 * guess.
 */
export function compareBirthDates(ours: string | null, listed: readonly string[]): Agreement {
  const own = ours === null ? null : toPartialDate(ours.replace('?', ''));
  const isGuess = ours?.endsWith('?') ?? false;
  const dates = listed.map(toPartialDate);
  if (own === null || dates.length === 0) return 'unknown';
  const verdicts = dates.map((date) => (date === null ? 'unknown' : compareDates(own, date)));
  if (verdicts.includes('agree')) return 'agree';
  return isGuess || verdicts.includes('unknown') ? 'unknown' : 'contradict';
}

/** A date with or without a time; other text after it, such as the end of a span, makes it unreadable. */
const partialDate = /^(\d{4})(?:-(0\d|1[0-2])(?:-([0-2]\d|3[01])(?:[T ]\d\d:.*)?)?)?$/;

function toPartialDate(text: string): PartialDate | null {
  const [, year, month = '00', day = '00'] = partialDate.exec(text.trim()) ?? [];
  if (year === undefined || year === '0000') return null;
  if (month === '00' || (month === '01' && day === '01')) return { year: Number(year), month: null, day: null };
  return { year: Number(year), month: Number(month), day: day === '00' ? null : Number(day) };
}

function compareDates(ours: PartialDate, listed: PartialDate): Agreement {
  const years = Math.abs(ours.year - listed.year);
  if (ours.month === null || listed.month === null)
    return years === 0 ? 'agree' : years === 1 ? 'unknown' : 'contradict';
  const isSameMonth = ours.month === listed.month;
  const isSameDay = ours.day === null || listed.day === null || ours.day === listed.day;
  const areExchanged = ours.month === listed.day && ours.day === listed.month;
  const slips = [years > 0, !isSameMonth, !isSameDay].filter(Boolean).length;
  if (slips === 0) return 'agree';
  // A difference of tens of years is one mistyped key, as is one year.
  const isYearSlip = years === 1 || years % 10 === 0;
  if (years > 0) return slips === 1 && isYearSlip ? 'unknown' : 'contradict';
  return slips === 1 || areExchanged ? 'unknown' : 'contradict';
}
