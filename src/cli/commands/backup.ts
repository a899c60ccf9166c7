import { resolve } from 'node:path';
import type { Command } from 'commander';
import { systemClock } from '../../clock.js';
import { examples } from '../examples.js';
import { toFolderPatience } from '../folder-patience.js';
import type { Act } from '../invocation.js';
import { locateDatabase, requireDatabase, requireSchema, withDatabase } from '../open-database.js';
import { presentBackup, presentRestore } from '../present-backup.js';
import { loadInvocationConfig } from '../session.js';
import { version } from '../version.js';
import { writeBackupFile } from '../write-backup-file.js';

/** Adds `backup`. */
export function addBackupCommand(program: Command, act: Act): void {
  program
    .command('backup <file>')
    .description('write all that the database holds into one file, as of one moment, also while a run goes on')
    .addHelpText('after', examples(['backup nightscreen.backup', 'backup /srv/backup/$(date +%F).backup --json']))
    .action((file: string) =>
      act(async (invocation) => {
        const location = locateDatabase(loadInvocationConfig(invocation));
        const path = resolve(invocation.folder, file);
        requireDatabase(location);
        const { writeBackup } = await import('../../store/backup/write-backup.js');
        const request = { version, now: systemClock.now(), signal: invocation.signal };
        const patience = toFolderPatience(invocation, true);
        const written = await withDatabase(location, 'backup', patience, async (database) => {
          await requireSchema(database, location);
          return writeBackupFile(path, (write) => writeBackup(database, { ...request, write }));
        });
        return presentBackup(path, written);
      }),
    );
}

/** Adds `restore`. */
export function addRestoreCommand(program: Command, act: Act): void {
  program
    .command('restore <file>')
    .description('put a backup back into an empty database, whichever kind it came from')
    .addHelpText('after', examples(['restore nightscreen.backup', 'restore nightscreen.backup --json']))
    .action((file: string) =>
      act(async (invocation) => {
        const location = locateDatabase(loadInvocationConfig(invocation));
        const path = resolve(invocation.folder, file);
        const { restoreBackup } = await import('../../store/backup/restore-backup.js');
        const { checkBackup } = await import('../../store/backup/backup-file.js');
        const { migrate } = await import('../../store/database/migrate.js');
        // Before a database is made for it.
        const checked = await checkBackup(path, invocation.signal);
        return withDatabase(location, 'restore', toFolderPatience(invocation, true), async (database) => {
          const restored = await restoreBackup(database, checked, invocation.signal);
          return presentRestore(path, restored, await migrate(database));
        });
      }),
    );
}
