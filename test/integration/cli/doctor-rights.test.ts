import { beforeAll, expect, it } from 'vitest';
import { checkRights } from '../../../src/cli/doctor/database.js';
import type { Database } from '../../../src/store/database/database.js';
import { openDatabase } from '../../../src/store/database/open-database.js';
import { describeOnEachDatabase, testDatabases } from '../../helpers/databases.js';

const emit = async (database: Database, pending: number): Promise<readonly string[]> =>
  (await checkRights(database, pending)).map(({ state, message }) => `${state} ${message}`);

describeOnEachDatabase('doctor, about the rights of the login that owns the tables', (open) => {
  it('says that all is well', async () => {
    expect(await emit(await open(), 0)).toEqual(['ok this login may read, write and migrate']);
  });
});

const databases = testDatabases('postgres');
let url = '';
beforeAll(async () => {
  url = (await databases.locate()).url ?? '';
});

/** What is said to a login that is made by these statements. */
async function reportAs(name: string, statements: string, pending = 0): Promise<readonly string[]> {
  const owner = await databases.open({ url });
  await owner.runScript(`drop role if exists ${name}; create role ${name} login; ${statements}`);
  const given = new URL(url);
  given.username = name;
  const database = await openDatabase({ url: given.href }, 'tests');
  try {
    return await emit(database, pending);
  } finally {
    await database.close();
    await owner.runScript(`drop owned by ${name}; drop role ${name}`);
  }
}

it('a login that only reads is told before the night, although it answers well', async () => {
  expect(await reportAs('doctor_reader', 'grant select on all tables in schema public to doctor_reader')).toEqual([
    'fail this login may not create tables in the schema public',
    expect.stringMatching(
      /^fail this login may not read and write account, alert, \w+ and \d+ more, so every run will fail$/,
    ),
    expect.stringMatching(/^warn this login does not own account, .*, so it cannot apply migrations$/),
  ]);
});

it('a login that is set to read only is told', async () => {
  const statements = 'alter role doctor_quiet set default_transaction_read_only = on';
  expect(await reportAs('doctor_quiet', statements)).toEqual(['fail the database is read-only for this login']);
});

it('a login that may write and does not own the tables is told when migrations wait, and warned before', async () => {
  const grants =
    'grant create on schema public to doctor_writer; grant select, insert, update, delete on all tables in schema public to doctor_writer';
  expect(await reportAs('doctor_writer', grants)).toEqual([expect.stringMatching(/^warn .* cannot apply migrations$/)]);
  expect(await reportAs('doctor_writer', grants, 1)).toEqual([
    expect.stringMatching(/^fail .* cannot apply migrations$/),
  ]);
});

it('tables of others in the same schema are nothing to us', async () => {
  const owner = await databases.open({ url });
  await owner.runScript('create role doctor_other; create table of_another_program (id integer)');
  await owner.runScript('alter table of_another_program owner to doctor_other');
  expect(await emit(owner, 0)).toEqual(['ok this login may read, write and migrate']);
  await owner.runScript('drop table of_another_program; drop role doctor_other');
});
