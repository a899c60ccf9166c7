import { resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../config/load-config.js';
import { RunLockedError } from '../../errors.js';
import { describeRestoration } from '../../reports/reasons.js';
import { countNoun } from '../../reports/text.js';
import { compareEvidence, listDisabledTriggers } from '../../runs/evidence.js';
import { acceptCommand, describeSince, findUnacceptedSettings } from '../../runs/settings-acceptance.js';
import { listTables } from '../../store/backup/format.js';
import { readRecentRestorations } from '../../store/backup/restoration.js';
import { readImportedRosters } from '../../store/customers/coverage.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { describeHolder, readHeldLeases } from '../../store/database/leases.js';
import {
  findRefusedMigration,
  hasSchema,
  packagedMigrations,
  pendingMigrations,
  readMigrations,
} from '../../store/database/migrate.js';
import type { DatabaseLocation } from '../../store/database/open-database.js';
import { sql } from '../../store/database/statement.js';
import { countWaitingPacks } from '../../store/evidence/packs.js';
import { readWorkers } from '../../store/night/chunks.js';
import { findOrganisation, readOrganisationNames } from '../../store/organisations.js';
import { describeError } from '../describe-error.js';
import { isMissing, locateDatabase, nameServer, withDatabase } from '../open-database.js';
import { version } from '../process.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/**
 * Tries the database, counts its pending migrations, and names the processes that use it; creates none. `imported` has
 * the rosters that were ever imported, null when the database cannot say. `isDeep`: stored evidence is compared too.
 */
export async function checkDatabase(
  config: Config,
  isDeep = false,
): Promise<{ findings: Finding[]; imported: readonly string[] | null }> {
  const location = locateDatabase(config);
  if (isMissing(location)) {
    const next =
      'before the first run: nothing, the run creates it. After runs: the folder or user is wrong, or --config, NIGHTSCREEN_DATA or DATABASE_URL is missing';
    const missing = doubtful('database', `there is none yet at ${resolve(location.folder ?? '')}`, next);
    return { findings: [missing], imported: null };
  }
  try {
    return await withDatabase(location, 'doctor', { isBrief: true }, (database) =>
      examine(database, location, config, isDeep),
    );
  } catch (error) {
    const { message, next } = describeError(error, { isDoctor: true });
    const toFinding = error instanceof RunLockedError ? doubtful : wrong;
    const failed = toFinding('database', message, next ?? 'check DATABASE_URL or database.folder');
    return { findings: [failed], imported: null };
  }
}

async function examine(database: Database, location: DatabaseLocation, config: Config, isDeep: boolean) {
  const { url, folder = '' } = location;
  const place = url === undefined ? `embedded in ${resolve(folder)}` : 'Postgres';
  const isOurs = await hasSchema(database);
  const pending = isOurs ? (await pendingMigrations(database)).length : 1;
  const toFindings = async (finding: Finding): Promise<Finding[]> => [
    finding,
    ...(await checkServer(database)),
    ...(await checkRights(database, pending)),
  ];
  if (!isOurs) {
    const named = url === undefined ? place : `Postgres ${await nameServer(url)}`;
    const next =
      'before the first run: nothing, the run or `nightscreen db migrate` creates the tables. After runs: it is another database, so correct DATABASE_URL or database.folder';
    const empty = doubtful('database', `${named} has no tables of Nightscreen yet`, next);
    return { findings: await toFindings(empty), imported: null };
  }
  if (pending > 0) {
    const next = 'the next command applies them, or run `nightscreen db migrate` now';
    const behind = doubtful('database', `${place}, ${pending} migrations are pending`, next);
    return { findings: await toFindings(behind), imported: null };
  }
  const known = await findOrganisation(database, config.settings.organisation);
  const imported = known ? await readImportedRosters(database, known.organisationId) : null;
  return {
    findings: [
      ...(await toFindings(well('database', `${place}, schema up to date`))),
      ...(await checkLeft(database, config)),
      ...(await listHolders(database, config.settings.organisation)),
      ...(await listWorkers(database, config)),
      ...(await checkAccepted(database, config)),
      ...(await listRestores(database)),
      ...(await listWaitingPacks(database, config)),
      ...(isDeep ? await checkEvidence(database) : []),
    ],
    imported: imported?.map(({ roster }) => roster) ?? null,
  };
}

/** Whether organisations in the database are perhaps screened no more; their names concern nobody else. */
async function checkLeft(database: Queryable, { organisations }: Config): Promise<Finding[]> {
  const left = (await readOrganisationNames(database)).filter((name) => !organisations.includes(name));
  if (left.length === 0) return [];
  const others = `${countNoun(left.length, 'organisation')} with customers that this configuration does not name`;
  const next = 'where no other configuration does, nobody screens them: name the entry of organisations as before';
  return [doubtful('organisations', `the database has ${others}`, next)];
}

/** The holders of leases; an abandoned lease expires by itself. */
async function listHolders(database: Queryable, organisation: string): Promise<Finding[]> {
  const leases = await readHeldLeases(database, organisation);
  return leases
    .filter(({ key }) => !key.startsWith('worker/'))
    .map((holder) => {
      const words = `held by ${describeHolder(holder)}`;
      if (holder.expiresInMs > 0) return well(`lease ${holder.key}`, words);
      const message = `${words}: its process died`;
      return doubtful(`lease ${holder.key}`, message, 'nothing: the next start takes it over and resumes its run');
    });
}

/** The workers that are alive, and what keeps them from searching. */
async function listWorkers(database: Queryable, { settings, settingsDigest }: Config): Promise<Finding[]> {
  if (settings.fleet === false) return [];
  const workers = await readWorkers(database, settings.organisation);
  if (workers.length === 0) {
    const next = 'start `nightscreen worker` on one host or more; until then runs wait';
    return [doubtful('workers', 'fleet is on, and no worker is alive', next)];
  }
  return workers.map((worker) => {
    const name = `worker ${worker.owner}`;
    const { clockAhead } = worker;
    if (worker.version !== version || worker.settingsDigest !== settingsDigest) {
      const theirs = `version ${worker.version}, settings ${worker.settingsDigest.slice(0, 12)}`;
      const message = `it has ${theirs} and this command ${version}, ${settingsDigest.slice(0, 12)}: it searches no runs of these settings`;
      return doubtful(name, message, 'give all hosts the same version and the same configuration');
    }
    if (worker.outageSince !== null) {
      return doubtful(
        name,
        `it finds the service out of reach since ${worker.outageSince}`,
        'check the network of its host',
      );
    }
    if (Math.abs(clockAhead) > mostClockSeconds) {
      const apart = `${Math.abs(clockAhead)} s ${clockAhead > 0 ? 'ahead of' : 'behind'}`;
      const message = `its clock is ${apart} the clock of the database: the times of its calls in the ledger are wrong`;
      return doubtful(name, message, 'synchronise the clock of its host');
    }
    return well(name, 'alive, reaches the service');
  });
}

const mostClockSeconds = 2;

/** The restores since the last complete run. */
async function listRestores(database: Queryable): Promise<Finding[]> {
  const next = 'see docs/operations.md#restore';
  return (await readRecentRestorations(database)).map((one) => doubtful('restore', describeRestoration(one), next));
}

/** Evidence that runs could not write. */
async function listWaitingPacks(database: Queryable, { settings }: Config): Promise<Finding[]> {
  const { waiting, since } = await countWaitingPacks(database, settings.organisation);
  if (since === null) return [];
  const words = `${countNoun(waiting, 'pack')} of evidence not written yet, since ${since.toISOString()}`;
  return [doubtful('evidence', words, 'nightscreen evidence write, which says what is in the way')];
}

/** Warns before the night that runs will be refused because changed settings are not accepted. */
async function checkAccepted(database: Database, { settings }: Config): Promise<Finding[]> {
  const { accepted, differences, waiting } = await findUnacceptedSettings(database, settings);
  if (accepted === null) return [well('settings', 'the first run records the assessment settings')];
  const since = describeSince(accepted);
  if (differences.length > 0) {
    const message = `the assessment settings differ from those ${since}, so runs with a live key are refused: ${differences.join('; ')}`;
    const second =
      waiting.length === 0
        ? ''
        : `. ${waiting.join(', ')} accepted them first, and another person must accept the same`;
    return [doubtful('settings', `${message}${second}`, `set them back, or accept them: ${acceptCommand}`)];
  }
  return [well('settings', `the assessment settings equal those ${since}`)];
}

/** Compares stored evidence with its digests, and says what no comparison can prove. */
export async function checkEvidence(database: Database): Promise<Finding[]> {
  const comparisons = await compareEvidence(database);
  const disabled = await listDisabledTriggers(database);
  const findings = comparisons.map(({ what, compared, differing, first }) => {
    if (differing === 0) return well('evidence', `${what}: ${compared} compared, none differs`);
    const named = first.length === 0 ? '' : ` (${first.join(', ')})`;
    const next =
      'keep this database as it is, and compare with the last backup: somebody with the right has changed it';
    return wrong('evidence', `${what}: ${differing} of ${compared} differ${named}`, next);
  });
  if (disabled.length > 0) {
    const next = 'enable them (alter table ... enable trigger all), and find out who disabled them and why';
    findings.push(wrong('evidence', `triggers that guard it are disabled: ${listNames(disabled)}`, next));
  }
  return [...findings, well('evidence', notProven)];
}

const notProven =
  'not proven by this: that the owner of the database has changed nothing without a digest while triggers were disabled, such as who made a ' +
  'disposition and when; that rows and digests were not changed together by somebody who could read the keys; that nothing was removed; and ' +
  'that a backup was not altered and given a new digest. Keep backups where the owner of the database cannot write';

const rightsSchema = z.object({
  isStandby: z.boolean(),
  isReadOnly: z.boolean(),
  mayCreateTemporary: z.boolean(),
  isSuperuser: z.boolean(),
  closed: z.array(z.string()),
});

const namesShown = 3;
const listNames = (names: readonly string[]): string =>
  `${names.slice(0, namesShown).join(', ')}${names.length > namesShown ? ` and ${names.length - namesShown} more` : ''}`;

/**
 * Whether this login has the rights of runs and migrations; `pending` is the number of migrations, which are tried and
 * rolled back. Without this check a read-only server or login passes all others.
 */
export async function checkRights(database: Database, pending: number): Promise<Finding[]> {
  const check = 'database rights';
  const migrations = await readMigrations(packagedMigrations());
  const [facts] = await database.query(
    rightsSchema,
    // Our tables in the current schema of this login; without tables `closed` is empty.
    sql`select pg_is_in_recovery() as "isStandby",
       current_setting('transaction_read_only')::boolean as "isReadOnly",
       current_setting('is_superuser')::boolean as "isSuperuser",
       has_database_privilege(current_database(), 'temporary') as "mayCreateTemporary",
       array(
         select relname::text from pg_class
         where relkind in ('r', 'p') and relnamespace = to_regnamespace(current_schema()) and relname = any (${['schema_migration', ...listTables(migrations)]})
           and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert'))
         order by relname
       ) as closed`,
  );
  if (!facts) return [];
  const { isStandby, isReadOnly, mayCreateTemporary, isSuperuser, closed } = facts;
  if (isStandby) {
    return [wrong(check, 'this server is a standby, which is read-only', 'set DATABASE_URL to the primary')];
  }
  if (isReadOnly) {
    const next = 'set default_transaction_read_only to off for the login or the database, or use another login';
    return [wrong(check, 'the database is read-only for this login', next)];
  }
  const findings: Finding[] = [];
  if (!mayCreateTemporary) {
    const message = 'this login may not create temporary tables, so every run will fail';
    findings.push(wrong(check, message, 'grant temporary on the database to the login'));
  }
  if (closed.length > 0) {
    const message = `this login may not read and write ${listNames(closed)}, so every run will fail`;
    findings.push(wrong(check, message, 'use the login that owns the tables; a worker needs less (docs/scaling.md)'));
  }
  if (findings.length === 0 && pending > 0 && database.dialect === 'postgres') {
    const refused = await findRefusedMigration(database);
    const next = 'grant the right to this login, or run `nightscreen db migrate` with one that has it';
    if (refused !== null) findings.push(wrong(check, `this login cannot apply the migration ${refused}`, next));
  }
  if (isSuperuser && database.dialect === 'postgres') {
    const message = 'this login is a superuser, so the database does not check who reviews under it';
    findings.push(doubtful(check, message, 'use a login that owns the database and has no other right'));
  }
  const rights = pending > 0 ? 'read, write and migrate' : 'read and write';
  return findings.length > 0 ? findings : [well(check, `this login may ${rights}`)];
}

const oldestMajor = 14;

const serverSchema = z.object({ version: z.string(), major: z.number(), fsync: z.string() });

/** The version of the server, and whether commits of the embedded database survive power loss. */
async function checkServer(database: Database): Promise<Finding[]> {
  const [facts] = await database.query(
    serverSchema,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major,
      current_setting('fsync') as fsync`,
  );
  if (!facts) return [];
  const { version, major, fsync } = facts;
  const server = `PostgreSQL ${version}`;
  const words =
    fsync === 'on' ? 'each commit is written to the disk (fsync)' : 'commits survive a kill, not power loss (no fsync)';
  return [
    major < oldestMajor
      ? doubtful('database server', server, `use PostgreSQL ${oldestMajor} or newer`)
      : well('database server', server),
    ...(database.dialect === 'embedded' ? [well('database durability', words)] : []),
  ];
}
