import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { systemClock } from '../../clock.js';
import { chooseConfig } from '../../config/load-config.js';
import { SchemaError, StoreError } from '../../errors.js';
import { writeWhole } from '../../files.js';
import { countNoun, formatCount, formatSize } from '../../reports/text.js';
import type { BackupSummary } from '../../store/backup/format.js';
import { checkBackup, type RestoreSummary, restoreBackup } from '../../store/backup/restore-backup.js';
import { writeBackup } from '../../store/backup/write-backup.js';
import {
  describeSchemaUser,
  migrate,
  packagedMigrations,
  pendingMigrations,
  readMigrations,
  readSchemaUsers,
} from '../../store/database/migrate.js';
import type { DatabaseLocation } from '../../store/database/open-database.js';
import { defineCommand, flag } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import {
  findMode,
  isMissing,
  locateDatabase,
  requireDatabase,
  requireSchema,
  toFolderWaitPolicy,
  withDatabase,
} from '../open-database.js';
import { version } from '../process.js';
import { loadInvocationConfigs } from '../session.js';
import { formatTable } from '../text.js';

const migration = defineCommand({
  usage: 'migrate',
  description: 'bring the database to the current schema (every command does so when needed)',
  options: {
    check: flag('change nothing; exit code 0 when up to date, 3 when migrations are pending, 2 when newer'),
  },
  examples: ['db migrate', 'db migrate --check --json'],
  run: ({ options, invocation }) => (options.check ? checkSchema(invocation) : applyPending(invocation)),
});

const backup = defineCommand({
  usage: 'backup <file>',
  description: 'write the whole database into one file, as of one moment, also during a run',
  examples: ['db backup nightscreen.backup', 'db backup "/srv/backup/$(date +%F).backup"'],
  run: async ({ argument: file, invocation, signal }) => {
    const location = locateSharedDatabase(invocation);
    const path = resolve(invocation.folder, file);
    requireDatabase(location);
    const request = { version, now: systemClock.now(), signal };
    const waitPolicy = toFolderWaitPolicy(invocation, true);
    const written = await withDatabase(location, 'db backup', waitPolicy, async (database) => {
      await requireSchema(database, location);
      return writeBackupFile(path, (write) => writeBackup(database, { ...request, write }));
    });
    return presentBackup(path, written);
  },
});

const restore = defineCommand({
  usage: 'restore <file>',
  description: 'restore a backup of either kind of database into an empty database',
  examples: ['db restore nightscreen.backup', 'db restore nightscreen.backup --json'],
  run: async ({ argument: file, invocation, signal }) => {
    const location = locateSharedDatabase(invocation);
    const path = resolve(invocation.folder, file);
    // Folders of runs that are newer than the backup name the lost runs. Where nobody has written a report, there is no folder.
    const folders = loadInvocationConfigs(invocation).map(({ settings }) => settings.reports.dir);
    const reportFolders = (await Promise.all(folders.map((each) => readdir(each).catch(() => [])))).flat();
    // Before a database is created.
    const checked = await checkBackup(path, signal);
    return withDatabase(location, 'db restore', toFolderWaitPolicy(invocation, true), async (database) => {
      const restored = await restoreBackup(database, checked, signal, reportFolders);
      return presentRestore(path, restored, await migrate(database));
    });
  },
});

export const command = defineCommand({
  usage: 'db',
  description: 'migrate, back up or restore the database',
  examples: ['db migrate --check', 'db backup nightscreen.backup'],
  commands: [migration, backup, restore],
});

/** All organisations have one database; the commands on it concern all. */
function locateSharedDatabase(invocation: Invocation): DatabaseLocation {
  const configs = loadInvocationConfigs(invocation);
  return locateDatabase(configs.find((config) => findMode(config) === 'live') ?? chooseConfig(configs.slice(0, 1)));
}

async function applyPending(invocation: Invocation): Promise<Outcome> {
  const location = locateSharedDatabase(invocation);
  return withDatabase(location, 'db migrate', toFolderWaitPolicy(invocation, false), async (database) => {
    const names = await migrate(database);
    return toOutcome(
      'nightscreen/migration/1',
      { dialect: database.dialect, applied: names },
      names.length === 0 ? 'up to date\n' : names.map((name) => `applied  ${name}\n`).join(''),
    );
  });
}

/** Shows what `db migrate` would do. A database that this version cannot use is a result here, not an error. */
async function checkSchema(invocation: Invocation): Promise<Outcome> {
  const location = locateSharedDatabase(invocation);
  const present = (exitCode: number, state: string, pending: readonly string[], text: string): Outcome =>
    toOutcome('nightscreen/migration-check/1', { state, pending }, text, exitCode);
  try {
    const { pending, users } = isMissing(location)
      ? { pending: (await readMigrations(packagedMigrations())).map(({ name }) => name), users: [] }
      : await withDatabase(location, 'db migrate --check', toFolderWaitPolicy(invocation, false), async (database) => ({
          pending: await pendingMigrations(database),
          users: database.dialect === 'embedded' ? [] : await readSchemaUsers(database),
        }));
    if (pending.length === 0) return present(exitCodes.complete, 'current', pending, 'up to date\n');
    const lines = pending.map((name) => `pending  ${name}\n`).join('');
    const held = users.map((user) => `in use   ${describeSchemaUser(user)}\n`).join('');
    const next = held === '' ? '' : 'wait until no process uses the database, ';
    return present(
      exitCodes.incomplete,
      'behind',
      pending,
      `${lines}${held}next     ${next}back up, then nightscreen db migrate\n`,
    );
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    const state = error.code === 'schema_newer' ? 'newer' : 'edited';
    return present(exitCodes.refused, state, [], `${state}  ${error.message}\n`);
  }
}

