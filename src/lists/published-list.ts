import { basename } from 'node:path';
import { readNameCsv, readOfacCsv } from './csv-lists.js';
import { type ListText, openListFile, toListError } from './list-file.js';
import { type ListedParty, type ListFormat, type PublishedList, readName } from './listed-party.js';
import { readOfacXml, readUnXml } from './xml-lists.js';

/** More spellings than this are no published list, and would not fit into memory. */
const maxSpellings = 1_000_000;
const beginningLength = 4_096;

/**
 * Reads a published list; its format is recognised by its content: one name a line, CSV with a column `name`, the OFAC SDN list (CSV or
 * XML), the UN consolidated list (XML). Throws ConfigError that says file, line and what to do.
 */
export async function readPublishedList(path: string): Promise<PublishedList> {
  const text = openListFile(path);
  const { beginning, pieces } = await peek(text);
  const recognised = recogniseFormat(path, beginning);
  const besides: { file: string; sha256: string }[] = [];
  const parties: ListedParty[] = [];
  let spellings = 0;
  for await (const party of readParties({ ...text, pieces }, recognised, (file) => besides.push(file))) {
    parties.push(party);
    spellings += 1 + party.aliases.length;
    if (spellings > maxSpellings) {
      throw toListError(
        path,
        null,
        `holds more than ${maxSpellings} names: give what is new on it as a file of its own`,
      );
    }
  }
  if (parties.length === 0) throw toListError(path, null, 'holds no name: take the list from its publisher again');
  const file = basename(path);
  const digest = text.sha256();
  return { file, format: recognised.format, files: [{ file, sha256: digest }, ...besides], digest, parties, spellings };
}

function readParties(
  text: ListText,
  { format, separator }: RecognisedFormat,
  onFile: (file: { file: string; sha256: string }) => void,
): AsyncIterable<ListedParty> {
  switch (format) {
    case 'plain_text':
      return readPlainText(text);
    case 'csv':
      return readNameCsv(text, separator);
    case 'ofac_csv':
      return readOfacCsv(text, onFile);
    case 'ofac_xml':
      return readOfacXml(text);
    case 'un_xml':
      return readUnXml(text);
  }
}

/** The first characters of a text, and the text from its start. */
async function peek(text: ListText): Promise<{ beginning: string; pieces: AsyncIterable<string> }> {
  const iterator = text.pieces[Symbol.asyncIterator]();
  const first: string[] = [];
  let length = 0;
  while (length < beginningLength) {
    const next = await iterator.next();
    if (next.done) break;
    first.push(next.value);
    length += next.value.length;
  }
  const rest = async function* (): AsyncGenerator<string> {
    yield* first;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  return { beginning: first.join('').slice(0, 16 * beginningLength), pieces: rest() };
}

const separators = [',', ';', '\t', '|'] as const;
const quotedOrNot = /^"?(.*?)"?$/;

/** What the first lines of a list show: its format and, for a CSV, its separator. */
interface RecognisedFormat {
  format: ListFormat;
  separator: string;
}

/**
 * Tells by its beginning how a list is written; throws ConfigError for what is certainly no list of names, so that no page of an error
 * message and no table without a `name` column is ever compared as if it were one.
 */
function recogniseFormat(path: string, beginning: string): RecognisedFormat {
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

/** Reads one name a line; blank lines and lines that begin with `#` are left out. */
async function* readPlainText({ path, pieces }: ListText): AsyncGenerator<ListedParty> {
  for await (const { number, text } of splitLines(path, pieces)) {
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    yield { id: null, type: null, name: readName(path, number, text), aliases: [] };
  }
}

const maxLineLength = 1024 * 1024;

/** One line of a text, numbered from 1, without its ending. */
interface TextLine {
  number: number;
  text: string;
}

/** Gives a text's lines; throws ConfigError for a line that never ends. */
async function* splitLines(path: string, pieces: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let rest = '';
  let number = 0;
  for await (const piece of pieces) {
    const text = rest + piece;
    // The second half of a CRLF may be in the next piece.
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const lines = whole.split(/\r\n|\r|\n/);
    rest = (lines.pop() ?? '') + text.slice(whole.length);
    if (rest.length > maxLineLength) {
      throw toListError(
        path,
        number + lines.length + 1,
        'is longer than a million characters: this is no list of names',
      );
    }
    for (const line of lines) {
      number += 1;
      yield { number, text: line };
    }
  }
  if (rest !== '') yield { number: number + 1, text: rest.replace(/\r$/, '') };
}
