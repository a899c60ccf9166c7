import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeError, formatError } from '../../../../src/cli/describe-error.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import type { Database } from '../../../../src/store/database/database.js';
import { openDatabase } from '../../../../src/store/database/open-database.js';
import { readRows, testDatabases } from '../../../helpers/databases.js';
import { openRosterNights, readChanges } from '../../../helpers/roster-nights.js';

const databases = testDatabases('postgres');
const header = 'customer_id,type,name';
const rowsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `C-${at},person,Customer ${at}`);
const pids = z.object({ pid: z.number() });

/** Ends every connection to the database but that of the witness. */
const endConnections = (witness: Database): Promise<unknown> =>
  witness.query(
    pids.extend({ ended: z.boolean() }),
    `select pid, pg_terminate_backend(pid) as ended from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );

it('says that nothing of the roster was stored when our own database goes away in an import, and the import can be started again', async () => {
  const location = await databases.locate();
  const witness = await databases.open(location);
  const database = await openDatabase(location, 'nightscreen');
  const nights = await openRosterNights(database);
  await nights.play({ header, rows: rowsOf(3) });
  const { app, settings } = await nights.prepare({ header, rows: rowsOf(30_000) });
  const emit: typeof app.emit = (event) => {
    // At the end of the first chunk, the rest of the file is yet to be read.
    if (event.kind === 'progress' && !isEnded) {
      isEnded = true;
      ending = endConnections(witness);
    }
  };
  let isEnded = false;
  let ending: Promise<unknown> = Promise.resolve();
  const { signal } = new AbortController();
  const error: unknown = await runImport({ ...app, emit }, settings, signal).catch((thrown: unknown) => thrown);
  await ending;
  expect(error).toMatchObject({ code: 'import_broken_off' });
  const reported = formatError(describeError(error));
  expect(reported).toMatch(/our own database failed while roster people was being imported: \S/);
  expect(reported).toMatch(/Nothing of the roster was stored; it is unchanged/);
  expect(reported).toMatch(/start the same command again/);
  expect(await readChanges(witness)).toHaveLength(3);
  expect(await readRows(witness, 'select count(*)::integer as customers from customer')).toEqual([{ customers: 3 }]);
  expect((await nights.play({ header, rows: rowsOf(60) })).counts).toMatchObject({ customers: 60 });
  await nights.close();
  await database.close();
});
