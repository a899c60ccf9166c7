import { createHash } from 'node:crypto';
import { RosterError } from '../errors.js';
import { bindColumns, type ColumnBinding } from './bind-columns.js';
import { checkRow, rejectRow } from './check-row.js';
import { readCsvHeader } from './csv-header.js';
import type { RosterRow } from './customer.js';
import { readChunks } from './file-chunks.js';
import { parseRecords } from './parse-records.js';
import { type PhysicalLine, splitPhysicalLines } from './physical-lines.js';
import { type CsvRecord, createRecordSplitter } from './record-splitter.js';
import type { RosterReading } from './roster-reading.js';
import type { ColumnSettings, CsvSettings } from './settings.js';

const batchSize = 500;

type Blocks = AsyncGenerator<readonly PhysicalLine[], void, undefined>;

/** Opens a CSV roster; throws RosterError when it cannot be read, is empty, or its header lacks a mapped column. */
export async function readCsvRoster(csv: CsvSettings, columns: ColumnSettings): Promise<RosterReading> {
  const source = csv.path;
  const hash = createHash('sha256');
  let digest: string | null = null;
  const blocks = splitPhysicalLines(
    readChunks(source, (chunk) => hash.update(chunk)),
    source,
  );
  try {
    const { line, others } = await findHeaderLine(blocks, source);
    const { delimiter, headers } = readCsvHeader(line, csv.delimiter, columns, source);
    const binding = bindColumns(columns, headers, source);
    const records = readRecords(blocks, others, { delimiter, columnCount: headers.length });
    const first = await records.next();
    if (first.done) throw toEmptyError(source, 'a header and no rows');
    const rows = readRows(records, first.value, binding, delimiter, () => {
      digest = hash.digest('hex');
    });
    return {
      source,
      headers: binding.headers,
      tally: () => ({ lines: 0, headers: 1, blanks: 0, continuations: 0, records: 0 }),
      rows,
      digest: () => {
        if (digest === null) throw new RosterError('roster_not_read', `${source}: has not been read to its end.`);
        return digest;
      },
      close: async () => {
        await rows.return();
        await records.return();
        // A reading that is given up before its second block has not handed the file on to anybody who closes it.
        await blocks.return();
      },
    };
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

async function findHeaderLine(blocks: Blocks, source: string) {
  for (;;) {
    const block = await blocks.next();
    if (block.done) throw toEmptyError(source, 'empty');
    const at = block.value.findIndex((line) => line.text.trim() !== '');
    const header = block.value[at];
    if (header !== undefined) return { line: header.text, others: block.value.slice(at + 1) };
  }
}

function toEmptyError(source: string, what: string): RosterError {
  const told = what === 'empty' ? 'is empty' : `has ${what}`;
  return new RosterError('roster_empty', `${source} ${told}. Nothing was changed; check the export that writes it.`);
}

async function* readRecords(
  blocks: Blocks,
  others: readonly PhysicalLine[],
  shape: Parameters<typeof createRecordSplitter>[0],
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const split = createRecordSplitter(shape);
  const fromFirst = split(others, false);
  if (fromFirst.length > 0) yield fromFirst;
  for await (const block of blocks) {
    const records = split(block, false);
    if (records.length > 0) yield records;
  }
  const last = split([], true);
  if (last.length > 0) yield last;
}

async function* readRows(
  records: AsyncGenerator<readonly CsvRecord[], void, undefined>,
  first: readonly CsvRecord[],
  binding: ColumnBinding,
  delimiter: string,
  onEnd: () => void,
): AsyncGenerator<readonly RosterRow[], void, undefined> {
  try {
    yield* toBatches(first, binding, delimiter);
    for await (const group of records) yield* toBatches(group, binding, delimiter);
    onEnd();
  } finally {
    await records.return();
  }
}

function* toBatches(
  records: readonly CsvRecord[],
  binding: ColumnBinding,
  delimiter: string,
): Generator<readonly RosterRow[], void, undefined> {
  for (let start = 0; start < records.length; start += batchSize) {
    yield toRows(records.slice(start, start + batchSize), binding, delimiter);
  }
}

function toRows(records: readonly CsvRecord[], binding: ColumnBinding, delimiter: string): RosterRow[] {
  const whole = records.filter((record) => !record.isMalformed);
  const parsed = parseRecords(
    whole.map((record) => record.text),
    delimiter,
  );
  const fieldsOf = new Map(whole.map((record, index) => [record, parsed[index] ?? null]));
  return records.map((record) => {
    const fields = fieldsOf.get(record) ?? null;
    return fields === null ? rejectMalformed(record, binding, delimiter) : checkRow(binding, record.line, fields);
  });
}

/** The fields are shown as they stand between the delimiters, so that the stray quote can be seen and removed. */
function rejectMalformed(record: CsvRecord, binding: ColumnBinding, delimiter: string): RosterRow {
  const fields = record.text.split(delimiter);
  const bare = fields.map((field) => field.replaceAll('"', ''));
  return rejectRow(binding, record.line, fields, { reason: 'malformed_csv', column: null }, bare);
}
