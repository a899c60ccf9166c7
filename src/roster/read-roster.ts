import { isUtf8 } from 'node:buffer';
import { open, stat } from 'node:fs/promises';
import { RosterError } from '../errors.js';
import { bindColumns, bindPartyColumns, type SourceHeaders } from './bind-columns.js';
import { checkPartyRow, checkRow } from './check-row.js';
import { createIsMapped, standardHeaders, standardPartyHeaders } from './column-names.js';
import { watchTotal } from './control-total.js';
import { openCsvTable } from './csv/csv-table.js';
import { type HeaderOrigin, nameColumn } from './find-columns.js';
import type { MappedColumns } from './postgres/cursor.js';
import { openPostgresTable } from './postgres/open-postgres-table.js';
import {
  fileColumn,
  isRejectsColumn,
  isRejectsHeader,
  partyFilePrefix,
  reasonColumn,
  structuralReasons,
  surplusColumn,
} from './rejects-columns.js';
import { restoreFormula, restoreHidden } from './restore-formula.js';
import type { PartyReading, RosterReading } from './roster-reading.js';
import type { CsvSettings, PartySettings, RosterSettings } from './settings.js';
import type { TableReading, TableRecord } from './table-reading.js';

export type { PartyReading, RosterReading } from './roster-reading.js';

type Secret = (name: string) => string | undefined;

const dayLength = 10;
/** The day by which birth dates are judged where no clock is given. */
const toDay = (now: Date): string => now.toISOString().slice(0, dayLength);

/**
 * Opens a roster and checks its header; `secret` gives the value of an environment variable. A `rejects.csv` is read like the
 * roster that it came from; nobody is born after `now`. Throws RosterError when the source cannot be read or lacks a mapped column, ConfigError when the variable is not set.
 */
export async function readRoster(settings: RosterSettings, secret: Secret, now = new Date()): Promise<RosterReading> {
  const { columns, controlTotal } = settings;
  const column = controlTotal !== undefined && 'column' in controlTotal ? controlTotal.column : undefined;
  const isMapped = createIsMapped(columns, standardHeaders);
  const mapped = {
    isMapped: (header: string) => isMapped(header) || header === column,
    id: [columns.id ?? standardHeaders.id].flat(),
    totalQuery: controlTotal !== undefined && 'query' in controlTotal ? controlTotal.query : undefined,
  };
  const opened = await openTable(settings, 'roster', settings.name, mapped, secret);
  const { table, total } = await watch(opened, column);
  const reading = await read(table, (shape) => {
    const binding = bindColumns(settings.columns, { ...shape, origin: toOrigin(settings), today: toDay(now) });
    return (record) => checkRow(binding, record);
  });
  return controlTotal === undefined ? reading : { ...reading, controlTotal: total };
}

async function watch(table: TableReading, column: string | undefined): Promise<ReturnType<typeof watchTotal>> {
  try {
    return column === undefined ? { table, total: () => table.stated ?? null } : watchTotal(table, column);
  } catch (error) {
    await table.close();
    throw error;
  }
}

/** Opens a source of related parties, whose rows say `parties: ` and the source as their file; throws like `readRoster`. */
export async function readParties(settings: PartySettings, secret: Secret, now = new Date()): Promise<PartyReading> {
  const { columns } = settings;
  const id = [columns.customerId ?? standardPartyHeaders.customerId].flat();
  const mapped = { isMapped: createIsMapped(columns, standardPartyHeaders), id };
  const table = await openTable(settings, 'parties', 'parties', mapped, secret);
  return read(table, (shape) => {
    const binding = bindPartyColumns(settings.columns, { ...shape, origin: toOrigin(settings), today: toDay(now) });
    return (record) => checkPartyRow(binding, { ...record, file: partyFilePrefix + (record.file ?? table.source) });
  });
}

function toOrigin({ csv }: Pick<RosterSettings, 'csv'>): HeaderOrigin {
  if (csv === undefined) return 'query';
  return csv.header ? 'first_line' : 'numbers';
}

async function openTable(
  { csv, postgres }: Pick<RosterSettings, 'csv' | 'postgres'>,
  what: 'roster' | 'parties',
  name: string,
  mapped: MappedColumns & { totalQuery?: string | undefined },
  secret: Secret,
): Promise<TableReading> {
  // That nobody has related parties is something that a source of them may say; that there are no customers is none.
  const mayBeEmpty = what === 'parties';
  if (csv !== undefined)
    return asSource(await openCsvTable(await settleRejects(csv), mapped.isMapped, mayBeEmpty), what);
  if (postgres !== undefined) return openPostgresTable(name, postgres, secret, mapped, mayBeEmpty);
  throw new RosterError('roster_without_source', `Roster ${name} has neither csv nor postgres.`);
}

