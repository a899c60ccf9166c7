import type { FactsOf } from '../vocabulary/facts.js';
import type { columnDoubtsSchema, doubtedRowSchema } from '../vocabulary/source-facts.js';
import { listWords } from '../vocabulary/words.js';
import type { DoubtField, DoubtReason } from '../vocabulary.js';
import type { Customer, Doubt, Party, Readings } from './customer.js';
import words from './words/names.json' with { type: 'json' };

/** The most stored rows with a doubt, and about how many characters of them; all rows are counted. */
const mostRows = 5_000;
const mostUnits = 4 * 1_024 * 1_024;
const mostValues = 2_000;
/** The most values in doubt that are named for a column. */
export const mostReported = 20;
const mostShownUnits = 60;

/** Words for an unknown value, in lower case, in whatever column they are. */
export const unknownWords = listWords(words.unknown);

/** Further ones in columns of facts; as names they may be real. */
const unknownFacts = new Set([...unknownWords, ...listWords(words.unknownFacts)]);

/** What spreadsheets show for an error, in several languages, and in a column that is too narrow. */
const spreadsheetError = /^#(?:[¡¿]?[\p{L}/0_]+[!?]|#+|N\/[ADV]|NV|ND|I\/T|Н\/Д)$/iu;

/** Whether a spreadsheet shows a text in place of a value, such as `#REF!`, `#N/A` or `####`. */
export const isSpreadsheetError = (text: string): boolean => text.startsWith('#') && spreadsheetError.test(text);

/** Whether a value states that it is unknown. */
export const saysUnknown = (text: string): boolean =>
  unknownFacts.has(text.trim().toLowerCase()) || isSpreadsheetError(text.trim());

/** The doubts about a column of a source. */
export type ColumnDoubts = FactsOf<typeof columnDoubtsSchema>;

/** An accepted row with a value in doubt, with everything that is needed to correct and re-import it. */
export interface DoubtedRow extends FactsOf<typeof doubtedRowSchema> {
  ordinal: number;
}

type RowPlace = Omit<DoubtedRow, 'doubts'>;

/** Counts the doubts of a source by column and value, and stores the first rows with one. */
export class DoubtTally {
  /** The first rows with a doubt, within the limits of memory. */
  readonly rows: DoubtedRow[] = [];
  readonly #prefix: string;
  readonly #columns = new Map<
    string,
    {
      field: DoubtField;
      doubts: number;
      /** Rows in doubt of which a part is read, such as the year of a date. */
      halfRead: number;
      unknown: number;
      values: Map<string, { value: string; why: DoubtReason; rows: number }>;
    }
  >();
  readonly #read = new Map<DoubtField, number>();
  #units = 0;

  /** `prefix` marks the columns of related parties. */
  constructor(prefix = '') {
    this.#prefix = prefix;
  }

  addCustomer({ parties: [own, ...others], riskTier, endDate, readings }: Customer, toRow: () => RowPlace): void {
    this.#addFacts(own);
    this.#noteRead('riskTier', riskTier !== null);
    this.#noteRead('endDate', endDate !== null);
    this.#noteRead('active', true);
    this.#noteRead('aliases', others.length > 0);
    if (readings.doubts.length === 0) return;
    const isRead = (field: DoubtField): boolean =>
      field === 'active' || (field === 'aliases' ? others.length > 0 : isReadOf(own, field));
    this.#addDoubts(readings.doubts, isRead, toRow);
  }

  addParty({ party, readings }: { party: Party; readings: Readings }, toRow: () => RowPlace): void {
    this.#addFacts(party);
    if (readings.doubts.length > 0) this.#addDoubts(readings.doubts, (field) => isReadOf(party, field), toRow);
  }

  list(): readonly ColumnDoubts[] {
    const columns = [...this.#columns].map(([column, { field, doubts, halfRead, unknown, values }]): ColumnDoubts => {
      const most = [...values.values()].toSorted((one, other) => other.rows - one.rows).slice(0, mostReported);
      const read = Math.max(0, (this.#read.get(field) ?? 0) - halfRead);
      return { column: this.#prefix + column, field, read, doubts, unknown, values: most };
    });
    return columns.toSorted((one, other) => other.doubts - one.doubts);
  }

  #addFacts({ birthDate, countries }: Party): void {
    for (const field of ['name', 'namePart', 'id'] as const) this.#noteRead(field, true);
    this.#noteRead('birthDate', birthDate !== null);
    this.#noteRead('countries', countries.length > 0);
  }

  #noteRead(field: DoubtField, isRead: boolean): void {
    if (isRead) this.#read.set(field, (this.#read.get(field) ?? 0) + 1);
  }

  #addDoubts(doubts: readonly Doubt[], isRead: (field: DoubtField) => boolean, toRow: () => RowPlace): void {
    for (const { field, column, value, why } of doubts) {
      const counted = this.#columns.get(column) ?? { field, doubts: 0, halfRead: 0, unknown: 0, values: new Map() };
      this.#columns.set(column, counted);
      counted.doubts += 1;
      if (why === 'says_unknown') counted.unknown += 1;
      if (isRead(field)) counted.halfRead += 1;
      // A customer's name is kept with its row only.
      const shown = field === 'name' ? '' : truncate(value, mostShownUnits);
      const key = shown || why;
      const known = counted.values.get(key);
      if (known !== undefined) known.rows += 1;
      else if (counted.values.size < mostValues) counted.values.set(key, { value: shown, why, rows: 1 });
    }
    if (this.rows.length >= mostRows || this.#units >= mostUnits) return;
    const row = { ...toRow(), doubts: doubts.map(({ column, why }) => ({ column, why })) };
    for (const header in row.fields) this.#units += row.fields[header]?.length ?? 0;
    this.rows.push(row);
  }
}

const isReadOf = ({ birthDate, countries }: Party, field: DoubtField): boolean => {
  // A name or an id in doubt is kept, and a placeholder leaves the rest of the name.
  if (field === 'name' || field === 'namePart' || field === 'id') return true;
  return field === 'birthDate' ? birthDate !== null : field === 'countries' && countries.length > 0;
};

/** Cuts a text to so many UTF-16 units. */
export const truncate = (text: string, units: number): string =>
  text.length <= units ? text : `${text.slice(0, units).toWellFormed()}…`;
