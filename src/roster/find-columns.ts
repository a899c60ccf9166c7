import { RosterError } from '../errors.js';

/** A column of the source by its place, with its header for messages. */
export interface BoundColumn {
  header: string;
  index: number;
}

/** Finds columns by their headers and remembers those that are missing. */
export interface ColumnFinder {
  /** The source's headers; a blank one is named by its place. */
  headers: readonly string[];
  find(header: string): BoundColumn;
  /** Null where the source has no such column. */
  findOptional(header: string): BoundColumn | null;
  /** Every column found so far. */
  found(): readonly BoundColumn[];
  /** Throws RosterError `column_missing` with all missing columns at once. */
  finish(): void;
}

/** What a column without a header is called, by its place from 0. */
export const nameColumn = (index: number): string => `column ${index + 1}`;

/** Makes the finder for a source's headers; throws RosterError `duplicate_header`. */
export function createColumnFinder(givenHeaders: readonly string[], source: string, hasHeader: boolean): ColumnFinder {
  const headers = givenHeaders.map((header, index) => header.trim().normalize('NFC') || nameColumn(index));
  const places = new Map<string, number>();
  const duplicates = new Set<string>();
  for (const [index, header] of headers.entries()) {
    if (places.has(header)) duplicates.add(header);
    else places.set(header, index);
  }
  if (duplicates.size > 0) {
    throw new RosterError(
      'duplicate_header',
      `${source}: the header has ${quoteAll([...duplicates])} more than once. Give each column a name of its own.`,
    );
  }
  const missing = new Set<string>();
  const found = new Map<string, BoundColumn>();
  const find = (header: string): BoundColumn => {
    const name = header.normalize('NFC');
    const index = places.get(name);
    if (index === undefined) missing.add(header);
    const column = found.get(name) ?? { header: name, index: index ?? -1 };
    found.set(name, column);
    return column;
  };
  return {
    headers,
    find,
    findOptional: (header) => (places.has(header) ? find(header) : null),
    found: () => [...found.values()],
    finish: () => {
      if (missing.size > 0) throw toMissingError([...missing], headers, source, hasHeader);
    },
  };
}

function toMissingError(
  missing: readonly string[],
  headers: readonly string[],
  source: string,
  hasHeader: boolean,
): RosterError {
  const there = hasHeader
    ? `The header has ${quoteAll(headers)}. Name the right columns`
    : `The source is read without a header and has columns 1 to ${headers.length}. Name its columns by number`;
  const id = hasHeader ? (headers[0] ?? 'customer_no') : '1';
  const name = hasHeader ? '[first_name, last_name]' : '[2, 3]';
  return new RosterError(
    'column_missing',
    `${source}: no column ${quoteAll(missing)}. ${there} under \`columns:\` of this roster in the configuration, ` +
      `for example columns: { id: ${id}, name: ${name}, type: { value: person } }.`,
  );
}

function quoteAll(headers: readonly string[]): string {
  const shown = headers.slice(0, 50).map((header) => JSON.stringify(header.slice(0, 60)));
  return shown.join(', ') + (headers.length > shown.length ? ' ...' : '');
}
