import type { Command } from 'commander';
import { SchemaError } from '../../errors.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { isMissing, locateDatabase, toFolderWaitPolicy, withDatabase } from '../open-database.js';
import { examples } from '../options.js';
import { loadInvocationConfig } from '../session.js';

async function applyPending(invocation: Invocation): Promise<Outcome> {
  const { migrate } = await import('../../store/database/migrate.js');
  const location = locateDatabase(loadInvocationConfig(invocation));
  return withDatabase(location, 'migrate', toFolderWaitPolicy(invocation, false), async (database) => {
    const names = await migrate(database);
    return {
      exitCode: exitCodes.complete,
      document: { schema: 'nightscreen/migration/1', dialect: database.dialect, applied: names },
      text: names.length === 0 ? 'up to date\n' : names.map((name) => `applied  ${name}\n`).join(''),
    };
  });
}

/** Shows what `migrate` would do. A database that this version cannot use is a result here, not an error. */
async function check(invocation: Invocation): Promise<Outcome> {
  const { pendingMigrations, readSchemaUsers, describeSchemaUser, packagedMigrations, readMigrations } = await import(
    '../../store/database/migrate.js'
  );
  const location = locateDatabase(loadInvocationConfig(invocation));
  const toOutcome = (exitCode: number, state: string, pending: readonly string[], text: string): Outcome => ({
    exitCode,
    document: { schema: 'nightscreen/migration-check/1', state, pending },
    text,
  });
  try {
    const { pending, users } = isMissing(location)
      ? { pending: (await readMigrations(packagedMigrations())).map(({ name }) => name), users: [] }
      : await withDatabase(location, 'migrate --check', toFolderWaitPolicy(invocation, false), async (database) => ({
          pending: await pendingMigrations(database),
          users: database.dialect === 'embedded' ? [] : await readSchemaUsers(database),
        }));
    if (pending.length === 0) return toOutcome(exitCodes.complete, 'current', pending, 'up to date\n');
    const lines = pending.map((name) => `pending  ${name}\n`).join('');
    const held = users.map((user) => `in use   ${describeSchemaUser(user)}\n`).join('');
    const next = held === '' ? '' : 'wait until no process uses the database, ';
    return toOutcome(
      exitCodes.incomplete,
      'behind',
      pending,
      `${lines}${held}next     ${next}back up, then nightscreen migrate\n`,
    );
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const state = error.code === 'schema_newer' ? 'newer' : 'edited';
    return toOutcome(exitCodes.refused, state, [], `${state}  ${error.message}\n`);
  }
}

/** Adds `migrate`. */
export function addMigrateCommand(program: Command, act: Act): void {
  program
    .command('migrate')
    .description('bring the database to the current schema (every command does so when needed)')
    .option('--check', 'change nothing; exit code 0 when up to date, 3 when migrations are pending, 2 when newer')
    .addHelpText('after', examples(['migrate', 'migrate --check', 'migrate --check --json']))
    .action((options: { check?: true }) => act(options.check ? check : applyPending));
}
