import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { z } from 'zod';
import type { PartyType } from '../vocabulary.js';
import {
  cleanAliases,
  downloadAgain,
  isVehicleType,
  type ListedParty,
  type ListText,
  openListFile,
  readName,
  toListError,
} from './list-file.js';
import { readXmlList } from './xml-lists.js';

type ListFormat = 'plain_text' | 'csv' | 'ofac_csv' | 'ofac_xml' | 'un_xml';

/** A published list. */
export interface PublishedList {
  /** The file's name, without its folder. */
  file: string;
  format: ListFormat;
  /** Every file of the list with the SHA-256 (hex) of its bytes, the named one first. */
  files: readonly { file: string; sha256: string }[];
  /** SHA-256 (hex) of the named file. */
  digest: string;
  parties: readonly ListedParty[];
  /** The number of names and aliases. */
  spellings: number;
}

/** More spellings than this do not fit into memory; no published list has so many. */
const maxSpellings = 1_000_000;
const beginningLength = 4_096;

/**
 * Reads a published list and recognises its format by its content: one name a line, CSV with a column `name`, the OFAC SDN list (CSV or XML), the
 * UN consolidated list (XML). Throws ConfigError with file, line and advice.
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
      throw toListError(path, null, `holds more than ${maxSpellings} names: give only its new names, in another file`);
    }
  }
  if (parties.length === 0) throw toListError(path, null, `holds no name: ${downloadAgain}`);
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
    case 'un_xml':
      return readXmlList(text, format);
  }
}

/** Gives the first characters of a text, and the whole text. */
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

interface RecognisedFormat {
  format: ListFormat;
  separator: string;
}

/**
 * Recognises the format of a list by its beginning. Throws ConfigError for other content, so that no error page and no table without a `name`
 * column is compared as a list.
 */
function recogniseFormat(path: string, beginning: string): RecognisedFormat {
  const start = beginning.trimStart();
  if (start === '') throw toListError(path, null, `holds nothing but white space: ${downloadAgain}`);
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
  const known = 'the known ones are the OFAC list (sdn.xml) and the UN consolidated list';
  if (/^<(!doctype html|html)/i.test(start)) throw toListError(path, 1, 'is a web page: download the list itself');
  throw toListError(
    path,
    1,
    `is XML of another kind; ${known}. Save the names as CSV with a column "name", or one name a line`,
  );
}

/** Refuses a table: all lines have the same number of separators. A single comma is allowed, because a name may contain one. */
function rejectTable(path: string, lines: readonly string[]): void {
  if (lines.length < 2) return;
  for (const separator of separators) {
    const counts = new Set(lines.map((line) => line.split(separator).length - 1));
    const [count = 0] = counts;
    if (counts.size === 1 && count >= (separator === ',' ? 2 : 1)) {
      const message = `looks like a table without a column "name": its first line is ${shorten(lines[0] ?? '')}. Give the column of the names the header "name"`;
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

interface TextLine {
  number: number;
  text: string;
}

/** The lines of a text without their endings, numbered from 1; throws ConfigError for an endless line. */
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
      throw toListError(path, number + lines.length + 1, 'has more than a million characters: it is no list of names');
    }
    for (const line of lines) {
      number += 1;
      yield { number, text: line };
    }
  }
  if (rest !== '') yield { number: number + 1, text: rest.replace(/\r$/, '') };
}

const typeWords: Readonly<Record<string, PartyType | null>> = {
  '': null,
  person: 'person',
  individual: 'person',
  entity: 'entity',
  organisation: 'entity',
  organization: 'entity',
  company: 'entity',
  vessel: 'entity',
  aircraft: 'entity',
};

/** Reads a CSV with a column `name` and optional columns `type`, `aliases` (separated by `;`) and `id`; other columns are ignored. */
async function* readNameCsv(text: ListText, separator: string): AsyncGenerator<ListedParty> {
  let headers: readonly string[] | null = null;
  for await (const { line, fields } of readRecords(text, { delimiter: separator })) {
    if (headers === null) {
      headers = readHeaders(text.path, line, fields);
      continue;
    }
    const field = (name: string): string => fields[headers?.indexOf(name) ?? -1] ?? '';
    const name = readName(text.path, line, field('name'));
    const type = readType(text.path, line, field('type'));
    const isVehicle = isVehicleType(field('type')) ? ({ isVehicle: true } as const) : {};
    yield {
      id: field('id').trim() || null,
      type,
      ...isVehicle,
      name,
      aliases: cleanAliases(name, field('aliases').split(';')),
    };
  }
}

function readHeaders(path: string, line: number, fields: readonly string[]): readonly string[] {
  const headers = fields.map((field) => field.trim().toLowerCase());
  const twice = ['id', 'name', 'type', 'aliases'].find((name) => headers.indexOf(name) !== headers.lastIndexOf(name));
  if (twice !== undefined) throw toListError(path, line, `has two columns "${twice}": rename one of them`);
  return headers;
}

