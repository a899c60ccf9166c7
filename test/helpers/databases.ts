import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, inject } from 'vitest';
import { z } from 'zod';
import { type Database, type Queryable, TransactionScope } from '../../src/store/database/database.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import type { Sql } from '../../src/store/database/statement.js';
import { templateName } from './database-servers.js';
import { isFullSize } from './figures.js';

const copyFolder = promisify(execFile);

const isEmbeddedChosen = process.env['NIGHTSCREEN_TEST_DATABASE'] === 'embedded';
// A tenth of all processor time on Node 20: with the runs on the embedded database, where such use waits for ever, and at full size.
TransactionScope.isDetecting = isEmbeddedChosen || isFullSize;

/** Opens databases for one suite; all of them are closed and removed when the suite ends. */
export interface TestDatabases {
  readonly dialect: Database['dialect'];
  /** A new migrated, empty database, open; or one more opening of `location`. */
  open(location?: DatabaseLocation): Promise<Database>;
  /** Where a new migrated, empty database is, for tests that open it themselves (a child process with `DATABASE_URL`). */
  locate(): Promise<DatabaseLocation>;
  /** The same, kept until all tests have run: for worlds that many suites begin with. */
  locateLasting(): Promise<DatabaseLocation>;
  /** The same without any table of ours. */
  locateEmpty(): Promise<DatabaseLocation>;
  /** A copy of a database of the suite that is closed, open. */
  openCopy(original: DatabaseLocation): Promise<Database>;
  /** Where such a copy is. */
  locateCopy(original: DatabaseLocation): Promise<DatabaseLocation>;
}

type Suite = (open: TestDatabases['open'], databases: TestDatabases) => void;

/** Runs a suite on a real Postgres server; in the project `embedded`, which has every file that calls this, on the embedded database. */
export function describeOnEachDatabase(title: string, suite: Suite): void {
  describeOn(isEmbeddedChosen ? 'embedded' : 'postgres', title, suite);
}

/** The same for suites of which the store's own tests try all SQL on both databases: on the embedded one they run at full size only. */
export function describeOnPostgres(title: string, suite: Suite): void {
  describeOnEachDatabase(title, suite);
}

/** A suite that no kind of database changes, beside one of `describeOnEachDatabase`: not once more in the project `embedded`. */
export const describeOnce = describe.skipIf(isEmbeddedChosen);

/**
 * Names tests of a suite by the beginning of their titles: what they do beyond the others is SQL, which the store's own tests try on both
 * databases. On the embedded one, where a night takes several times as long, they run at full size only.
 */
export function leaveSqlToPostgres({ dialect }: TestDatabases, ...titles: readonly string[]): void {
  if (dialect !== 'embedded' || isFullSize) return;
  beforeEach(({ task, skip }) =>
    skip(
      titles.some((title) => task.name.startsWith(title)),
      'tried on Postgres',
    ),
  );
}

function describeOn(dialect: Database['dialect'], title: string, suite: Suite): void {
  describe(`${title} (${dialect})`, () => {
    const databases = testDatabases(dialect);
    suite(databases.open, databases);
  });
}

/** The databases of one suite on one dialect; call it where hooks may be registered. */
export function testDatabases(dialect: Database['dialect']): TestDatabases {
  const opened: Database[] = [];
  const removals: (() => Promise<void>)[] = [];
  const makeEmpty = () =>
    dialect === 'postgres' ? makePostgres('template1', removals) : makeFolder('/empty', removals);
  const make = (removedBy = removals) =>
    dialect === 'postgres' ? makePostgres(templateName, removedBy) : makeFolder('/embedded', removedBy);
  const open = async (location: DatabaseLocation): Promise<Database> => {
    const database = await openDatabase(location, 'tests');
    opened.push(database);
    return database;
  };
  const locateCopy: TestDatabases['locateCopy'] = ({ url, folder = '' }) =>
    url === undefined ? makeFolder({ folder }, removals) : makePostgres(nameOf(url), removals);
  afterAll(async () => {
    for (const database of opened) await database.close();
    for (const remove of removals.reverse()) await remove();
  });
  return {
    dialect,
    open: async (location) => open(location ?? (await make())),
    locate: () => make(),
    // The broker removes what is left: its server and the folder for temporary files.
    locateLasting: () => make([]),
    locateEmpty: makeEmpty,
    openCopy: async (original) => open(await locateCopy(original)),
    locateCopy,
  };
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

async function makePostgres(template: string, removals: (() => Promise<void>)[]): Promise<DatabaseLocation> {
  const url = await askBroker(`/postgres/${template}`);
  removals.push(async () => {
    await askBroker(`/used/${nameOf(url)}`);
  });
  return { url };
}

type Original = '/embedded' | '/empty' | { folder: string };

async function makeFolder(original: Original, removals: (() => Promise<void>)[]): Promise<DatabaseLocation> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-database-'));
  removals.push(() => rm(folder, { recursive: true, force: true }));
  await copyTemplate(original, folder);
  return { folder };
}

