import { BackupError } from '../../errors.js';
import { type Migration, packagedMigrations, readMigrations } from '../migration-files.js';
import type { BackupHeader } from './backup-format.js';
import { readBackup } from './read-backup.js';

/** A backup that is whole and can be restored. */
export interface CheckedBackup {
  path: string;
  /** Of its lines. */
  sha256: string;
  /** All that this program brings, and those of the backup's schema. */
  packaged: readonly Migration[];
  migrations: readonly Migration[];
}

/** Reads a backup to its end; throws BackupError unless it is whole and of a schema that this program knows, and the signal's reason. */
export async function checkBackup(path: string, signal: AbortSignal): Promise<CheckedBackup> {
  const packaged = await readMigrations(packagedMigrations());
  let migrations: readonly Migration[] = [];
  for await (const part of readBackup(path)) {
    signal.throwIfAborted();
    if (part.kind === 'header') migrations = findMigrations(path, part.header, packaged);
    if (part.kind === 'end') return { path, sha256: part.sha256, packaged, migrations };
  }
  throw new BackupError('backup_broken', `${path} is cut: its end is missing`);
}

function findMigrations(
  path: string,
  { migrations, version }: BackupHeader,
  packaged: readonly Migration[],
): readonly Migration[] {
  return migrations.map((wanted, index) => {
    const known = packaged[index];
    if (!known) {
      throw new BackupError(
        'backup_newer',
        `${path} is of a newer version (${version}, with ${wanted.name}): restore it with that version or a later one`,
      );
    }
    if (known.sha256 === wanted.sha256 && known.version === wanted.version) return known;
    throw new BackupError(
      'backup_other_schema',
      `${path} is of a version (${version}) whose migration ${wanted.name} was another: restore it with that version`,
    );
  });
}
