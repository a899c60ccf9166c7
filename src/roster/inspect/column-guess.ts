import { proposeFormats } from '../../vocabulary/date-formats.js';
import { listWords } from '../../vocabulary/words.js';
import type { PartyType } from '../../vocabulary.js';
import { readCountry } from '../country.js';
import { readHeader, standardHeaders } from '../headers.js';
import { guessAliasSeparator, isCompanyName } from '../name-lists.js';
import { createLooseDateReader } from '../read-date.js';
import { readRelatedHeader } from '../related-headers.js';
import { quoteAll } from '../table-reading.js';
import tables from '../words/values.json' with { type: 'json' };
import { type ColumnGuess, type ColumnProfile, enough, Guess, toHeaders } from './column-profile.js';
import { guessName, guessParties } from './name-guess.js';

/** From this share of fitting values on, a column has the meaning of its header. */
const half = 0.5;
const shortCode = 14;
const yearLength = 4;

/** Guesses the mapping of a table, by headers first and by values when these are unknown. */
export function guessColumns(profiles: readonly ColumnProfile[]): ColumnGuess {
  const guess = new Guess(profiles.map(withFittingRole));
  guessId(guess);
  const names = guessName(guess);
  // First, so that a firm is no person because of the birth date of its owner.
  guessParties(guess, profiles, (profile) => toDateColumn(guess, profile));
  guessType(guess, names);
  guessBirthDate(guess);
  guessTier(guess);
  guessCountries(guess);
  if (guess.columns.id === undefined) guessNoId(guess, profiles);
  guessOthers(guess);
  doubtUnread(guess);
  return guess;
}

function guessId(guess: Guess): void {
  const [named] = guess.free
    .filter(({ role }) => role === 'id')
    .toSorted((one, other) => weighId(other) - weighId(one));
  const profile = named ?? findCodes(guess);
  if (profile === undefined) return;
  const { header, filledShare, distinctShare } = profile;
  guess.columns.id = header;
  guess.take('id', named ? 'by its header' : 'by its values, different in every row', profile);
  if (!named) guess.doubts.push(`${header} is used as the customer id because of its values only`);
  if (filledShare < 1) guess.doubts.push(`${header} is empty in some rows: these would be rejected`);
  if (distinctShare < 1) guess.doubts.push(`${header} repeats: different rows with one id would be rejected`);
}

/** The header counts most, unless the column has empty or constant values. */
function weighId({ strength, filledShare, distinctShare, codeShare, filled }: ColumnProfile): number {
  const isConstant = filled > 10 && distinctShare < 0.2;
  return (
    strength +
    (filledShare > 0.99 ? 2 : 0) +
    (distinctShare > 0.99 ? 0.4 : 0) +
    (codeShare > enough ? 0.4 : 0) -
    (isConstant ? 4 : 0)
  );
}

/** Finds the column of codes that differ in every row. A long code may be an account, a counter the row. */
function findCodes(guess: Guess): ColumnProfile | undefined {
  const isOfCodes = (profile: ColumnProfile): boolean =>
    profile.filledShare === 1 && profile.distinctShare === 1 && profile.codeShare >= enough && !holdsDates(profile);
  const open = guess.unnamed.filter(isOfCodes);
  const codes =
    open.length > 0
      ? open
      : guess.free.filter((profile) => readHeader(profile.header).endsLikeId && isOfCodes(profile));
  const ofCustomers = codes.filter(({ header }) => !readHeader(header).isOfThings);
  const likely = ofCustomers.length > 0 ? ofCustomers : codes;
  const short = likely.filter(({ meanLength }) => meanLength <= shortCode);
  return short.find((profile) => !countsRows(profile)) ?? short[0] ?? likely[0];
}

const countsRows = ({ values }: ColumnProfile): boolean =>
  values.every((value, row) => (row === 0 ? Number(value) === 1 : Number(value) > Number(values[row - 1])));

/** Four digits parse as a year, but not as a whole birth date. */
const holdsDates = ({ dateFormats: [best], meanLength }: ColumnProfile): boolean =>
  best !== undefined && best.share > 0.5 && meanLength > yearLength;

