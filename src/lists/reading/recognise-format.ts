import type { ListFormat } from '../listed-party.js';
import { toListError } from './list-error.js';

const separators = [',', ';', '\t', '|'] as const;
const quotedOrNot = /^"?(.*?)"?$/;

/** What the first lines of a list show: its format and, for a CSV, its separator. */
export interface RecognisedFormat {
  format: ListFormat;
  separator: string;
}

/**
 * Tells by its beginning how a list is written; throws ConfigError for what is certainly no list of names, so that no page of an error
 * message and no table without a `name` column is ever compared as if it were one.
 */
export function recogniseFormat(path: string, beginning: string): RecognisedFormat {
  const start = beginning.trimStart();
  if (start === '')
    throw toListError(path, null, 'holds nothing but white space: take the list from its publisher again');
  if (start.startsWith('<')) return { format: recogniseXml(path, start), separator: '' };
  if (/^[[{]/.test(start))
    throw toListError(path, 1, `is JSON: save the names as CSV with a column "name", or one name a line`);
  const lines = start.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  const [header = ''] = lines;
  const separator = separators.find((candidate) => splitHeader(header, candidate).includes('name'));
  if (separator !== undefined || splitHeader(header, ',')[0] === 'name')
    return { format: 'csv', separator: separator ?? ',' };
  // Number, name, and "individual", "vessel", "aircraft" or "-0-": the file has no header.
  if (
    /^\d+,(?:"(?:[^"]|"")*"|[^",]*),\s*"?(?:-0-|individual|vessel|aircraft)\b/i.test(header) ||
    /^\d+,.*,\s*-0-/.test(header)
  ) {
    return { format: 'ofac_csv', separator: ',' };
  }
  rejectTable(path, lines.slice(0, 20));
  return { format: 'plain_text', separator: '' };
}

const splitHeader = (header: string, separator: string): string[] =>
  header.split(separator).map((cell) => (quotedOrNot.exec(cell.trim())?.[1] ?? '').trim().toLowerCase());

function recogniseXml(path: string, start: string): ListFormat {
  if (/<(?:\w+:)?sdnList[\s>]/i.test(start)) return 'ofac_xml';
  if (/<CONSOLIDATED_LIST[\s>]/.test(start)) return 'un_xml';
  const known = 'known are the OFAC list (sdn.xml) and the UN consolidated list';
  if (/^<(!doctype html|html)/i.test(start))
    throw toListError(path, 1, 'is a web page: take the list itself from its publisher');
  throw toListError(
    path,
    1,
    `is XML of another kind; ${known}. Save the names as CSV with a column "name", or one name a line`,
  );
}

/** A name may hold a comma; lines that all have the same number of several, or of other separators, are a table. */
function rejectTable(path: string, lines: readonly string[]): void {
  if (lines.length < 2) return;
  for (const separator of separators) {
    const counts = new Set(lines.map((line) => line.split(separator).length - 1));
    const [count = 0] = counts;
    if (counts.size === 1 && count >= (separator === ',' ? 2 : 1)) {
      const message = `looks like a table without a column "name": its first line is ${shorten(lines[0] ?? '')}. Name the column of the names "name"`;
      throw toListError(path, 1, message);
    }
  }
}

const shorten = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);
