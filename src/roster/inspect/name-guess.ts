import type { PartyType, RiskTier } from '../../vocabulary.js';
import type { ColumnRole } from '../headers.js';
import { type ColumnProfile, salutations, toValues, toWord, typeWords } from './column-profile.js';

/** What each row that was looked at is by its names and birth dates; null where they do not show it. */
type RowTypes = readonly (PartyType | null)[];

/** Columns that may be the name together, and the share of the rows that they give a name. */
interface NameOption {
  columns: readonly ColumnProfile[];
  covered: number;
}

/** Guesses which columns are the name and gives them: those of a header's word that name the most rows, else the values decide. */
export function guessName(guess: Guess): readonly ColumnProfile[] {
  const [best] = listNames(guess).toSorted((one, other) => other.covered - one.covered);
  if (best === undefined || best.covered === 0) {
    return guessNameByValues(guess);
  }
  const columns = withMissing(guess, withUnnamed(guess, best.columns));
  guess.columns.name = toHeaders(columns);
  guess.take('name', columns.length === 1 ? 'by its header' : 'by their headers', ...columns);
  const company = guess.byRole('company');
  if (company && company.filledShare > 0.02 && columns.every(({ role }) => role !== 'company')) {
    guess.doubts.push(
      `${company.header} is left out of the name, because rows that have it have another name too: where these rows are companies, write name: ${JSON.stringify(company.header)}`,
    );
  }
  return columns;
}

/** A first name without a last name, or the other way round, is half a name: a column of names beside it is the other half. */
function withUnnamed(guess: Guess, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const isHalf = columns.every(
    ({ role, severalWordsShare }) => role !== 'name' && role !== 'company' && severalWordsShare < 0.2,
  );
  const isOfOne = new Set(columns.map(({ role }) => role === 'last_name')).size === 1;
  const [first] = columns;
  if (!isHalf || !isOfOne || first === undefined) return columns;
  const place = guess.free.indexOf(first);
  const [other] = guess.unnamed
    .filter(isOfNames)
    .map((profile) => ({ profile, distance: Math.abs(guess.free.indexOf(profile) - place) }))
    .filter(({ distance }) => distance <= columns.length)
    .toSorted((one, another) => one.distance - another.distance);
  if (other === undefined) return columns;
  guess.doubts.push(`${other.profile.header} is taken for the rest of the name by its values alone`);
  return [...columns, other.profile];
}

/** Where rows are without a name, another column of names that has one for most of these and hardly any other is part of it. */
function withMissing(guess: Guess, columns: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const rows = columns[0]?.values.length ?? 0;
  const missing = Array.from({ length: rows }, (_, row) => row).filter((row) =>
    columns.every(({ values }) => values[row] === ''),
  );
  if (missing.length <= rows / 50) return columns;
  const other = guess.free.find((profile) => {
    const mayBeName = profile.role === 'name' || profile.role === 'company' || (profile.isOpen && isOfNames(profile));
    const filled = missing.filter((row) => profile.values[row] !== '').length;
    return mayBeName && !columns.includes(profile) && filled > missing.length * 0.8 && filled > profile.filled * 0.8;
  });
  if (other === undefined) return columns;
  guess.doubts.push(`${other.header} is taken for the name of the rows without another one`);
  return [...columns, other];
}

/** The likeliest come first, as of equals the first wins. */
function listNames(guess: Guess): readonly NameOption[] {
  const first = guess.byRole('first_name');
  const middle = guess.byRole('middle_name');
  const last = guess.byRole('last_name');
  const company = guess.byRole('company');
  const wholes = guess.ofRole('name');
  const isWhole = (whole: ColumnProfile): boolean =>
    first === undefined || first.filledShare < 0.02 || holdsAnother(whole, first);
  const parts = [first, middle, last ?? wholes.find((whole) => !isWhole(whole))].filter((part) => part !== undefined);
  const toOptions = (isMeant: (whole: ColumnProfile) => boolean): (readonly ColumnProfile[])[] =>
    wholes.filter((whole) => isMeant(whole) && isWhole(whole)).map((whole) => [whole, ...findFurther(guess, whole)]);
  const joined = parts.length > 0 ? [parts.flatMap((part) => [part, ...findFurther(guess, part)])] : [];
  const weak = toOptions(({ strength }) => strength === 1).map((columns) => withCompany(columns, company));
  const options = [...toOptions(({ strength }) => strength > 1), ...joined].map((columns) =>
    withCompany(columns, company),
  );
  const all = [...options, ...(company ? [[company, ...findFurther(guess, company)]] : []), ...weak];
  // A hundredth of the rows is not worth a worse column.
  return all.map((columns) => ({ columns, covered: Math.round(measureCover(columns) * 100) }));
}

/** `NAME2` behind `NAME1`. */
function findFurther({ free }: Guess, { header }: ColumnProfile): readonly ColumnProfile[] {
  if (!/1\D*$/.test(header)) return [];
  const next = header.replace(/1(\D*)$/, '2$1');
  return free.filter((profile) => profile.header === next && profile.filled > 0);
}