/** Without an id, a name that differs in every row identifies customers, with the birth date if there is one. */
function guessNoId(guess: Guess, profiles: readonly ColumnProfile[]): void {
  const { name, birthDate } = guess.columns;
  const born = typeof birthDate === 'string' ? birthDate : birthDate?.column;
  const pick = (headers: ReadonlySet<string | undefined>): readonly ColumnProfile[] =>
    profiles.filter(({ header, role, filledShare }) => headers.has(header) && role !== null && filledShare === 1);
  const names = pick(new Set([name].flat()));
  const columns = [...names, ...pick(new Set([born]))];
  const texts = profiles[0]?.values.map((_, row) => columns.map(({ values }) => values[row]).join(' ')) ?? [];
  const none = 'no column looks like a customer id';
  if (names.length === 0 || new Set(texts).size < texts.length * 0.99) {
    guess.doubts.unshift(`${none}: name a column with a different value in every row`);
    return;
  }
  guess.columns.id = toHeaders(columns);
  guess.because['id'] = 'no column shows it';
  guess.doubts.unshift(
    `${none}: ${columns.map(({ header }) => header).join(' + ')} is used as the id, so a renamed customer becomes another one; it is better to export the id`,
  );
}

/** The columns of birth dates, without those of a proxy and the like. */
const listBirthDates = (guess: Guess): readonly ColumnProfile[] =>
  guess.ofRole('birth_date').filter(({ header, strength }) => strength > 1 || readRelatedHeader(header).party === '');

function guessBirthDate(guess: Guess): void {
  const births = listBirthDates(guess);
  const named = births.find(({ filled }) => filled > 0) ?? births[0];
  if (named !== undefined) {
    guess.columns.birthDate = toDateColumn(guess, named);
    guess.take('birthDate', 'by its header', named);
    return;
  }
  const dated = guess.unnamed.filter(
    ({ dateFormats: [best], meanLength }) => best !== undefined && best.share >= enough && meanLength > yearLength,
  );
  const [oldest] = dated.toSorted((one, other) => toMiddleYear(one) - toMiddleYear(other));
  const { type } = guess.columns;
  const isOfCompanies = typeof type === 'object' && 'value' in type && type.value === 'entity';
  if (!isOfCompanies && guess.columns.name !== undefined && (oldest === undefined || !isOfBirths(oldest)))
    guess.doubts.push(noBirthDates);
  if (oldest === undefined) return;
  if (!isOfCompanies && isOfBirths(oldest)) {
    guess.columns.birthDate = toDateColumn(guess, oldest);
    guess.take('birthDate', 'by its values, plausible birth years', oldest);
    guess.doubts.push(`${oldest.header} is used as the birth date because of its values only`);
    return;
  }
  const format = oldest.dateFormats[0]?.format;
  guess.doubts.push(`${oldest.header} holds dates (${format}): if they are birth dates, name it under birthDate`);
}

const noBirthDates =
  'no column of birth dates: matches are judged without them. Dates within personal numbers are not read; export a column of dates';

const toMiddleYear = ({ dateFormats: [best] }: ColumnProfile): number => best?.middleYear ?? 0;

/** Half of the customers are older than 25, and the oldest by 20 years than the youngest; accounts are not. */
function isOfBirths({ dateFormats: [best], filled }: ColumnProfile): boolean {
  const thisYear = new Date().getFullYear();
  return (
    best?.format.includes('yyyy') === true &&
    filled > 1 &&
    best.middleYear <= thisYear - 25 &&
    best.firstYear >= 1900 &&
    best.firstYear <= thisYear - 45 &&
    best.lastYear - best.firstYear >= 20
  );
}

function toDateColumn(
  guess: Guess,
  { header, dateFormats, filled, values }: ColumnProfile,
): string | { column: string; format: string } {
  const [best] = dateFormats;
  const plainShare = filled === 0 ? 0 : values.filter(isPlainDate).length / filled;
  if (best === undefined || plainShare > best.share + 0.05) {
    if (plainShare < enough && filled > 0) {
      const unread = values.filter((value) => !isPlainDate(value));
      const formats = [...new Set(unread.flatMap(proposeFormats))].join(' or ');
      guess.doubts.push(`the dates of ${header} have an unknown form: give their format${formats && `, ${formats}`}`);
    }
    return header;
  }
  const second = dateFormats.find(({ format, share }) => share === best.share && !isSameReading(best.format, format));
  if (second !== undefined)
    guess.doubts.push(`${header} reads as ${best.format} and as ${second.format}: check which is right (birthDate)`);
  return best.format === 'yyyy-MM-dd' ? header : { column: header, format: best.format };
}

