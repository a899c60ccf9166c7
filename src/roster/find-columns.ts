import { RosterError } from '../errors.js';

/** A column of the source by its place, with its header for messages. */
export interface BoundColumn {
  header: string;
  index: number;
}

/**
 * Where a source's headers come from: the `query` that names its columns, the `first_line` of a file, or `numbers` given by us. A first line
 * may be a customer's, where a file has no header: of it no message quotes anything that the mapping does not name itself.
 */
export type HeaderOrigin = 'query' | 'first_line' | 'numbers';

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
export function createColumnFinder(
  givenHeaders: readonly string[],
  source: string,
  origin: HeaderOrigin,
): ColumnFinder {
  const headers = givenHeaders.map((header, index) => header.trim().normalize('NFC') || nameColumn(index));
  const places = new Map<string, number>();
  const repeated: number[] = [];
  for (const [index, header] of headers.entries()) {
    if (places.has(header)) repeated.push(index);
    else places.set(header, index);
  }
  if (repeated.length > 0) throw toDuplicateError(repeated, headers, source, origin);
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
      if (missing.size === 0) return;
      const present = [...found.values()].filter(({ index }) => index >= 0).map(({ header }) => header);
      const told = `${source}: no column ${quoteAll([...missing])}. ${describeThere(headers, present, origin)}`;
      throw new RosterError('column_missing', told);
    },
  };
}

function toDuplicateError(
  repeated: readonly number[],
  headers: readonly string[],
  source: string,
  origin: HeaderOrigin,
): RosterError {
  const names = new Set(repeated.map((index) => headers[index] ?? ''));
  const places = headers.flatMap((header, index) => (names.has(header) ? index + 1 : []));
  const told =
    origin === 'query'
      ? `the header has ${quoteAll([...names])} more than once. Give each column a name of its own.`
      : `the first line says the same more than once (in the columns ${places.slice(0, mostQuoted).join(', ')}). ` +
        `Give each column a name of its own. ${withoutHeader}.`;
  return new RosterError('duplicate_header', `${source}: ${told}`);
}

const withoutHeader =
  'Where the first line is a row already, say `header: false` under `csv:` and name the columns by number';

/** What there is instead of what is missing; `present` are the columns that the mapping names and that were found. */
function describeThere(headers: readonly string[], present: readonly string[], origin: HeaderOrigin): string {
  const place = 'under `columns:` of this roster in the configuration, for example columns:';
  const byName = '{ id: customer_no, name: [first_name, last_name], type: { value: person } }';
  const byNumber = '{ id: 1, name: [2, 3], type: { value: person } }';
  if (origin === 'numbers') {
    return `The source is read without a header and has columns 1 to ${headers.length}. Name its columns by number ${place} ${byNumber}.`;
  }
  if (origin === 'query') return `The header has ${quoteAll(headers)}. Name the right columns ${place} ${byName}.`;
  const count = headers.length === 1 ? '1 column' : `${headers.length} columns`;
  const known =
    present.length === 0 ? 'none of those that are mapped' : `of those that are mapped ${quoteAll(present)}`;
  return (
    `The first line has ${count}, ${known}; what else it says is not shown here, because it may be a customer's: ` +
    `\`nightscreen roster inspect FILE\` shows it. Name the right columns ${place} ${byName}. ` +
    `${withoutHeader}: columns: ${byNumber}.`
  );
}

const mostQuoted = 50;

function quoteAll(headers: readonly string[]): string {
  const shown = headers.slice(0, mostQuoted).map((header) => JSON.stringify(header.slice(0, 60)));
  return shown.join(', ') + (headers.length > shown.length ? ' ...' : '');
}
