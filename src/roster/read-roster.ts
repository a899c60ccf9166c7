import { RosterError } from '../errors.js';
import { checkPartyRow, checkRow } from './check-row.js';
import { bindColumns, bindPartyColumns, type SourceHeaders } from './column-binding.js';
import type { PartyRow, RosterRow } from './customer.js';
import { createIsMapped, nameHeaders, standardHeaders, standardPartyHeaders } from './headers.js';
import { openPostgresTable } from './postgres-table.js';
import { openCsvSource, partyFilePrefix } from './rejects.js';
import { bindRowParties } from './row-parties.js';
import type { PartySettings, RosterSettings } from './settings.js';
import { parseTotal, type TableReading, type TableRecord } from './table-reading.js';

interface Reading<Row> extends Omit<TableReading, 'records' | 'isFedBack'> {
  isFedBack: boolean;
  /** Batches of at most 500 rows, read on demand; throws RosterError when the source breaks off. */
  rows: AsyncIterable<readonly Row[]>;
}

type RosterReading = Reading<RosterRow> & {
  /** The row count that the source states, once it is read: null for none, absent without a control total. */
  controlTotal?: () => number | null;
};

const dayLength = 10;
const toDay = (now: Date): string => now.toISOString().slice(0, dayLength);

/**
 * Opens a roster and checks its header. `secret` gives the value of an environment variable; `now` bounds the birth
 * dates. A `rejects.csv` is read like the roster that it came from. Throws RosterError when the source is unreadable
 * or lacks a mapped column, ConfigError when the variable is not set.
 */
export async function readRoster(
  settings: RosterSettings,
  secret: (name: string) => string | undefined,
  now = new Date(),
): Promise<RosterReading> {
  const { columns, controlTotal } = settings;
  const column = controlTotal !== undefined && 'column' in controlTotal ? controlTotal.column : undefined;
  const isMapped = createIsMapped(columns, standardHeaders);
  const mapped = {
    isMapped: (header: string) => isMapped(header) || header === column,
    id: [columns.id ?? standardHeaders.id].flat(),
    totalQuery: controlTotal !== undefined && 'query' in controlTotal ? controlTotal.query : undefined,
  };
  const table = await openTable(settings, 'roster', settings.name, mapped, secret);
  let total = (): number | null => table.stated ?? null;
  const reading = await read(table, (shape) => {
    const given = { ...shape, origin: toOrigin(settings), today: toDay(now) };
    const binding = bindColumns(settings.columns, given);
    const readRelated = settings.columns.parties && bindRowParties(settings.columns, given);
    const figures = column === undefined ? null : watchTotal(shape, column);
    if (figures !== null) total = figures.total;
    return (record): RosterRow => {
      figures?.note(record);
      const row = checkRow(binding, record);
      // A rejected row keeps the last accepted record with its related parties.
      return row.kind === 'rejected' || !readRelated ? row : { ...row, related: readRelated(record) };
    };
  });
  return controlTotal === undefined ? reading : { ...reading, controlTotal: () => total() };
}

/** Opens a source of related parties; `parties: ` and the source are their file. Throws like `readRoster`. */
export async function readParties(
  settings: PartySettings,
  secret: (name: string) => string | undefined,
  now = new Date(),
): Promise<Reading<PartyRow>> {
  const { columns } = settings;
  const id = [columns.customerId ?? standardPartyHeaders.customerId].flat();
  const mapped = { isMapped: createIsMapped(columns, standardPartyHeaders), id };
  const table = await openTable(settings, 'parties', 'parties', mapped, secret);
  return read(table, (shape) => {
    const binding = bindPartyColumns(settings.columns, { ...shape, origin: toOrigin(settings), today: toDay(now) });
    return (record) => checkPartyRow(binding, { ...record, file: partyFilePrefix + (record.file ?? table.source) });
  });
}

function toOrigin({ csv }: Pick<RosterSettings, 'csv'>): SourceHeaders['origin'] {
  if (csv === undefined) return 'query';
  return csv.header ? 'first_line' : 'numbers';
}

async function openTable(
  { csv, postgres }: Pick<RosterSettings, 'csv' | 'postgres'>,
  what: 'roster' | 'parties',
  name: string,
  mapped: Parameters<typeof openPostgresTable>[3],
  secret: (name: string) => string | undefined,
): Promise<TableReading> {
  if (csv !== undefined) return openCsvSource(csv, what, mapped.isMapped);
  if (postgres !== undefined) return openPostgresTable(name, postgres, secret, mapped, what === 'parties');
  throw new RosterError('roster_without_source', `Roster ${name} has neither csv nor postgres.`);
}

async function read<Row>(
  table: TableReading,
  bind: (shape: TableReading) => (record: TableRecord) => Row,
): Promise<Reading<Row>> {
  try {
    const { records: _, ...reading } = table;
    const headers = nameHeaders(table.headers);
    const rows = checkBatches(table, bind({ ...table, headers }));
    const close = async (): Promise<void> => {
      await rows.return();
      await table.close();
    };
    return { isFedBack: false, ...reading, headers, rows, close };
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

/**
 * Watches the largest figure of a column in each file; the total is their sum, null when no row holds one. Throws
 * RosterError when the column does not exist.
 */
function watchTotal({ headers, source }: Pick<TableReading, 'headers' | 'source'>, column: string) {
  const place = headers.indexOf(column.trim().normalize('NFC'));
  if (place < 0) {
    throw new RosterError(
      'column_missing',
      `${source} has no column ${JSON.stringify(column)}, which controlTotal of the roster names.`,
    );
  }
  const byFile = new Map<string | null, number>();
  return {
    note: ({ file, fields }: TableRecord): void => {
      const figure = parseTotal(fields[place] ?? '');
      if (figure !== null) byFile.set(file, Math.max(figure, byFile.get(file) ?? 0));
    },
    total: () => (byFile.size === 0 ? null : [...byFile.values()].reduce((sum, figure) => sum + figure, 0)),
  };
}
