import type { DoubtReason } from '../../vocabulary.js';
import type { RosterRow } from '../customer.js';
import { foldWord } from '../settings.js';
import type { Unmapped } from './column-profile.js';

/** The values of a column that an import does not understand: words of a code list or shapes of dates. */
export interface UnknownColumn {
  /** The fact under `columns:`. */
  key: Unmapped['key'] | 'birthDate';
  column: string;
  /** Whether the guessed mapping reads the column; otherwise all of its values are listed. */
  isMapped: boolean;
  /** The most frequent values, at most 20. */
  values: readonly { value: string; rows: number; why: DoubtReason | 'unknown_word' }[];
  /** What is not shown: further values, rare values of a long list, and values that are too long for a code. */
  others: { values: number; rows: number };
}

/** Why a value is unknown that a mapping can give a meaning; it cannot help with a day that is not in the calendar. */
const mappable: readonly UnknownColumn['values'][number]['why'][] = [
  'unknown_word',
  'unknown_risk_tier',
  'unknown_country',
  'ambiguous_country',
  'stateless',
  'invalid_birth_date',
  'ambiguous_date',
];

/** The values that a person can complete in the mapping, by column. */
export const listCompletable = (unknown: readonly UnknownColumn[]): readonly UnknownColumn[] =>
  unknown
    .map((column) => ({ ...column, values: column.values.filter(({ why }) => mappable.includes(why)) }))
    .filter(({ values }) => values.length > 0);

const keys: readonly UnknownColumn['key'][] = ['type', 'birthDate', 'countries', 'riskTier'];
const mostShown = 20;
/** So many values are counted; of further ones only the rows are. */
const mostCounted = 2_000;
/** A longer value is no code. */
const longestCode = 40;
/** A column of more unknown values may hold names: of these, only values that many rows share are shown. */
const mostOfCodeList = 50;

/** Digits that may be an identifier, and addresses; of dates only their form is counted. */
const identifying = /\d{5}|@/;

/** Digits as 9 and letters as a; other characters show the form of a date. */
const toShape = (text: string): string =>
  text
    .trim()
    .replace(/\p{N}/gu, '9')
    .replace(/[\p{L}\p{M}]+/gu, 'a');

/** Counts the values that the rows of a roster have and an import does not understand, by column. */
export class UnknownTally {
  readonly #unmapped: readonly Unmapped[];
  readonly #columns = new Map<
    string,
    Pick<UnknownColumn, 'key' | 'column' | 'isMapped'> & {
      rows: number;
      values: Map<string, UnknownColumn['values'][number]>;
    }
  >();

  /** `unmapped` are columns that have a meaning but no readable value. */
  constructor(unmapped: readonly Unmapped[]) {
    this.#unmapped = unmapped;
  }

  /** `headers` are those of the table, in its order. */
  add(row: RosterRow, headers: readonly string[]): void {
    for (const { key, column } of this.#unmapped) {
      const text = row.kind === 'customer' ? row.fields[headers.indexOf(column)] : row.rejected.fields[column];
      this.#count({ key, column, isMapped: false }, text ?? '', 'unknown_word');
    }
    if (row.kind === 'rejected') {
      const { reason, column, fields } = row.rejected;
      if (reason !== 'unknown_type' || column === null) return;
      this.#count({ key: 'type', column, isMapped: true }, fields[column] ?? '', 'unknown_word');
      return;
    }
    for (const { field: key, column, value, why } of row.customer.readings.doubts) {
      // All of its values are counted above.
      if (this.#unmapped.some((one) => one.column === column)) continue;
      const place = { column, isMapped: true };
      if (key === 'birthDate') this.#count({ ...place, key }, toShape(value), why);
      if (key === 'countries' || key === 'riskTier') this.#count({ ...place, key }, value, why);
    }
  }

  list(): readonly UnknownColumn[] {
    const columns = [...this.#columns.values()].toSorted(
      (one, other) => keys.indexOf(one.key) - keys.indexOf(other.key),
    );
    return columns.map(({ rows, values, ...column }) => {
      const least = values.size > mostOfCodeList && column.key !== 'birthDate' ? Math.max(2, rows / 100) : 1;
      const shown = [...values.values()]
        .filter(({ value, rows: count }) => count >= least && value.length <= longestCode)
        .filter(({ value }) => column.key === 'birthDate' || !identifying.test(value))
        .toSorted((one, other) => other.rows - one.rows)
        .slice(0, mostShown);
      const shownRows = shown.reduce((sum, { rows: count }) => sum + count, 0);
      return { ...column, values: shown, others: { values: values.size - shown.length, rows: rows - shownRows } };
    });
  }

  #count(
    place: Pick<UnknownColumn, 'key' | 'column' | 'isMapped'>,
    text: string,
    why: UnknownColumn['values'][number]['why'],
  ): void {
    const value = text.trim();
    if (value === '') return;
    const name = `${place.key} ${place.column}`;
    const counted = this.#columns.get(name) ?? { ...place, rows: 0, values: new Map() };
    this.#columns.set(name, counted);
    counted.rows += 1;
    // As a mapping compares its own words.
    const word = `${foldWord(value)} ${why}`;
    const known = counted.values.get(word);
    if (known !== undefined) counted.values.set(word, { ...known, rows: known.rows + 1 });
    else if (counted.values.size < mostCounted) counted.values.set(word, { value, rows: 1, why });
  }
}
