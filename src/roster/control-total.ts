import { RosterError } from '../errors.js';
import type { TableReading } from './table-reading.js';

/** A whole number as sources write it, with or without separators of thousands; null where it is none. */
export function parseTotal(text: string): number | null {
  const bare = text.trim().replace(/(?<=\d)[\s.,'\u2019_](?=\d{3}(?!\d))/gu, '');
  return /^\d{1,12}$/.test(bare) ? Number(bare) : null;
}

/** The same reading; `total` gives the sum, over its files, of the greatest figure in a column, null where no row holds one. Throws RosterError where it has no such column. */
export function watchTotal(table: TableReading, column: string): { table: TableReading; total: () => number | null } {
  const place = table.headers.indexOf(column.trim().normalize('NFC'));
  if (place < 0) {
    throw new RosterError(
      'column_missing',
      `${table.source} has no column ${JSON.stringify(column)}, which controlTotal of the roster names.`,
    );
  }
  const byFile = new Map<string | null, number>();
  async function* readRecords(): ReturnType<TableReading['records'][typeof Symbol.asyncIterator]> {
    for await (const batch of table.records) {
      for (const { file, fields } of batch) {
        const figure = parseTotal(fields[place] ?? '');
        if (figure !== null) byFile.set(file, Math.max(figure, byFile.get(file) ?? 0));
      }
      yield batch;
    }
  }
  return {
    table: { ...table, records: { [Symbol.asyncIterator]: readRecords } },
    total: () => (byFile.size === 0 ? null : [...byFile.values()].reduce((sum, figure) => sum + figure, 0)),
  };
}