/** Puts an embedded database without rows where the command line looks for one, migrated or without any table of ours: making it anew takes seconds. */
export async function seedDatabase(site: string, original: '/embedded' | '/empty' = '/embedded'): Promise<void> {
  const folder = join(site, '.nightscreen');
  await mkdir(folder, { mode: 0o700 });
  await copyTemplate(original, folder);
}

// The system's own copying: Node's takes twice as long for a thousand small files, and all of it in this process.
async function copyTemplate(original: Original, folder: string): Promise<void> {
  const from = typeof original === 'string' ? await askBroker(original) : original.folder;
  await copyFolder('cp', ['-R', `${from}/.`, folder]);
}

async function askBroker(path: string): Promise<string> {
  const response = await fetch(`${inject('databaseBroker')}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

/** The rows of a query, for a test that compares them whole. */
export const readRows = (database: Queryable, statement: string | Sql): Promise<unknown[]> =>
  database.query(z.unknown(), statement);

/** The rights that docs/review.md tells an operator to give to reviewers, for these roles. */
export const toReviewerGrants = (...roles: readonly string[]): string => {
  const grants =
    readFileSync('docs/review.md', 'utf8').match(/^(grant|revoke) .* (to|from) nightscreen_reviewer;$/gm) ?? [];
  return grants.join('\n').replaceAll(/nightscreen_reviewer;$/gm, `${roles.join(', ')};`);
};

const readGrants = (page: string, login: string, named = 'meyer'): readonly string[] =>
  (readFileSync(page, 'utf8').match(new RegExp(`^(grant|revoke) .* (to|from) ${named};$`, 'gm')) ?? []).map((grant) =>
    grant.replace(`${named};`, `${login};`),
  );

/** The rights that docs/settings-changes.md adds for whoever accepts settings. */
export const toAccepterGrants = (login: string): readonly string[] => readGrants('docs/settings-changes.md', login);

/** The rights that docs/rosters.md adds for whoever accepts rows that cannot be screened. */
export const toExceptionGrants = (login: string): readonly string[] => readGrants('docs/rosters.md', login);

/** The rights that docs/scaling.md gives to the login of a worker. */
export const toWorkerGrants = (login: string): readonly string[] =>
  readGrants('docs/scaling.md', login, 'nightscreen_worker');

/** SQL: dispositions and their texts as a Postgres client could write them; `source` selects all these facts but `refers_to` by name. */
export const insertDispositionsSql = (source: string, refersTo = 'null::bigint'): string => `
  with words as (
    select gen_random_uuid() as salt, ${refersTo} as refers_to, one.* from (${source}) one
  ),
  said as (
    insert into disposition (alert_id, kind, verdict, reviewer, is_attested, decided_at, origin, text_digest, refers_to)
    select alert_id, kind, verdict, reviewer, is_attested, now(), 'review',
      digest_disposition_text(salt, reason, null, seen), refers_to
    from words
    returning disposition_id, text_digest
  )
  insert into disposition_text (disposition_id, salt, reason, seen)
  select said.disposition_id, salt, reason, seen from said
  join words on text_digest = digest_disposition_text(salt, reason, null, seen)`;