/** Companies have names of their own where they have no other; a column that stands beside names is somebody's employer. */
function withCompany(columns: readonly ColumnProfile[], company: ColumnProfile | undefined): readonly ColumnProfile[] {
  if (company === undefined || company.filled === 0) return columns;
  const alone = company.values.filter(
    (value, row) => value !== '' && columns.every(({ values }) => values[row] === ''),
  );
  return alone.length >= 0.8 * company.filled ? [...columns, company] : columns;
}

function measureCover(columns: readonly ColumnProfile[]): number {
  const rows = columns[0]?.values.length ?? 0;
  let covered = 0;
  for (let row = 0; row < rows; row += 1) if (columns.some(({ values }) => values[row] !== '')) covered += 1;
  return rows === 0 ? 0 : covered / rows;
}

/** Tells whether one column says what the other says and more. */
function holdsAnother(whole: ColumnProfile, part: ColumnProfile): boolean {
  let [both, held] = [0, 0];
  for (const [row, value] of part.values.entries()) {
    const text = whole.values[row] ?? '';
    if (value === '' || text === '') continue;
    both += 1;
    if (text.toLowerCase().includes(value.toLowerCase()) && text.length > value.length) held += 1;
  }
  return both === 0 || held > both / 2;
}

function guessNameByValues(guess: Guess): readonly ColumnProfile[] {
  const likely = guess.unnamed.filter(isOfNames);
  const wholes = likely.filter(({ severalWordsShare }) => severalWordsShare > 0.5);
  const weigh = ({ distinctShare, filledShare }: ColumnProfile): number => distinctShare * filledShare;
  const most = Math.max(...wholes.map(weigh));
  const whole = wholes.find((profile) => weigh(profile) > most / 2);
  const pair = findPair(guess, likely);
  // What comes first is the customer's, as others follow; a pair that few values fill is no name.
  const [first] = pair;
  const isPairFirst =
    pair.length > 1 &&
    first !== undefined &&
    (whole === undefined || guess.free.indexOf(first) < guess.free.indexOf(whole));
  const columns = whole && !isPairFirst ? [whole] : pair;
  if (columns.length === 0) {
    guess.doubts.push('no column looks like names: name the column, or the columns that make the name together');
    return [];
  }
  const headers = columns.map(({ header }) => header);
  guess.columns.name = toHeaders(columns);
  guess.take('name', columns.length === 1 ? 'by its values' : 'by their values', ...columns);
  guess.doubts.push(
    `${headers.join(' and ')} ${headers.length === 1 ? 'is' : 'are'} taken for the name by ${headers.length === 1 ? 'its' : 'their'} values alone`,
  );
  return columns;
}

/** Many different values of letters, with a capital first in scripts that have capitals, that are no countries. */
function isOfNames({ letterShare, distinctShare, words, countryShare, values, filled }: ColumnProfile): boolean {
  const capitals = values.filter((value) => /^[^\p{Ll}]/u.test(value)).length;
  const isVaried = words === null || distinctShare > enough || words.length >= 8;
  return letterShare >= enough && isVaried && countryShare < 0.5 && filled > 0 && capitals >= 0.8 * filled;
}

/** First and last name stand side by side. */
function findPair({ free }: Guess, likely: readonly ColumnProfile[]): readonly ColumnProfile[] {
  const pair = likely.find((profile, at) => {
    const next = likely[at + 1];
    return next !== undefined && free.indexOf(next) === free.indexOf(profile) + 1;
  });
  const at = pair ? likely.indexOf(pair) : 0;
  return likely.slice(at, at + (pair ? 2 : 1));
}

const forms =
  `ltd limited plc llp llc lp inc incorporated corp corporation company gmbh ag kg kgaa ohg gbr ug ek ev eg se sarl sa sas sasu eurl sci snc srl spa
  sl slu aps ab oy oyj asa bv nv vof cv kft zrt nyrt bt sro ooo pty pte bhd sdn doo jsc pjsc ojsc holding holdings group trust foundation stiftung fund bank
  ооо ао зао пао оао αε επε οε ike`
    .split(/\s+/)
    .join('|');
const legalForm = new RegExp(
  `(^|\\s)(${forms}|a/s|as|sp z ?o ?o|sp zoo|a ş|aş|ltd şti|co)$|^(ооо|ао|зао|пао)\\s|&\\s*co(\\s|$)|公司$|株式会社|有限会社|\\s(شمم|ذمم)$`,
  'u',
);

/** Tells whether a name ends, or begins, like a company's. */
const isCompanyName = (name: string): boolean =>
  /\s|公司|会社/.test(name) && legalForm.test(name.toLowerCase().replace(/[.,]/g, ''));

