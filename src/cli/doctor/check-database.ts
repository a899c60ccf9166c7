import { resolve } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { RunLockedError } from '../../errors.js';
import { readImportedRosters } from '../../store/coverage.js';
import type { Database, Queryable } from '../../store/database.js';
import type { DatabaseLocation } from '../../store/open-database.js';
import { findOrganisation } from '../../store/organisations.js';
import { describeError } from '../describe-error.js';
import { isMissing, locateDatabase, nameServer } from '../open-database.js';
import { checkAccepted } from './check-accepted.js';
import { checkServer } from './check-capacity.js';
import { checkImportedMail } from './check-mail.js';
import { checkRights } from './check-rights.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** What the database shows, and the rosters that were ever imported into it, as far as it says. */
export interface DatabaseExamination {
  findings: Finding[];
  imported: readonly string[];
}

/** Tries the database, counts the migrations that wait, and says who works in it; makes none. */
export async function checkDatabase(config: Config): Promise<DatabaseExamination> {
  const location = locateDatabase(config);
  if (isMissing(location)) return { findings: [tellMissing(location)], imported: [] };
  const { openDatabase } = await import('../../store/open-database.js');
  try {
    const database = await openDatabase(location, 'nightscreen doctor', { isBrief: true });
    try {
      return await examine(database, location, config);
    } finally {
      await database.close();
    }
  } catch (error) {
    const { message, next } = describeError(error, { isDoctor: true });
    const tell = error instanceof RunLockedError ? doubtful : wrong;
    return {
      findings: [tell('database', message, next ?? 'check DATABASE_URL or database.folder')],
      imported: [],
    };
  }
}

function tellMissing({ folder = '' }: DatabaseLocation): Finding {
  return doubtful(
    'database',
    `there is none yet at ${resolve(folder)}`,
    'nothing, if no run has been yet: the first one makes it; if nights have run, this is the wrong folder or user, or --config, NIGHTSCREEN_DATA or DATABASE_URL is missing',
  );
}

async function examine(database: Database, location: DatabaseLocation, config: Config): Promise<DatabaseExamination> {
  const { hasSchema, pendingMigrations } = await import('../../store/migrate.js');
  const { url, folder = '' } = location;
  const place = url === undefined ? `embedded in ${resolve(folder)}` : 'Postgres';
  if (!(await hasSchema(database))) {
    const named = url === undefined ? place : `Postgres ${await nameServer(url)}`;
    const next =
      'nothing, if no run has been yet: the first one, or `nightscreen migrate`, makes its tables; if nights have run, it is another database: correct DATABASE_URL or database.folder';
    const empty = doubtful('database', `${named} holds nothing of Nightscreen yet`, next);
    return { findings: [empty, ...(await checkServer(database)), ...(await checkRights(database, 1))], imported: [] };
  }
  const pending = await pendingMigrations(database);
  if (pending.length > 0) {
    const message = `${place}, ${pending.length} migrations wait`;
    const next = 'the next command applies them, or run `nightscreen migrate` now';
    return {
      findings: [
        doubtful('database', message, next),
        ...(await checkServer(database)),
        ...(await checkRights(database, pending.length)),
      ],
      imported: [],
    };
  }
  return {
    findings: [
      well('database', `${place}, schema up to date`),
      ...(await checkServer(database)),
      ...(await checkRights(database, 0)),
      ...(await listHolders(database)),
      ...(await checkAccepted(database, config)),
      ...(await checkImportedMail(database, config)),
    ],
    imported: await listImported(database, config.settings.organisation),
  };
}

async function listImported(database: Queryable, organisation: string): Promise<string[]> {
  const known = await findOrganisation(database, organisation);
  return known === undefined
    ? []
    : (await readImportedRosters(database, known.organisationId)).map(({ roster }) => roster);
}

/** Says who is at work on what; a lease that its holder left behind is freed by time alone. */
async function listHolders(database: Queryable): Promise<Finding[]> {
  const { describeHolder, readHeldLeases } = await import('../../store/leases.js');
  return (await readHeldLeases(database)).map((holder) => {
    const words = `held by ${describeHolder(holder)}`;
    if (holder.expiresInMs > 0) return well(`lease ${holder.key}`, words);
    const message = `${words}: its process has ended without a word`;
    return doubtful(`lease ${holder.key}`, message, 'nothing: the next start takes it over and goes on with its run');
  });
}