/** Reads dates that need no format, such as a day with the name of a month. */
const readPlainDate = createLooseDateReader({
  formats: [],
  language: null,
  // The century does not matter here.
  pivot: 0,
  today: new Date().toISOString().slice(0, 10),
});
const isPlainDate = (value: string): boolean => value !== '' && typeof readPlainDate(value) === 'string';

const isSameReading = (one: string, other: string): boolean =>
  one.replace(/M+/g, 'M').replace(/d+/g, 'd') === other.replace(/M+/g, 'M').replace(/d+/g, 'd');

function guessTier(guess: Guess): void {
  const profile = guess.byRole('risk_tier');
  if (profile === undefined || profile.filled === 0) return;
  const { values, unknown } = toValues(tierWords, profile.words ?? []);
  if (Object.keys(values).length === 0) {
    guess.doubts.push(
      `${profile.header} holds no known words for tiers: give its values, or every customer counts as high`,
    );
    guess.unmapped.push({ key: 'riskTier', column: profile.header });
    return;
  }
  const isPlain = Object.entries(values).every(([own, word]) => own === word) && unknown.length === 0;
  guess.columns.riskTier = isPlain ? profile.header : { column: profile.header, values };
  guess.take('riskTier', 'by its header', profile);
  if (unknown.length > 0) guess.doubts.push(`${profile.header} has values of unknown tier: ${quoteAll(unknown)}`);
}

function guessCountries(guess: Guess): void {
  const named = guess.ofRole('countries');
  const read = named.filter(({ countryShare }) => countryShare >= half);
  const clear = read.filter(({ strength }) => strength > 1);
  const readable = clear.length > 0 ? clear : read;
  const found =
    readable.length > 0
      ? guess.free.filter((profile) => readable.includes(profile))
      : guess.unnamed
          .filter((profile) => profile.countryShare >= enough && profile.filled > 1 && !isOfStates(profile))
          .slice(0, 1);
  if (found.length === 0) {
    const [doubtful] = named;
    if (doubtful && doubtful.filled > 0) {
      guess.doubts.push(`${doubtful.header} holds no countries: give its values, or they count as unknown`);
      guess.unmapped.push({ key: 'countries', column: doubtful.header });
    }
    return;
  }
  guess.columns.countries = toHeaders(found);
  guess.take('countries', readable.length > 0 ? 'by header and values' : 'by its values', ...found);
  for (const { header, countryShare } of found)
    if (countryShare < enough) guess.doubts.push(`${header} holds values that are no countries: they count as unknown`);
  const ambiguous = [...new Set(found.flatMap(({ values }) => values))].filter(isAmbiguous);
  if (ambiguous.length === 0) return;
  guess.doubts.push(
    `languages read ${quoteAll(ambiguous.slice(0, 3))} as different countries: set the language, such as language: de`,
  );
}

function isAmbiguous(name: string): boolean {
  const found = readCountry(name, null);
  return 'why' in found && found.why === 'ambiguous_country';
}

const usStates = new Set(listWords(tables.usStates));

/** Most codes of US states are country codes as well, such as CA. */
const isOfStates = ({ words }: ColumnProfile): boolean =>
  words !== null && words.length > 2 && words.every((word) => usStates.has(word));

function guessOthers(guess: Guess): void {
  const aliases = guess.byRole('aliases');
  if (aliases) guess.doubts.push(describeAliases(aliases));
  const active = guess.byRole('active');
  if (active?.words)
    guess.doubts.push(
      `${active.header} (${quoteAll(active.words)}) may show which customers are active: to use it, add active: { column: ${JSON.stringify(active.header)}, values: { ... } }`,
    );
  const endDate = guess.byRole('end_date');
  if (endDate)
    guess.doubts.push(
      `${endDate.header} may hold the last day of a customer: to use it, add endDate: ${JSON.stringify(endDate.header)}`,
    );
}

/** What to write so that a column of aliases is searched, with the separator that its cells have. */
function describeAliases({ header, values }: ColumnProfile): string {
  const separator = guessAliasSeparator(values);
  const column = JSON.stringify(header);
  const setting = separator === null ? column : `{ column: ${column}, separator: ${JSON.stringify(separator)} }`;
  return `${header} may hold aliases: to search for these too, each at the price of a search, add aliases: ${setting}`;
}