/** What the rows are by what stands in the columns of their names and in their birth dates. */
function judgeRows(names: readonly ColumnProfile[], births: readonly ColumnProfile[]): RowTypes {
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

interface TypeOption {
  column: ColumnProfile;
  values: Record<string, PartyType>;
  unknown: string[];
  /** Words of which only the rows that have them showed what they mean. */
  shown: string[];
}

/** Guesses which column tells persons from entities, by known words and by the rows that have the others. */
export function guessType(guess: Guess, names: readonly ColumnProfile[]): void {
  const rows = judgeRows(names, guess.ofRole('birth_date'));
  const isNamedByCompany = names.length > 0 && names.every(({ role }) => role === 'company');
  const named = guess
    .ofRole('type')
    .map((column) => readTypes(column, rows))
    .filter(({ values }) => Object.keys(values).length > 0)
    .toSorted((one, other) => one.unknown.length - other.unknown.length)[0];
  const option = named ?? findTypes(guess, rows);
  if (option === undefined) {
    guessOneType(guess, rows, isNamedByCompany);
    return;
  }
  const { column, values, unknown, shown } = option;
  const isPlain = Object.entries(values).every(([own, word]) => own === word) && unknown.length === 0;
  guess.columns.type = isPlain ? column.header : { column: column.header, values };
  guess.take('type', named ? 'by its header' : 'by its values', column);
  if (shown.length > 0)
    guess.doubts.push(
      `what ${quoteAll(shown)} in ${column.header} means is taken from the names and birth dates beside it: check type`,
    );
  if (unknown.length > 0)
    guess.doubts.push(
      `${column.header} has values that are neither person nor entity as they stand: ${quoteAll(unknown)}`,
    );
}

/** A column of few words that divides the rows as their names do. */
function findTypes(guess: Guess, rows: RowTypes): TypeOption | undefined {
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

function readTypes(column: ColumnProfile, rows: RowTypes): TypeOption {
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
  // Where the rows of one word are plainly companies, those of another that never are must be persons.
  const hasEntities = [...counts.values()].some(({ entity, all }) => entity >= 3 && entity > all * 0.6);
  for (const [word, { person, entity, all }] of counts) {
    const sum = person + entity;
    const isShown = sum >= Math.min(3, all) && sum >= all / 20;
    const isNoEntity = values[word] === undefined && hasEntities && all >= 3 && entity <= all / 50;
    const type =
      (isShown && person >= sum * 0.95) || isNoEntity ? 'person' : isShown && entity >= sum * 0.95 ? 'entity' : null;
    if (type === null || values[word] === type) continue;
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
  guess.because['type'] = 'no column tells';
  guess.doubts.push('no column tells persons and entities apart: say which they are, or name the column');
}

/** A mapping as guessed, in the words of the configuration. */
interface GuessedColumns {
  id?: string | readonly string[];
  name?: string | readonly string[];
  type?: { value: PartyType } | { column: string; values: Readonly<Record<string, PartyType>> } | string;
  birthDate?: string | { column: string; format: string } | { column: string; formats: readonly string[] };
  countries?: string | readonly string[];
  /** Of the names of countries. */
  language?: string;
  riskTier?: string | { column: string; values: Readonly<Record<string, RiskTier>> };
}

/** A guessed mapping, with what somebody who knows the file should look at. */
export interface ColumnGuess {
  columns: GuessedColumns;
  /** Why each was guessed: by its header, or by its values. */
  because: Readonly<Record<string, string>>;
  /** What could not be guessed, or only by half. */
  doubts: readonly string[];
}

/** From this share on the values of a column are all of a kind. */
export const enough = 0.9;

/** A guess while it is made: each column is taken for one thing at most. */
export class Guess implements ColumnGuess {
  readonly columns: GuessedColumns = {};
  readonly because: Record<string, string> = {};
  readonly doubts: string[] = [];
  readonly #free: Set<ColumnProfile>;

  constructor(profiles: readonly ColumnProfile[]) {
    this.#free = new Set(profiles);
  }

  /** Columns that are not taken yet, in the order of the table. */
  get free(): readonly ColumnProfile[] {
    return [...this.#free];
  }

  /** Free columns whose headers say nothing that is known: only of these the values may decide. */
  get unnamed(): readonly ColumnProfile[] {
    return this.free.filter(({ isOpen }) => isOpen);
  }

  /** Free columns of a role, those whose headers say it most clearly and that have most values first. */
  ofRole(role: ColumnRole): readonly ColumnProfile[] {
    const weigh = ({ strength, filledShare }: ColumnProfile): number => strength + 4 * Math.min(filledShare, 0.5);
    return this.free.filter((profile) => profile.role === role).toSorted((one, other) => weigh(other) - weigh(one));
  }

  byRole(role: ColumnRole): ColumnProfile | undefined {
    return this.ofRole(role)[0];
  }

  take(key: keyof GuessedColumns, why: string, ...profiles: readonly ColumnProfile[]): void {
    for (const profile of profiles) this.#free.delete(profile);
    this.because[key] = why;
  }
}

/** One header as it is, several as a list. */
export function toHeaders(profiles: readonly ColumnProfile[]): string | readonly string[] {
  const headers = profiles.map(({ header }) => header);
  return headers.length === 1 ? (headers[0] ?? '') : headers;
}

/** Own words for a message. */
export const quoteAll = (values: readonly string[]): string => values.map((value) => JSON.stringify(value)).join(', ');
