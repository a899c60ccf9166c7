import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { checkRights } from '../../../src/cli/doctor/database.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { createLogin, runAsSuperuser, toSuperuserUrl } from '../../helpers/database-servers.js';
import { testDatabases } from '../../helpers/databases.js';
import { migrateUpTo } from '../../helpers/former-databases.js';

const emit = async (database: Database, pending: number): Promise<readonly string[]> =>
  (await checkRights(database, pending)).map(({ state, message }) => `${state} ${message}`);

const databases = testDatabases('postgres');
let url = '';
beforeAll(async () => {
  url = (await databases.locate()).url ?? '';
});

/** What is said to a login to which the owner of the tables has granted this. */
async function reportAs(toGrants: (login: string) => string, pending = 0): Promise<readonly string[]> {
  const own = await createLogin(await databases.open({ url }), 'doctor', toGrants);
  return emit(await databases.open({ url: own.url }), pending);
}

it('a login that owns the tables is told that all is well', async () => {
  expect(await emit(await databases.open({ url }), 0)).toEqual(['ok this login may read and write']);
});

it('a login that only reads is told before the night, although it answers well', async () => {
  expect(await reportAs((login) => `grant select on all tables in schema public to ${login}`)).toEqual([
    expect.stringMatching(
      /^fail this login may not read and write acceptance, account, \w+ and \d+ more, so every run will fail$/,
    ),
  ]);
});

it('a login that is set to read only is told', async () => {
  const { login, url: own } = await createLogin(await databases.open({ url }), 'doctor_quiet');
  const quiet = await databases.open({ url: own });
  await quiet.execute(`alter role ${login} set default_transaction_read_only = on`);
  expect(await emit(await databases.open({ url: own }), 0)).toEqual(['fail the database is read-only for this login']);
});

it('whoever may migrate an empty database is told so, and none is changed by trying it', async () => {
  const owner = await databases.open(await databases.locateEmpty());
  expect(await emit(owner, 18)).toEqual(['ok this login may read, write and migrate']);
  expect(await listTablesOf(owner)).toEqual([]);
});

it('a login that lacks a right of a migration is told the migration and the right, and the migrations before it are not applied', async () => {
  const owner = await databases.open(await databases.locateEmpty());
  await runAsSuperuser(owner, 'revoke usage on language plpgsql from public');
  const refused = 'the migration 0001_organisations.sql: permission denied for language plpgsql (SQLSTATE 42501)';
  expect(await emit(owner, 18)).toEqual([`fail this login cannot apply ${refused}`]);
  await runAsSuperuser(owner, 'grant usage on language plpgsql to public');
  const goOn = await migrateUpTo(owner, 11);
  await runAsSuperuser(owner, 'revoke usage on language plpgsql from public');
  expect(await emit(owner, 6)).toEqual([expect.stringMatching(/cannot apply the migration 0012_invitations.sql: /)]);
  await runAsSuperuser(owner, 'grant usage on language plpgsql to public');
  expect(await emit(owner, 6)).toEqual(['ok this login may read, write and migrate']);
  expect(await goOn()).toHaveLength(7);
});

it('a login without a right on the schema or on temporary tables is told', async () => {
  const guest = await createLogin(await databases.open(await databases.locateEmpty()), 'doctor_guest');
  expect(await emit(await databases.open({ url: guest.url }), 17)).toEqual([
    expect.stringMatching(/^fail this login cannot apply the migration the table of migrations: permission denied/),
  ]);
  const { url: location = '' } = await databases.locate();
  const owner = await databases.open({ url: location });
  await owner.execute(`revoke temporary on database ${new URL(location).pathname.slice(1)} from public`);
  const toGrants = (login: string) => `grant select, insert on all tables in schema public to ${login}`;
  const plain = await createLogin(owner, 'doctor_plain', toGrants);
  expect(await emit(await databases.open({ url: plain.url }), 0)).toEqual([
    'fail this login may not create temporary tables, so every run will fail',
  ]);
});

const listTablesOf = (database: Database): Promise<readonly string[]> =>
  readColumn(database, z.string(), `select relname::text from pg_class where relnamespace = 'public'::regnamespace`);

it('a superuser is told what the database then does not check', async () => {
  const superuser = await databases.open({ url: toSuperuserUrl(url) });
  expect(await emit(superuser, 0)).toEqual([expect.stringMatching(/^warn this login is a superuser, /)]);
});

it('tables of others in the same schema are nothing to us', async () => {
  const owner = await databases.open({ url });
  await runAsSuperuser(owner, 'create table of_another_program (id integer)');
  expect(await emit(owner, 0)).toEqual(['ok this login may read and write']);
});
