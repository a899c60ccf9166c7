import { standardHeaders } from '../column-names.js';
import type { PartyType, RiskTier } from '../customer.js';
import type { ColumnProfile } from './column-profile.js';
import { type ColumnRole, readHeaderRole } from './header-words.js';
import { tierWords, toValues, toWord, typeWords } from './own-words.js';

/** A mapping as guessed, in the words of the configuration. */
export interface GuessedColumns {
  id?: string;
  name?: string | readonly string[];
  type?: { value: PartyType } | { column: string; values: Readonly<Record<string, PartyType>> } | string;
  birthDate?: string | { column: string; format: string };
  countries?: string | readonly string[];
  riskTier?: string | { column: string; values: Readonly<Record<string, RiskTier>> };
  aliases?: string;
  active?: string;
  endDate?: string | { column: string; format: string };
}

/** A guessed mapping, with what somebody who knows the file should look at. */
export interface ColumnGuess {
  columns: GuessedColumns;
  /** Why each was guessed: by its header, or by its values. */
  because: Readonly<Record<string, string>>;
  /** What could not be guessed, or only by half. */
  doubts: readonly string[];
}

const enough = 0.9;
const shortCode = 14;
const yearLength = 4;

/** Guesses which columns of a table hold what, by their headers first and by their values where these say nothing. */
export function guessColumns(profiles: readonly ColumnProfile[]): ColumnGuess {
  const guess = new Guess(profiles);
  guessId(guess);
  guessType(guess);
  guessBirthDate(guess);
  guessTier(guess);
  guessCountries(guess);
  guessName(guess);
  guessOthers(guess);
  return guess;
}

class Guess implements ColumnGuess {
  readonly columns: GuessedColumns = {};
  readonly because: Record<string, string> = {};
  readonly doubts: string[] = [];
  readonly #free: Set<ColumnProfile>;

  constructor(profiles: readonly ColumnProfile[]) {
    this.#free = new Set(profiles);
  }