/** Lists the columns that no fact reads, and which of these look like countries or a birth date. */
function doubtUnread(guess: Guess): void {
  const { columns, doubts, unmapped } = guess;
  // A standard header is read without a mapping, and an unmapped column has a line of its own.
  const named = new Set<string>([...Object.values(standardHeaders), ...unmapped.map(({ column }) => column)]);
  const unread = guess.free.filter(({ header, filled }) => filled > 0 && !named.has(header));
  if (columns.id === undefined || columns.name === undefined) return;
  for (const profile of unread) {
    const { header, role, countryShare, dateFormats } = profile;
    const isOpen = profile.isOpen && countryShare >= half && !isOfStates(profile);
    const isOfCountries = role === 'countries' || isOpen;
    if (isOfCountries && columns.countries !== undefined) {
      const all = JSON.stringify([columns.countries, header].flat());
      const hint = countryShare >= half ? `to read it too, write countries: ${all}` : 'most of its values are unknown';
      doubts.push(`${header} looks like countries: ${hint}`);
    }
    const isOfDates = (dateFormats[0]?.share ?? 0) >= enough && isOfBirths(profile);
    if ((role === 'birth_date' || (role === null && isOfDates)) && columns.birthDate !== undefined)
      doubts.push(`${header} looks like a birth date too: name the right column under birthDate`);
  }
  if (unread.length > 0) doubts.push(`not read: ${unread.map(({ header }) => header).join(', ')}`);
}

/** The type of each sampled row by its names and birth dates; null when they do not show it. */
type RowTypes = readonly (PartyType | null)[];

function assessRows(names: readonly ColumnProfile[], births: readonly ColumnProfile[]): RowTypes {
  const hasPersons = names.some(({ role }) => role !== 'company');
  return Array.from({ length: names[0]?.values.length ?? 0 }, (_, row) => {
    const filled = names.filter(({ values }) => values[row] !== '');
    if (births.some(({ values }) => values[row] !== '')) return 'person';
    if (filled.length === 0) return null;
    if (hasPersons && filled.every(({ role }) => role === 'company')) return 'entity';
    if (isCompanyName(filled.map(({ values }) => values[row] ?? '').join(' '))) return 'entity';
    return filled.some(({ role }) => role === 'first_name') ? 'person' : null;
  });
}

function guessType(guess: Guess, names: readonly ColumnProfile[]): void {
  const rows = assessRows(names, listBirthDates(guess));
  const isNamedByCompany = names.length > 0 && names.every(({ role }) => role === 'company');
  const named = guess
    .ofRole('type')
    .map((column) => readTypes(column, rows))
    .filter(({ values }) => Object.keys(values).length > 0)
    .toSorted((one, other) => one.unknown.length - other.unknown.length)[0];
  const option = named ?? findTypes(guess, rows);
  if (option === undefined || Object.keys(option.values).length === 0) {
    const [unread] = guess.ofRole('type').filter(({ filled }) => filled > 0);
    if (unread !== undefined) guess.unmapped.push({ key: 'type', column: unread.header });
    guessOneType(guess, rows, isNamedByCompany);
    return;
  }
  const { column, values, unknown, shown } = option;
  const isPlain = Object.entries(values).every(([own, word]) => own === word) && unknown.length === 0;
  guess.columns.type = isPlain ? column.header : { column: column.header, values };
  guess.take('type', named ? 'by its header' : 'by its values', column);
  if (shown.length > 0)
    guess.doubts.push(
      `the meaning of ${quoteAll(shown)} in ${column.header} follows from names and birth dates: check type`,
    );
  if (unknown.length > 0) guess.doubts.push(`${column.header} has values of unknown type: ${quoteAll(unknown)}`);
}

/** Finds a column of few words that divides the rows like their names. */
function findTypes(guess: Guess, rows: RowTypes) {
  return guess.free
    .filter(
      ({ role, words, filledShare }) => role === null && words !== null && words.length <= 8 && filledShare > 0.98,
    )
    .map((column) => readTypes(column, rows))
    .filter(({ column, values, unknown, shown }) => {
      const meanings = new Set(Object.values(values));
      if (unknown.length > 0 || meanings.size === 0) return false;
      if (meanings.size === 2) return shown.length === 0 || rows.length >= 20;
      return column.isOpen && Object.keys(values).every((word) => toWord(typeWords, word) !== null);
    })
    .toSorted((one, other) => one.shown.length - other.shown.length)[0];
}

