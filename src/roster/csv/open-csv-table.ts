import { createHash } from 'node:crypto';
import { RosterError } from '../../errors.js';
import { readChunks } from '../file-chunks.js';
import { parseRecords } from '../parse-records.js';
import { type PhysicalLine, splitPhysicalLines } from '../physical-lines.js';
import { createRecordSplitter } from '../record-splitter.js';
import { scanQuotes } from '../scan-quotes.js';
import type { CsvSettings } from '../settings.js';
import type { TableReading, TableRecord } from '../table-reading.js';

/** Stand-in until the csv part is merged: one file, UTF-8, no tally of blanks. */
export async function openCsvTable(csv: CsvSettings, isMapped: (header: string) => boolean): Promise<TableReading> {
  const source = [csv.path].flat()[0] ?? '';
  const hash = createHash('sha256');
  let digest: string | null = null;
  const blocks = splitPhysicalLines(
    readChunks(source, (chunk) => hash.update(chunk)),
    source,
  );
  const tally = { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 };
  try {
    const start = await findStart(blocks, source);
    const { delimiter, names } = readHeader(start[0]?.text ?? '', csv.delimiter, isMapped, source);
    const headers = csv.header ? names : names.map((_, index) => String(index + 1));
    const rest = csv.header ? start.slice(1) : start;
    const split = createRecordSplitter({ delimiter, columnCount: names.length });
    const toRecords = (lines: readonly PhysicalLine[], isLast: boolean): TableRecord[] => {
      const records = split(lines, isLast);
      const sound = records.filter((record) => !record.isMalformed);
      const parsed = parseRecords(
        sound.map((record) => record.text),
        delimiter,
      );
      const fieldsOf = new Map(sound.map((record, index) => [record, parsed[index] ?? null]));
      return records.map((record) => {
        const fields = fieldsOf.get(record) ?? null;
        const { line, text } = record;
        return fields === null
          ? { line, file: null, fields: text.split(delimiter), fault: 'malformed_csv' }
          : { line, file: null, fields, fault: null };
      });
    };
    async function* readRecords(): AsyncGenerator<readonly TableRecord[], void, undefined> {
      try {
        yield* batches(toRecords(rest, false));
        for await (const block of blocks) yield* batches(toRecords(block, false));
        yield* batches(toRecords([], true));
        digest = hash.digest('hex');
      } finally {
        await blocks.return();
      }
    }
    const inner = readRecords();
    const first = await inner.next();
    if (first.done) {
      throw new RosterError(
        'roster_empty',
        `${source} has a header and no rows. Nothing was changed; check the export that writes it.`,
      );
    }
    async function* records(): AsyncGenerator<readonly TableRecord[], void, undefined> {
      try {
        if (!first.done) yield first.value;
        yield* inner;
      } finally {
        await inner.return();
      }
    }
    return {
      source,
      headers,
      records: records(),
      digest: () => {
        if (digest === null) throw new RosterError('roster_not_read', `${source}: has not been read to its end.`);
        return digest;
      },
      tally: () => tally,
      close: async () => {
        await inner.return();
        await blocks.return();
      },
    };
  } catch (error) {
    await blocks.return();
    throw error;
  }
}

function* batches(records: readonly TableRecord[]): Generator<readonly TableRecord[], void, undefined> {
  for (let start = 0; start < records.length; start += 500) yield records.slice(start, start + 500);
}

async function findStart(
  blocks: AsyncGenerator<readonly PhysicalLine[], void, undefined>,
  source: string,
): Promise<readonly PhysicalLine[]> {
  for (;;) {
    const block = await blocks.next();
    if (block.done) {
      throw new RosterError(
        'roster_empty',
        `${source} is empty. Nothing was changed; check the export that writes it.`,
      );
    }
    const at = block.value.findIndex((line) => line.text.trim() !== '');
    if (at >= 0) return block.value.slice(at);
  }
}

function readHeader(line: string, delimiter: string, isMapped: (header: string) => boolean, source: string) {
  const readings = (delimiter === 'auto' ? [',', ';', '\t', '|'] : [delimiter])
    .filter((candidate) => scanQuotes(line, candidate, null).state === 'closed')
    .map((candidate) => ({ delimiter: candidate, names: parseRecords([line], candidate)[0] ?? [] }))
    .map((header) => ({ ...header, mapped: header.names.filter(isMapped).length }))
    .sort((a, b) => b.mapped - a.mapped || b.names.length - a.names.length);
  const best = readings[0];
  if (best === undefined || best.names.length === 0) {
    throw new RosterError(
      'header_malformed',
      `${source}: the quotes of the header line do not match. The header must be one line.`,
    );
  }
  return best;
}
