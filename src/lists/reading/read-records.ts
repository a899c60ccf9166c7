import { Readable } from 'node:stream';
import { CsvError, type Options, parse } from 'csv-parse';
import { z } from 'zod';
import { toListError } from './list-error.js';
import type { ListText } from './open-list-file.js';

const recordSchema = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

/** One record of a CSV and the line on which it ends, from 1. */
export interface ListRecord {
  line: number;
  fields: readonly string[];
}

/** Gives the records of a CSV, blank ones left out; throws ConfigError with the line where quotes or columns make no sense. */
export async function* readRecords({ path, pieces }: ListText, options: Options): AsyncGenerator<ListRecord> {
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
