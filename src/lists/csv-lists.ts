import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { z } from 'zod';
import type { PartyType } from '../vocabulary.js';
import { type ListText, openListFile, toListError } from './list-file.js';
import { cleanAliases, isVehicleType, type ListedParty, readName } from './listed-party.js';

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

/** Reads a CSV with a column `name` and, where it has them, `type`, `aliases` (separated by `;`) and `id`; other columns are left alone. */
export async function* readNameCsv(text: ListText, separator: string): AsyncGenerator<ListedParty> {
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
  if (twice !== undefined)
    throw toListError(path, line, `has two columns "${twice}": rename the one that is not meant`);
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
 * Reads the OFAC SDN list in its CSV form, together with the aliases of an `alt.csv` that lies beside it; `onFile` is told of that file
 * once it has been read.
 */
export async function* readOfacCsv(
  text: ListText,
  onFile: (file: { file: string; sha256: string }) => void,
): AsyncGenerator<ListedParty> {
  const aliases = await readAliases(text.path, onFile);
  for await (const { line, fields } of readPublished(text)) {
    const [id = '', name = '', type = ''] = fields;
    if (!/^\d+$/.test(id) || name === '') {
      throw toListError(
        text.path,
        line,
        'is no entry of the OFAC list (number, name, type ...): take sdn.csv from its publisher again',
      );
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
    // The published files may end with the end-of-file mark of another age.
    if (fields.every((field) => field === endOfFile || field === '')) continue;
    yield { line, fields: fields.map((field) => (field === nothing ? '' : field)) };
  }
}

/** The other names that the remarks tell: `a.k.a. 'NAME'`. */
const readWeakAliases = (remarks: string): string[] =>
  [...remarks.matchAll(/[afn]\.k\.a\. '(.+?)'(?=[;.]|$)/g)].flatMap(([, alias]) => alias ?? []);

/** `FAMILY, Given` as people write it: `Given FAMILY`; a name without a comma, or with several, stays as it is. */
function toNaturalOrder(name: string): string {
  const [family = '', given, ...others] = name.split(',').map((part) => part.trim());
  return given === undefined || given === '' || others.length > 0 ? name : `${given} ${family}`;
}

const recordSchema = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

/** One record of a CSV and the line on which it ends, from 1. */
interface ListRecord {
  line: number;
  fields: readonly string[];
}

/** Gives the records of a CSV, blank ones left out; throws ConfigError with the line where quotes or columns make no sense. */
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
    return 'a quotation mark is never closed: the file is cut off, or the mark has to be doubled';
  if (code === 'CSV_RECORD_INCONSISTENT_COLUMNS' || code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    return 'has another number of columns than the header: put names that hold a separator in quotation marks';
  }
  if (code === 'CSV_MAX_RECORD_SIZE')
    return 'is a record of more than a million characters: a quotation mark is not closed';
  return 'its quotation marks make no sense: double those that belong to a name';
}
