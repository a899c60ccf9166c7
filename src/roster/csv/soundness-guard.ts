import { RosterError } from '../../errors.js';

/** After so many lines, or so many UTF-16 units, without one sound record a file is not the table that its header says. */
const maxUnsoundLines = 200_000;
const maxUnsoundLength = 64 * 1024 * 1024;

/** Watches that sound records keep coming. */
export interface SoundnessGuard {
  noteSound(): void;
  /** Throws RosterError `not_a_table` when too much has gone by without a sound record. */
  noteUnsound(length: number, line: number): void;
}

/** Makes the guard of one file, which ends the reading of what only begins like a table. */
export function createSoundnessGuard(path: string, columnCount: number): SoundnessGuard {
  let lines = 0;
  let length = 0;
  return {
    noteSound: () => {
      lines = 0;
      length = 0;
    },
    noteUnsound: (added, line) => {
      lines += 1;
      length += added;
      if (lines <= maxUnsoundLines && length <= maxUnsoundLength) return;
      throw new RosterError(
        'not_a_table',
        `${path}: none of the last ${lines} lines up to line ${line} is a row of ${columnCount} columns. ` +
          'Check which file it is, its delimiter and its quotes.',
      );
    },
  };
}