/** The least rows, and the least share of all, that give a word its meaning. */
const [leastRows, leastShare] = [10, 0.05];

/** Reads the words of a column; the meaning of those `shown` follows from their rows only. */
function readTypes(column: ColumnProfile, rows: RowTypes) {
  const words = column.words ?? [];
  const { values } = toValues(typeWords, words);
  for (const word of words) {
    const type = toWord(salutations, word);
    if (type !== null) values[word] = type;
  }
  const counts = new Map(words.map((word) => [word, { person: 0, entity: 0, all: 0 }]));
  for (const [row, value] of column.values.entries()) {
    const count = counts.get(value.toLowerCase());
    const type = rows[row];
    if (count === undefined) continue;
    count.all += 1;
    if (type) count[type] += 1;
  }
  const shown: string[] = [];
  const isOfTypes = new Set(Object.values(values)).size === 2;
  // If the rows of one word are clearly companies, a word whose rows never are must mean persons.
  const hasEntities = [...counts.values()].some(({ entity, all }) => entity >= 3 && entity > all * 0.6);
  for (const [word, { person, entity, all }] of counts) {
    const sum = person + entity;
    const isShown = sum >= Math.min(3, all) && sum >= all / 20;
    const isNoEntity = values[word] === undefined && hasEntities && all >= 3 && entity <= all / 50;
    const type =
      (isShown && person >= sum * 0.95) || isNoEntity ? 'person' : isShown && entity >= sum * 0.95 ? 'entity' : null;
    const isOfFew = all < (isOfTypes ? 3 : Math.max(leastRows, rows.length * leastShare));
    if (type === null || values[word] === type || isOfFew) continue;
    values[word] = type;
    shown.push(word);
  }
  return { column, values, unknown: words.filter((word) => values[word] === undefined), shown };
}

function guessOneType(guess: Guess, rows: RowTypes, isNamedByCompany: boolean): void {
  const entities = rows.filter((type) => type === 'entity').length;
  const persons = rows.filter((type) => type === 'person').length;
  const isOfCompanies = isNamedByCompany || (entities > persons && entities > rows.length / 2);
  guess.columns.type = { value: isOfCompanies ? 'entity' : 'person' };
  guess.because['type'] = 'no column shows it';
  guess.doubts.push('no column distinguishes persons and entities: set one type for all, or name the column');
}

/** The known word for each own word, in lower case. */
function toMeanings<Word extends string>(table: Readonly<Record<Word, readonly string[]>>): ReadonlyMap<string, Word> {
  const meanings = new Map<string, Word>();
  for (const word in table) for (const own of listWords(table[word])) meanings.set(own, word);
  return meanings;
}

const typeWords = toMeanings(tables.types);
/** They alone do not distinguish customers. */
const salutations = toMeanings(tables.salutations);
/** Numbers are excluded, because their order is unknown. */
const tierWords = toMeanings(tables.tiers);

/** Gives the known word for an own word; null when there is none. */
const toWord = <Word extends string>(meanings: ReadonlyMap<string, Word>, own: string): Word | null =>
  meanings.get(own.trim().toLowerCase()) ?? null;

/** Maps a column's own words to known ones, and lists the unknown ones. */
function toValues<Word extends string>(
  meanings: ReadonlyMap<string, Word>,
  own: readonly string[],
): { values: Record<string, Word>; unknown: string[] } {
  const values: Record<string, Word> = {};
  const unknown: string[] = [];
  for (const value of own) {
    const word = toWord(meanings, value);
    if (word === null) unknown.push(value);
    else values[value] = word;
  }
  return { values, unknown };
}

/** Corrects the role by the values: `Customer` may hold the id or the name, `Individual / Company` the type. */
function withFittingRole(profile: ColumnProfile): ColumnProfile {
  const { role, letterShare, words } = profile;
  // The place of birth has no digit.
  if (role === 'birth_date' && letterShare > 0.9) return { ...profile, role: null, isOpen: false };
  const isOfTypes = words !== null && words.length > 1 && words.every((word) => toWord(typeWords, word) !== null);
  if (isOfTypes && (role === 'name' || role === 'last_name' || role === 'company')) return { ...profile, role: 'type' };
  return role === 'id' && letterShare > 0.9 ? { ...profile, role: 'name' } : profile;
}
