import { RosterError } from '../errors.js';
import { readCsvRoster } from './csv-source.js';
import { readPostgresRoster } from './postgres-source.js';
import type { RosterReading } from './roster-reading.js';
import type { RosterSettings } from './settings.js';

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
