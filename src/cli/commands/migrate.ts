import type { Command } from 'commander';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { toFolderPatience } from '../folder-patience.js';
import type { Act } from '../invocation.js';
import { loadInvocationConfig } from '../session.js';

/** Adds `migrate`. */
export function addMigrateCommand(program: Command, act: Act): void {
  program
    .command('migrate')
    .description('bring the database to the present schema (every command does so when it needs to)')
    .addHelpText('after', examples(['migrate', 'migrate --json']))
    .action(() =>
      act(async (invocation) => {
        const config = loadInvocationConfig(invocation);
        const { openDatabase } = await import('../../store/open-database.js');
        const { migrate } = await import('../../store/migrate.js');
        const url = config.secret('DATABASE_URL');
        const location = url === undefined ? { folder: config.settings.database.folder } : { url };
        const database = await openDatabase(location, 'nightscreen migrate', toFolderPatience(invocation, false));
        try {
          const names = await migrate(database);
          return {
            exitCode: exitCodes.complete,
            document: { schema: 'nightscreen/migration/1', dialect: database.dialect, applied: names },
            text: names.length === 0 ? 'up to date\n' : names.map((name) => `applied  ${name}\n`).join(''),
          };
        } finally {
          await database.close();
        }
      }),
    );
}
