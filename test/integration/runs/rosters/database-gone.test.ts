import { expect, it } from 'vitest';
import { describeError, formatError } from '../../../../src/cli/describe-error.js';
import { openDatabase } from '../../../../src/store/database/open-database.js';
import { readRows, testDatabases } from '../../../helpers/databases.js';
import { openRosterNights, readChanges } from '../../../helpers/roster-nights.js';

const databases = testDatabases('postgres');
const header = 'customer_id,type,name';
const rowsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `C-${at},person,Customer ${at}`);

it('says that nothing of the roster was stored when our own database goes away in an import, and the import can be started again', async () => {
  const location = await databases.locate();
  const witness = await databases.open(location);
  const database = await openDatabase(location, 'nightscreen');
  const nights = await openRosterNights(database);
  await nights.play({ header, rows: rowsOf(3) });
  // The connection ends while it stores rows.
  await witness.runScript(`
    create function end_connection() returns trigger language plpgsql as $$
    begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
    create trigger end_connection after insert on roster_staging for each statement execute function end_connection();`);
  const error: unknown = await nights.play({ header, rows: rowsOf(30) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'import_broken_off' });
  const reported = formatError(describeError(error));
  expect(reported).toMatch(/our own database failed while roster people was being imported: \S/);
  expect(reported).toMatch(/Nothing of the roster was stored; it is unchanged/);
  expect(reported).toMatch(/start the same command again/);
  expect(await readChanges(witness)).toHaveLength(3);
  expect(await readRows(witness, 'select count(*)::integer as customers from customer')).toEqual([{ customers: 3 }]);
  await witness.runScript('drop trigger end_connection on roster_staging; drop function end_connection()');
  expect((await nights.play({ header, rows: rowsOf(60) })).counts).toMatchObject({ customers: 60 });
  await nights.close();
  await database.close();
});
