import { RosterError } from '../errors.js';
import { readCsvRoster } from './csv-source.js';
import { readPostgresRoster } from './postgres-source.js';
import type { PartyRow } from './customer.js';
import type { PartyReading, RosterReading } from './roster-reading.js';
import type { PartySettings, RosterSettings } from './settings.js';

export type { RosterReading } from './roster-reading.js';

/**
 * Opens a roster and checks its header; `secret` gives the value of an environment variable.
 * Throws RosterError when the source cannot be read or lacks a mapped column, ConfigError when the variable is not set.
 */
export async function readRoster(
  settings: RosterSettings,
  secret: (name: string) => string | undefined,
): Promise<RosterReading> {
  if (settings.csv !== undefined) return readCsvRoster(settings.csv, settings.columns);
  if (settings.postgres !== undefined) {
    return readPostgresRoster(settings.name, settings.postgres, settings.columns, secret);
  }
  throw new RosterError('roster_without_source', `Roster ${settings.name} has neither csv nor postgres.`);
}

/** Opens a source of related parties. */
export async function readParties(
  settings: PartySettings,
  _secret: (name: string) => string | undefined,
): Promise<PartyReading> {
  const reading = await readCsvRoster(settings.csv, {});
  async function* toPartyRows(): AsyncGenerator<readonly PartyRow[]> {
    for await (const rows of reading.rows) {
      yield rows.map((row): PartyRow => {
        if (row.kind === 'rejected') return { kind: 'rejected', rejected: { ...row.rejected, file: reading.source } };
        const { customer, line, fields } = row;
        const role = fields[reading.headers.indexOf('role')] ?? 'director';
        if (role !== 'director' && role !== 'beneficial_owner' && role !== 'joint_holder') {
          const named = Object.fromEntries(fields.map((field, index) => [reading.headers[index] ?? '', field]));
          const { reference } = customer;
          const rejected = { line, file: reading.source, column: 'role', reason: 'unknown_role' as const };
          return { kind: 'rejected', rejected: { ...rejected, valueClass: 'letters', reference, fields: named } };
        }
        const party = { ...customer.parties[0], role } as const;
        return { kind: 'party', line, file: reading.source, related: { reference: customer.reference, party }, fields };
      });
    }
  }
  return { ...reading, rows: toPartyRows() };
}
