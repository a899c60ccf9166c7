import type { PartyType } from '../vocabulary.js';
import type { Customer, Doubt, DoubtField, DoubtReason, Party, Readings, RelatedParty } from './customer.js';

/** The most rows with a doubt that are kept whole, and about how many characters of them; all are counted. */
const mostRows = 5_000;
const mostUnits = 4 * 1_024 * 1_024;
/** The most values of a column that are counted one by one; what comes later is counted together. */
const mostValues = 2_000;
/** As many of them are reported. */
const mostReported = 20;
const mostShownUnits = 60;
/** What is kept of a value in doubt with its customer. */
const mostUnitsOfValue = 200;

const unknownWords = new Set(
  [
    [
      '-',
      '--',
      '---',
      '.',
      '?',
      '??',
      '???',
      '*',
      '#n/a',
      'n/a',
      'n.a.',
      'n.a',
      'na',
      'none',
      'null',
      'nil',
      '<null>',
      '(null)',
    ],
    [
      'unknown',
      'not known',
      'not available',
      'not applicable',
      'not provided',
      'not given',
      'unspecified',
      'undefined',
    ],
    [
      'not specified',
      'undisclosed',
      'undetermined',
      'undeclared',
      'no data',
      'missing',
      'blank',
      'empty',
      'tbd',
      'tbc',
      'other',
    ],
    [
      'unbekannt',
      'keine angabe',
      'k.a.',
      'inconnu',
      'inconnue',
      'desconocido',
      'desconocida',
      'desconhecido',
      'sconosciuto',
    ],
    [
      'onbekend',
      'ukendt',
      'ukjent',
      'okänd',
      'tuntematon',
      'nieznany',
      'neznámý',
      'неизвестно',
      'невідомо',
      'غير معروف',
      '不明',
      '未知',
    ],
  ].flat(),
);

/** Whether a value says itself that it is not known. */
export const saysUnknown = (text: string): boolean => unknownWords.has(text.trim().toLowerCase());

const none: readonly Doubt[] = [];

/** Notes what of a row cannot be read, and what stands in the source where it reads otherwise than it is kept. */
export class RowReadings implements Readings {
  doubts: Readings['doubts'] = none;
  said: Partial<Record<DoubtField, string>> | null = null;

  doubt(field: DoubtField, column: string, value: string, why: DoubtReason): void {
    this.doubts = [...this.doubts, { field, column, value: cut(value, mostUnitsOfValue), why }];
  }

  say(field: DoubtField, text: string): void {
    // Rosters whose dates are not written as they are kept say something in every row.
    this.said ??= {};
    this.said[field] = text.length > mostUnitsOfValue ? cut(text, mostUnitsOfValue) : text;
  }
}

/** The doubts about a column of a source. */
export interface ColumnDoubts {
  column: string;
  field: DoubtField;
  /** Rows whose value was read. */
  read: number;
  /** Rows whose value is in doubt. */
  doubts: number;
  /** Of them those whose value says itself that it is not known. */
  unknown: number;
  /** The most frequent values in doubt. */
  values: readonly { value: string; why: DoubtReason; rows: number }[];
}

/** An accepted row with a value in doubt, with all that is needed to mend it and feed it back. */
export interface DoubtedRow {
  ordinal: number;
  line: number;
  file: string | null;
  reference: string;
  doubts: readonly Pick<Doubt, 'column' | 'why'>[];
  /** The row's fields under the source's own headers. */
  fields: Readonly<Record<string, string>>;
  /** Whether it is a row of a source of related parties. */
  isParty: boolean;
}

type RowPlace = Omit<DoubtedRow, 'doubts'>;

interface CountedColumn {
  field: DoubtField;
  doubts: number;
  /** Rows that are read although they are in doubt, such as the year of a date. */
  halfRead: number;
  unknown: number;
  values: Map<string, { value: string; why: DoubtReason; rows: number }>;
}

/** Counts the doubts of a source by column and value, and keeps the first rows that have one. */
export class DoubtTally {
  /** The first rows that have a doubt, as long as they need little memory. */
  readonly rows: DoubtedRow[] = [];
  readonly #prefix: string;
  readonly #columns = new Map<string, CountedColumn>();
  readonly #read = { birthDate: 0, countries: 0, riskTier: 0, endDate: 0, active: 0, aliases: 0 };
  #units = 0;

  /** `prefix` tells the columns of related parties from those of the roster. */
  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  addCustomer({ parties: [own, ...others], riskTier, endDate, readings }: Customer, toRow: () => RowPlace): void {
    const read = this.#read;
    this.#addFacts(own);
    if (riskTier !== null) read.riskTier += 1;
    if (endDate !== null) read.endDate += 1;
    read.active += 1;
    if (others.length > 0) read.aliases += 1;
    if (readings.doubts.length === 0) return;
    const isRead = (field: DoubtField): boolean =>
      field === 'active' || (field === 'aliases' ? others.length > 0 : isReadOf(own, field));
    this.#addDoubts(readings.doubts, isRead, toRow);
  }

  addParty({ party, readings }: RelatedParty, toRow: () => RowPlace): void {
    this.#addFacts(party);
    if (readings.doubts.length > 0) this.#addDoubts(readings.doubts, (field) => isReadOf(party, field), toRow);
  }

