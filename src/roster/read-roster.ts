import { RosterError } from '../errors.js';
import { bindColumns, bindPartyColumns, type SourceHeaders } from './bind-columns.js';
import { checkPartyRow, checkRow } from './check-row.js';
import { createIsMapped, standardHeaders, standardPartyHeaders } from './column-names.js';
import { watchTotal } from './control-total.js';
import { openCsvTable } from './csv/csv-table.js';
import { settleRejects } from './detect-rejects.js';
import { type HeaderOrigin, nameColumn } from './find-columns.js';
import type { MappedColumns } from './postgres/cursor.js';
import { openPostgresTable } from './postgres/open-postgres-table.js';
import { partyFilePrefix } from './rejects-columns.js';
import { asSource } from './rejects-table.js';
import type { PartyReading, RosterReading } from './roster-reading.js';
import type { PartySettings, RosterSettings } from './settings.js';
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