  /** Columns nobody has claimed yet, in the order of the table. */
  get free(): readonly ColumnProfile[] {
    return [...this.#free];
  }

  /** Free columns whose headers say nothing that is known: only of these the values may decide. */
  get unnamed(): readonly ColumnProfile[] {
    return this.free.filter(({ header }) => readHeaderRole(header) === null);
  }

  byRole(role: ColumnRole): ColumnProfile | undefined {
    return this.free.find(({ header }) => readHeaderRole(header) === role);
  }

  take(key: keyof GuessedColumns, why: string, ...profiles: readonly ColumnProfile[]): void {
    for (const profile of profiles) this.#free.delete(profile);
    this.because[key] = why;
  }
}

function guessId(guess: Guess): void {
  const named = guess.byRole('id');
  const profile = named ?? findCodes(guess);
  if (profile === undefined) {
    guess.doubts.push('no column looks like a customer id: name one that has a different value in every row');
    return;
  }
  const { header, filledShare, distinctShare } = profile;
  guess.columns.id = header;
  guess.take('id', named ? 'by its header' : 'by its values, which differ in every row', profile);
  if (!named) guess.doubts.push(`${header} is taken for the customer id by its values alone`);
  if (filledShare < 1) guess.doubts.push(`${header} is empty in some rows: these would be rejected`);
  if (distinctShare < 1) guess.doubts.push(`${header} repeats: rows of one id that differ would be rejected`);
}

/** Columns of codes that differ in every row; a long one may be the number of an account or a card. */
function findCodes(guess: Guess): ColumnProfile | undefined {
  const codes = guess.unnamed.filter(
    (profile) =>
      profile.filledShare === 1 && profile.distinctShare === 1 && profile.codeShare >= enough && !holdsDates(profile),
  );
  return codes.find(({ meanLength }) => meanLength <= shortCode) ?? codes[0];
}

/** A number of four digits passes for a year, but is nobody's birthday. */
const holdsDates = ({ dateFormats: [best], meanLength }: ColumnProfile): boolean =>
  best !== undefined && best.share > 0.5 && meanLength > yearLength;

function guessType(guess: Guess): void {
  const named = guess.byRole('type');
  const known = (profile: ColumnProfile): boolean =>
    profile.words?.some((word) => toWord(typeWords, word) !== null) === true;
  const profile = named?.words
    ? named
    : guess.unnamed.find(
        (column) =>
          column.words !== null &&
          column.words.length <= 6 &&
          known(column) &&
          column.words.every((word) => toWord(typeWords, word) !== null),
      );
  if (profile?.words && known(profile)) {
    const { values, unknown } = toValues(typeWords, profile.words);
    const isPlain = Object.entries(values).every(([own, word]) => own === word) && unknown.length === 0;
    guess.columns.type = isPlain ? profile.header : { column: profile.header, values };
    guess.take('type', profile === named ? 'by its header' : 'by its values', profile);
    if (unknown.length > 0)
      guess.doubts.push(
        `${profile.header} has values that are neither person nor entity as they stand: ${quoteAll(unknown)}`,
      );
    return;
  }
  guess.columns.type = { value: guess.byRole('company') && !guess.byRole('last_name') ? 'entity' : 'person' };
  guess.because['type'] = 'no column tells';
  guess.doubts.push('no column tells persons and entities apart: say which they are, or name the column');
}

function guessBirthDate(guess: Guess): void {
  const profile = guess.byRole('birth_date');
  if (profile === undefined) {
    const dated = guess.unnamed.find(({ dateFormats: [best] }) => best !== undefined && best.share >= enough);
    const format = dated?.dateFormats[0]?.format;
    if (dated)
      guess.doubts.push(
        `${dated.header} holds dates (${format}): if people were born on them, name it under birthDate`,
      );
    return;
  }
  guess.columns.birthDate = toDateColumn(guess, profile, 'birthDate');
  guess.take('birthDate', 'by its header', profile);
}

function toDateColumn(
  guess: Guess,
  { header, dateFormats, filled }: ColumnProfile,
  key: string,
): string | { column: string; format: string } {
  const [best, second] = dateFormats;
  if (best === undefined) {
    if (filled > 0) guess.doubts.push(`the dates of ${header} are written in no form that is known: give their format`);
    return header;
  }
  const isAmbiguous = second !== undefined && second.share === best.share && !isSameReading(best.format, second.format);
  if (isAmbiguous)
    guess.doubts.push(`${header} reads as ${best.format} and as ${second.format}: check which it is (${key})`);
  return best.format === 'yyyy-MM-dd' ? header : { column: header, format: best.format };
}

/** Two formats that differ only in leading zeros put day and month in the same places. */
const isSameReading = (one: string, other: string): boolean =>
  one.replace(/M+/g, 'M').replace(/d+/g, 'd') === other.replace(/M+/g, 'M').replace(/d+/g, 'd');

function guessTier(guess: Guess): void {
  const profile = guess.byRole('risk_tier');
  if (profile === undefined || profile.filled === 0) return;
  const { values, unknown } = toValues(tierWords, profile.words ?? []);
  if (Object.keys(values).length === 0) {
    const otherwise = isStandard(profile, 'riskTier')
      ? describeOmission(profile, 'riskTier')
      : 'give its values, or everybody counts as high';
    guess.doubts.push(`${profile.header} holds no words that are known for tiers: ${otherwise}`);
    return;
  }
  const isPlain = Object.entries(values).every(([own, word]) => own === word) && unknown.length === 0;
  guess.columns.riskTier = isPlain ? profile.header : { column: profile.header, values };
  guess.take('riskTier', 'by its header', profile);
  if (unknown.length > 0)
    guess.doubts.push(`${profile.header} has values that are no tier as they stand: ${quoteAll(unknown)}`);
}

function guessCountries(guess: Guess): void {
  const named = guess.free.filter(
    (profile) => readHeaderRole(profile.header) === 'countries' && profile.countryShare >= enough,
  );
  const found =
    named.length > 0
      ? named
      : guess.unnamed.filter((profile) => profile.countryShare >= enough && profile.filled > 1).slice(0, 1);
  const [first, ...others] = found.map(({ header }) => header);
  if (first === undefined) {
    const doubtful = guess.byRole('countries');
    if (doubtful && doubtful.filled > 0)
      guess.doubts.push(`${doubtful.header} holds what are no countries: ${describeOmission(doubtful, 'countries')}`);
    return;
  }
  guess.columns.countries = others.length === 0 ? first : [first, ...others];
  guess.take('countries', named.length > 0 ? 'by header and values' : 'by its values', ...found);
}

/** A standard header is read although no key names it, so that leaving it out of the mapping does not leave it out. */
const isStandard = ({ header }: ColumnProfile, key: 'countries' | 'riskTier'): boolean =>
  header.trim().normalize('NFC') === standardHeaders[key];

const describeOmission = (profile: ColumnProfile, key: 'countries' | 'riskTier'): string =>
  isStandard(profile, key)
    ? `by this header it is read all the same, and such rows would be rejected; give its values under ${key}, or rename it in the export`
    : 'left out';

function guessName(guess: Guess): void {
  const whole = guess.byRole('name');
  const parts = (['first_name', 'middle_name', 'last_name'] as const).flatMap((role) => guess.byRole(role) ?? []);
  const company = guess.byRole('company');
  const joined = [...parts, ...(company ? [company] : [])];
  if (whole) {
    guess.columns.name = whole.header;
    guess.take('name', 'by its header', whole);
    return;
  }
  if (joined.length > 0) {
    const headers = joined.map(({ header }) => header);
    guess.columns.name = headers.length === 1 ? (headers[0] ?? '') : headers;
    guess.take('name', 'by their headers', ...joined);
    return;
  }
  const [likely] = guess.unnamed
    .filter(
      ({ letterShare, distinctShare, words }) => letterShare >= enough && (words === null || distinctShare > enough),
    )
    .toSorted((one, other) => other.severalWordsShare - one.severalWordsShare);
  if (likely === undefined) {
    guess.doubts.push('no column looks like names: name the column, or the columns that make the name together');
    return;
  }
  guess.columns.name = likely.header;
  guess.take('name', 'by its values', likely);
  guess.doubts.push(`${likely.header} is taken for the name by its values alone`);
}

function guessOthers(guess: Guess): void {
  const aliases = guess.byRole('aliases');
  if (aliases)
    guess.doubts.push(
      `${aliases.header} may hold aliases: to search for these too, at the price of a search each, add aliases: ${JSON.stringify(aliases.header)}`,
    );
  const active = guess.byRole('active');
  if (active?.words)
    guess.doubts.push(
      `${active.header} (${quoteAll(active.words)}) may tell who has left: to use it, add active: { column: ${JSON.stringify(active.header)}, values: { ... } }`,
    );
  const endDate = guess.byRole('end_date');
  if (endDate)
    guess.doubts.push(
      `${endDate.header} may hold the last day of a customer: to use it, add endDate: ${JSON.stringify(endDate.header)}`,
    );
}

const quoteAll = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(', ');