async function read<Row>(
  table: TableReading,
  bind: (shape: Pick<SourceHeaders, 'headers' | 'source'>) => (record: TableRecord) => Row,
) {
  try {
    const { source, isFedBack = false, digest, tally, progress, close } = table;
    // Whatever names a field from here on has a name for it: of two columns without one, the first would be lost under the second.
    const headers = table.headers.map((header, index) => header || nameColumn(index));
    const rows = checkBatches(table, bind({ source, headers }));
    const closeAll = async (): Promise<void> => {
      await rows.return();
      await close();
    };
    return { source, headers, isFedBack, rows, digest, tally, ...(progress && { progress }), close: closeAll };
  } catch (error) {
    await table.close();
    throw error;
  }
}

async function* checkBatches<Row>(
  { records, close }: TableReading,
  check: (record: TableRecord) => Row,
): AsyncGenerator<readonly Row[], void, undefined> {
  try {
    for await (const batch of records) yield batch.map(check);
  } finally {
    await close();
  }
}

/** Enough for the header; and for telling how a file is encoded that a spreadsheet has saved anew. */
const headerBytes = 64 * 1024;
const wholeBytes = 16 * 1024 * 1024;

/**
 * Gives the settings by which a `rejects.csv` is read in place of the roster that it came from: it has a header and commas,
 * or what a spreadsheet made of them, however the roster itself is written. Settings of any other file are given as they are.
 */
async function settleRejects(csv: CsvSettings): Promise<CsvSettings> {
  const path = [csv.path].flat();
  if (path.length !== 1 || path[0] === undefined || path[0] === '-') return csv;
  const start = await readStart(path[0], headerBytes);
  if (
    start === null ||
    !isRejectsHeader(
      decode(start)
        .replace(/^"?sep=.*[\r\n]+/i, '')
        .split(/[\r\n]/, 1)[0]
        ?.split(/[,;\t|"]+/) ?? [],
    )
  )
    return csv;
  const isMarked = start[0] === 0xef || start[0] === 0xff || start[0] === 0xfe;
  const isPlain = isMarked || isUtf8((await readStart(path[0], wholeBytes)) ?? start);
  return { ...csv, delimiter: 'auto', header: true, encoding: isPlain ? 'auto' : csv.encoding };
}

/** Null for what is no file that can be read: opening it as a roster says so. */
async function readStart(path: string, length: number): Promise<Buffer | null> {
  // Opening a pipe would wait for its writer, and closing it would end the writer.
  const isFile = (await stat(path).catch(() => null))?.isFile() === true;
  const file = isFile ? await open(path).catch(() => null) : null;
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function decode(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return start.toString('utf16le');
  return start.toString('utf8').replace(/^\ufeff/, '');
}

/**
 * Gives a `rejects.csv` that is fed back as the source it came from: without our columns and without the apostrophes before
 * formulas, and with the characters that are shown as code points. A record that was broken in itself stays rejected until its `rejected_reason` is emptied. Any other table is given as it is.
 * Its records throw RosterError `parties_as_customers` where a roster is to be made of rejected parties.
 */
function asSource(table: TableReading, what: 'roster' | 'parties'): TableReading {
  const { headers } = table;
  if (!isRejectsHeader(headers)) return table;
  const kept = headers.flatMap((header, index) => (isRejectsColumn(header) ? [] : [index]));
  const places = { kept, reason: headers.indexOf(reasonColumn), surplus: headers.indexOf(surplusColumn) };
  const file = headers.indexOf(fileColumn);
  const refuseParties = (record: TableRecord): void => {
    if (what === 'parties' || !record.fields[file]?.startsWith(partyFilePrefix)) return;
    const told = `${table.source}: line ${record.line} was rejected as a related party and is no customer.`;
    throw new RosterError('parties_as_customers', `${told} Mend such rows in the source of the parties.`);
  };
  return {
    ...table,
    isFedBack: true,
    headers: kept.map((index) => restoreHidden(restoreFormula(headers[index] ?? ''))),
    records: mapBatches(table.records, (record) => {
      refuseParties(record);
      return toSourceRecord(record, headers.length, places);
    }),
  };
}

interface Places {
  kept: readonly number[];
  reason: number;
  surplus: number;
}

async function* mapBatches(
  batches: TableReading['records'],
  toRecord: (record: TableRecord) => TableRecord,
): AsyncGenerator<readonly TableRecord[], void, undefined> {
  for await (const batch of batches) yield batch.map(toRecord);
}

function toSourceRecord(record: TableRecord, columnCount: number, { kept, reason, surplus }: Places): TableRecord {
  const { fields } = record;
  const isWhole = fields.length === columnCount;
  const leftOver = isWhole ? (fields[surplus] ?? '').trim() : fields.slice(columnCount).join(' | ');
  const former = isWhole ? (fields[reason] ?? '').trim() : '';
  // The database keeps NUL as its visible symbol, which would pass as part of a name.
  const toField = (text: string): string =>
    restoreHidden(restoreFormula(former === 'control_character' ? text.replaceAll('\u2400', '\0') : text));
  const own = kept.map((index) => toField(fields[index] ?? ''));
  const fault = structuralReasons.find((each) => each === former) ?? null;
  return {
    ...record,
    fields: leftOver === '' ? own : [...own, toField(leftOver)],
    fault: record.fault ?? (isWhole ? fault : 'wrong_column_count'),
  };
}
