import { join } from 'node:path';
import type { RejectedRow, RosterRow } from '../../../src/roster/customer.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { withFiles } from './open-csv.js';

type RosterReading = Awaited<ReturnType<typeof readRoster>>;

/** Keys of a roster's settings beside its path. */
export interface TextRoster {
  columns?: unknown;
  delimiter?: string;
  header?: boolean;
  skipRows?: readonly string[];
}

/** Opens a temporary CSV file of the given content, as the command line would, and removes it after `use`. */
const withReading = <T>(content: string | Buffer, roster: TextRoster, use: (reading: RosterReading) => Promise<T>) =>
  withFiles({ 'roster.csv': content }, async (folder) => {
    const { columns = {}, delimiter = 'auto', header = true, skipRows } = roster;
    const csv = { path: join(folder, 'roster.csv'), delimiter, header, skipRows };
    return use(await readRoster(rosterSettingsSchema.parse({ name: 'retail', csv, columns }), () => undefined));
  });

/** All rows of a reading. */
async function collectRows(reading: RosterReading): Promise<RosterRow[]> {
  const rows: RosterRow[] = [];
  for await (const batch of reading.rows) rows.push(...batch);
  return rows;
}

/** All rows of a CSV text. */
export async function readText(content: string | Buffer, roster: TextRoster = {}): Promise<RosterRow[]> {
  return withReading(content, roster, collectRows);
}

/** All rows of a CSV text without those that `skipRows` names, and the balance of its lines. */
export const readWithTally = (content: string, skipRows: readonly string[]) =>
  withReading(content, { skipRows }, async (reading) => ({ rows: await collectRows(reading), tally: reading.tally() }));

/** Each row in short: line and id of a customer, or line and reason. */
export function summarise(rows: readonly RosterRow[]): string[] {
  return rows.map((row) =>
    row.kind === 'customer'
      ? `${row.line} ${row.customer.reference}`
      : `${row.rejected.line} ${row.rejected.reason}${row.rejected.column === null ? '' : ` ${row.rejected.column}`}`,
  );
}

/** The rejected rows among rows. */
export function onlyRejected(rows: readonly RosterRow[]): RejectedRow[] {
  return rows.flatMap((row) => (row.kind === 'rejected' ? [row.rejected] : []));
}

/** The texts of a block: two spaces or a line break lie between them. */
export const textsOf = (block: string): readonly string[] => block.trim().split(/ {2,}|\s*\n\s*/);
