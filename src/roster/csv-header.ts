import { RosterError } from '../errors.js';
import { countMappedHeaders } from './bind-columns.js';
import { parseRecords } from './parse-records.js';
import { scanQuotes } from './scan-quotes.js';
import type { ColumnSettings } from './settings.js';

const candidates = [',', ';', '\t', '|'];

/** A header line read: the delimiter it is written with, and its columns. */
export interface CsvHeader {
  delimiter: string;
  headers: readonly string[];
}

/**
 * Reads a header line; with `auto` the delimiter is the candidate that shows the most mapped columns, then the most columns.
 * Throws RosterError `header_malformed` when its quotes make no sense.
 */
export function readCsvHeader(line: string, delimiter: string, columns: ColumnSettings, source: string): CsvHeader {
  const readings = (delimiter === 'auto' ? candidates : [delimiter])
    .filter((candidate) => scanQuotes(line, candidate, null).state === 'closed')
    .map((candidate) => ({ delimiter: candidate, headers: parseRecords([line], candidate)[0] ?? [] }))
    .map((header) => ({ header, mappedCount: countMappedHeaders(columns, header.headers) }))
    .sort((a, b) => b.mappedCount - a.mappedCount || b.header.headers.length - a.header.headers.length);
  const best = readings[0]?.header;
  if (best === undefined || best.headers.length === 0) {
    throw new RosterError(
      'header_malformed',
      `${source}: the quotes of the header line do not match. The header must be one line.`,
    );
  }
  return best;
}