function readType(path: string, line: number, text: string): PartyType | null {
  const type = typeWords[text.trim().toLowerCase()];
  if (type !== undefined) return type;
  throw toListError(path, line, `holds the type "${text.trim()}": write person or entity, or leave it empty`);
}

const nothing = '-0-';
const endOfFile = '\u001a';

/**
 * Reads the OFAC SDN list in its CSV form, with the aliases of an `alt.csv` in the same folder; `onFile` gets that file once it is read.
 */
async function* readOfacCsv(
  text: ListText,
  onFile: (file: { file: string; sha256: string }) => void,
): AsyncGenerator<ListedParty> {
  const aliases = await readAliases(text.path, onFile);
  for await (const { line, fields } of readPublished(text)) {
    const [id = '', name = '', type = ''] = fields;
    if (!/^\d+$/.test(id) || name === '') {
      throw toListError(text.path, line, `is no entry of the OFAC list (number, name, type ...): ${downloadAgain}`);
    }
    const isPerson = type.toLowerCase() === 'individual';
    const spell = (spelling: string): string => (isPerson ? toNaturalOrder(spelling) : spelling);
    const listed = readName(text.path, line, spell(name));
    const others = [...(aliases.get(id) ?? []).map(spell), ...readWeakAliases(fields.slice(3).join('; '))];
    const isVehicle = isVehicleType(type) ? ({ isVehicle: true } as const) : {};
    yield {
      id,
      type: isPerson ? 'person' : 'entity',
      ...isVehicle,
      name: listed,
      aliases: cleanAliases(listed, others),
    };
  }
}

async function readAliases(
  path: string,
  onFile: (file: { file: string; sha256: string }) => void,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = dirname(path);
  const aliases = new Map<string, string[]>();
  const found = (await readdir(folder)).find((file) => file.toLowerCase() === 'alt.csv');
  if (found === undefined) return aliases;
  const text = openListFile(join(folder, found));
  for await (const { fields } of readPublished(text)) {
    const [id = '', , , name = ''] = fields;
    if (name === '') continue;
    const others = aliases.get(id);
    if (others) others.push(name);
    else aliases.set(id, [name]);
  }
  onFile({ file: basename(found), sha256: text.sha256() });
  return aliases;
}

async function* readPublished(text: ListText): ReturnType<typeof readRecords> {
  const options = { relax_column_count: true, trim: true };
  for await (const { line, fields } of readRecords(text, options)) {
    // The published files may end with the end-of-file character of MS-DOS.
    if (fields.every((field) => field === endOfFile || field === '')) continue;
    yield { line, fields: fields.map((field) => (field === nothing ? '' : field)) };
  }
}

/** The aliases in the remarks: `a.k.a. 'NAME'`. */
const readWeakAliases = (remarks: string): string[] =>
  [...remarks.matchAll(/[afn]\.k\.a\. '(.+?)'(?=[;.]|$)/g)].flatMap(([, alias]) => alias ?? []);

/** Turns `FAMILY, Given` into `Given FAMILY`; a name without a comma, or with several, stays unchanged. */
function toNaturalOrder(name: string): string {
  const [family = '', given, ...others] = name.split(',').map((part) => part.trim());
  return given === undefined || given === '' || others.length > 0 ? name : `${given} ${family}`;
}

const recordSchema = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

/** A record of a CSV and the line on which it ends, from 1. */
interface ListRecord {
  line: number;
  fields: readonly string[];
}

/** The records of a CSV without blank ones; throws ConfigError with the line of malformed quotes or columns. */
async function* readRecords({ path, pieces }: ListText, options: Options): AsyncGenerator<ListRecord> {
  const parser = parse({ ...options, info: true, skip_empty_lines: true, max_record_size: 1024 * 1024 });
  const source = Readable.from(pieces);
  source.once('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const item of parser) {
      const { record, info } = recordSchema.parse(item);
      if (record.some((field) => field.trim() !== '')) yield { line: info.lines, fields: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line: unknown = Reflect.get(error, 'lines');
    throw toListError(path, typeof line === 'number' ? line : null, toAdvice(error), error);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

function toAdvice({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED')
    return 'a quotation mark is never closed: the file is truncated, or the mark must be doubled';
  if (code === 'CSV_RECORD_INCONSISTENT_COLUMNS' || code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    return 'has another number of columns than the header: put names that contain a separator in quotation marks';
  }
  if (code === 'CSV_MAX_RECORD_SIZE')
    return 'is a record of more than a million characters: a quotation mark is not closed';
  return 'its quotation marks are malformed: double those that belong to a name';
}
