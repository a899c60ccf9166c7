import { RosterError } from '../../errors.js';

const exportIt = 'Export its sheet as CSV UTF-8';

/** Formats that are no text, by the bytes with which they begin. */
const formats: readonly { bytes: string; what: string; advice: string }[] = [
  { bytes: 'PK\x03\x04', what: 'an Excel workbook or another ZIP file', advice: `${exportIt}, or unpack it` },
  { bytes: 'PK\x05\x06', what: 'an empty ZIP file', advice: 'Fetch or write the file again' },
  { bytes: '\xd0\xcf\x11\xe0', what: 'an old Excel workbook or another Office file', advice: exportIt },
  { bytes: '%PDF', what: 'a PDF', advice: 'Ask for the table itself, exported as CSV UTF-8' },
  { bytes: 'SQLite format 3\0', what: 'an SQLite database', advice: 'Export its table as CSV UTF-8' },
  { bytes: '\x89PNG', what: 'a picture (PNG)', advice: 'Ask for the table itself, exported as CSV UTF-8' },
  { bytes: '\xff\xd8\xff', what: 'a picture (JPEG)', advice: 'Ask for the table itself, exported as CSV UTF-8' },
];

/** Throws RosterError `not_a_table` that names the format where a file begins like one that is no text, whatever its name. */
export function refuseOtherFormats(start: Buffer, path: string): void {
  const format = formats.find(({ bytes }) => start.subarray(0, bytes.length).toString('latin1') === bytes);
  if (format !== undefined) throw toFormatError(path, format.what, format.advice);
}

/** Throws RosterError `not_a_table` where the first line of a table can only be that of JSON. */
export function refuseJson(firstLine: string, path: string): void {
  if (/^\s*(\{\s*("|$)|\[\s*(\{|\[|$))/.test(firstLine)) {
    throw toFormatError(path, 'JSON', 'Export it as CSV UTF-8');
  }
}

function toFormatError(path: string, what: string, advice: string): RosterError {
  return new RosterError('not_a_table', `${path} is ${what}, not CSV. ${advice}.`);
}