const compress = promisify(gzip);
/** The size of a compressed block in UTF-16 units. */
const blockLength = 1_000_000;

interface WrittenBackup extends BackupSummary {
  bytes: number;
  sha256: string;
}

/**
 * Writes a backup, whole or not at all, into a file for its owner only; `fill` writes the lines. Throws StoreError
 * `backup_not_written` when the disk is full or the folder cannot be written to.
 */
export async function writeBackupFile(
  path: string,
  fill: (write: (lines: string) => Promise<void>) => Promise<BackupSummary>,
): Promise<WrittenBackup> {
  const digest = createHash('sha256');
  let bytes = 0;
  let block = '';
  let written: WrittenBackup | undefined;
  try {
    await writeWhole(path, async (file) => {
      // Separately compressed blocks form one valid gzip file.
      const flush = async (): Promise<void> => {
        const compressed = await compress(block);
        block = '';
        bytes += compressed.length;
        digest.update(compressed);
        await file.appendFile(compressed);
      };
      const summary = await fill(async (lines) => {
        block += lines;
        if (block.length >= blockLength) await flush();
      });
      await flush();
      written = { ...summary, bytes, sha256: digest.digest('hex') };
      return path;
    });
  } catch (error) {
    throw toNotWritten(path, error);
  }
  // For the compiler only: without an error it was written.
  if (!written) throw new StoreError('backup_not_written', `${path} was not written`);
  return written;
}

function toNotWritten(path: string, error: unknown): unknown {
  const isOfSystem = error instanceof Error && 'syscall' in error && 'code' in error;
  if (!isOfSystem) return error;
  const remedy =
    error.code === 'ENOENT'
      ? `the folder ${dirname(path)} does not exist: create it, or name another file`
      : 'free disk space or grant the right, or name another file';
  const message = `the backup cannot be written to ${path}: ${remedy}. No partial file remains`;
  return new StoreError('backup_not_written', message, { cause: error });
}

const sum = (rows: BackupSummary['rows']): number => Object.values(rows).reduce((total, count) => total + count, 0);

function presentBackup(file: string, { header, rows, bytes, sha256 }: WrittenBackup): Outcome {
  const { createdAt, dialect, organisations, migrations } = header;
  return toOutcome(
    'nightscreen/backup-written/1',
    { file, bytes, sha256, createdAt, dialect, organisations, schemaVersion: migrations.length, rows },
    formatTable([
      ['backup', file],
      ['of', `${createdAt}, schema ${migrations.length}, ${organisations.join(', ') || 'no organisation yet'}`],
      ['holds', `${countNoun(sum(rows), 'row')} in ${countNoun(Object.keys(rows).length, 'table')}`],
      ['size', `${formatSize(bytes)}, SHA-256 ${sha256}`],
      [
        'keep',
        'as safe as the database: it has all names, dispositions and answers. It does not have reports and configuration',
      ],
    ]),
  );
}

function presentRestore(file: string, restored: RestoreSummary, applied: readonly string[]): Outcome {
  const { header, rows, heldMails, waitingMessages, openRuns } = restored;
  const filled = Object.entries(rows).filter(([, count]) => count > 0);
  const held =
    heldMails.length === 0
      ? 'no mail was queued'
      : `${countNoun(heldMails.length, 'queued mail')} that may have been sent since the backup: nightscreen outbox shows it, nightscreen outbox retry NUMBER sends it`;
  return toOutcome(
    'nightscreen/restore/1',
    {
      file,
      createdAt: header.createdAt,
      organisations: header.organisations,
      schemaVersion: header.migrations.length,
      applied,
      rows,
      heldMails,
      waitingMessages,
      openRuns,
    },
    formatTable(filled.map(([table, count]) => [formatCount(count), table])) +
      formatTable([
        ['restored', `${countNoun(sum(rows), 'row')} of ${header.createdAt} from ${file}`],
        applied.length > 0 && ['migrated', `from schema ${header.migrations.length}: ${applied.join(', ')}`],
        ['held', held],
        waitingMessages > 0 && [
          'sent again',
          `${countNoun(waitingMessages, 'message')} to webhooks, with the same ids, by the next run`,
        ],
        openRuns.length > 0 && [
          'open',
          `${openRuns.join(', ')}: if it ended after the backup, move its folder out of reports.dir before it resumes`,
        ],
        ['lost', 'all results, dispositions and spending since then; docs/operations.md describes what to do'],
        ['next', 'nightscreen doctor, then nightscreen runs; grant reviewers and readers their rights again'],
      ]),
  );
}