  /** The columns that have doubts, most first. */
  list(): readonly ColumnDoubts[] {
    const columns = [...this.#columns].map(([column, { field, doubts, halfRead, unknown, values }]): ColumnDoubts => {
      const most = [...values.values()].toSorted((one, other) => other.rows - one.rows).slice(0, mostReported);
      const read = Math.max(0, this.#read[field] - halfRead);
      return { column: this.#prefix + column, field, read, doubts, unknown, values: most };
    });
    return columns.toSorted((one, other) => other.doubts - one.doubts);
  }

  #addFacts({ birthDate, countries }: Party): void {
    if (birthDate !== null) this.#read.birthDate += 1;
    if (countries.length > 0) this.#read.countries += 1;
  }

  #addDoubts(doubts: readonly Doubt[], isRead: (field: DoubtField) => boolean, toRow: () => RowPlace): void {
    for (const { field, column, value, why } of doubts) {
      const counted = this.#columns.get(column) ?? { field, doubts: 0, halfRead: 0, unknown: 0, values: new Map() };
      this.#columns.set(column, counted);
      counted.doubts += 1;
      if (why === 'says_unknown') counted.unknown += 1;
      if (isRead(field)) counted.halfRead += 1;
      const shown = cut(value, mostShownUnits);
      const known = counted.values.get(shown);
      if (known !== undefined) known.rows += 1;
      else if (counted.values.size < mostValues) counted.values.set(shown, { value: shown, why, rows: 1 });
    }
    if (this.rows.length >= mostRows || this.#units >= mostUnits) return;
    const row = { ...toRow(), doubts: doubts.map(({ column, why }) => ({ column, why })) };
    for (const header in row.fields) this.#units += row.fields[header]?.length ?? 0;
    this.rows.push(row);
  }
}

/** Whether something of a party's fact is read although it is in doubt. */
const isReadOf = ({ birthDate, countries }: Party, field: DoubtField): boolean =>
  field === 'birthDate' ? birthDate !== null : field === 'countries' && countries.length > 0;

const cut = (text: string, units: number): string =>
  text.length <= units ? text : `${text.slice(0, units).toWellFormed()}…`;

/** What exports and people write where there is no name, folded. Some are names of real people (Null, Na): only a whole name counts. */
const words = `null, \\n, n/a, n.a., n.a, n a, na, n/k, nan, none, undefined, unknown, unnamed, untitled, test, test test, testing, test name, test user,
  test customer, test person, dummy, tba, tbd, tbc, xxx, xxxx, xxxxx, no name, noname, no data, not available, not applicable, not known,
  not provided, not specified, not set, object object, asdf, qwerty, unbekannt, keine angabe, k.a., k. a., nicht angegeben, inconnu, inconnue,
  non renseigne, non renseigné, desconocido, desconocida, desconhecido, sin nombre, sconosciuto, onbekend, n.v.t., nvt, ukendt, ukjent, okänd,
  nieznany, brak danych`;
const placeholders: ReadonlySet<string> = new Set(words.split(',').map((word) => word.trim().replace(/\s+/g, ' ')));
const openings: ReadonlySet<string> = new Set([...placeholders].map((word) => word.slice(0, 2)));
const startsWithLetter = /^[A-Za-z]/;
/** Quotes and brackets around a word, and the marks of spreadsheets and databases before it, as in `<NULL>` and `#N/A`. */
const wrapping = /^[\s"'`<>()[\]#-]+|[\s"'`<>()[\]-]+$/g;
const isObject = /^\s*\{.*\}\s*$/s;
const isDigits = /^\d+$/;

/** Gives the form in which names are compared with placeholders. */
export const foldPlaceholder = (name: string): string =>
  name.normalize('NFKC').replace(wrapping, '').replace(/\s+/g, ' ').toLowerCase();

/**
 * Tells whether a whole name is what is written where there is none: `NULL`, `N/A`, `none`, `test`, a JSON object, or a number; an entity may
 * be called by a number, but not 0, 1, 12, 123 and so on. `parts` are the fields that the name is joined from, `realNames` the
 * folded names that are real in this roster.
 */
export function isPlaceholderName(
  name: string,
  type: PartyType,
  parts: readonly string[],
  realNames: ReadonlySet<string>,
): boolean {
  // Most names end here, after a tenth of the time.
  if (startsWithLetter.test(name) && !openings.has(name.slice(0, 2).toLowerCase())) return false;
  const folded = foldPlaceholder(name);
  if (realNames.has(folded)) return false;
  if (isObject.test(name) || isWord(folded, type)) return true;
  const words = parts.filter((part) => part !== '').map(foldPlaceholder);
  // Na Na is a name; NA in both columns of an export is none, but only its words could say so.
  return words.length > 1 && words.every((word) => isWord(word, type)) && words.some((word) => word !== 'na');
}

function isWord(folded: string, type: PartyType): boolean {
  if (placeholders.has(folded)) return true;
  if (!isDigits.test(folded)) return false;
  return type === 'person' || '1234567890'.startsWith(folded) || /^0+$/.test(folded);
}
