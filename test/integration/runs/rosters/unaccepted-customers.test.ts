import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../../src/store/database/database.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, readCounts, readParties } from '../../../helpers/roster-nights.js';

const header = 'customer_id,type,name,birth_date';
const sound = ['C-1,person,Ann Lee,', 'C-2,person,Otto Klar,1980-01-01'];

/** Who is named without a readable record, as `reference reason nights`: for how many nights, counted from the first. */
const readUnaccepted = async (database: Database): Promise<readonly string[]> =>
  (
    await database.query(
      z.object({ line: z.string() }),
      `select concat_ws(' ', reference, reason, (
         select count(*) - 1 from roster_import where imported_at <= unaccepted_customer.since
       )) as line
       from unaccepted_customer order by reference collate "C"`,
    )
  ).map(({ line }) => line);

/** Whose related parties cannot be read. */
const readUnreadable = async (database: Database): Promise<readonly string[]> =>
  (
    await database.query(
      z.object({ reference: z.string() }),
      'select reference from customer where unreadable_party_since is not null order by reference collate "C"',
    )
  ).map(({ reference }) => reference);

const readUnreadableIds = async (database: Database): Promise<number | undefined> =>
  (
    await database.query(
      z.object({ rows: z.number() }),
      'select unreadable_ids as rows from roster_import order by import_id desc limit 1',
    )
  )[0]?.rows;

describeOnPostgres('customers whom a roster names without a readable record', (open) => {
  it('are kept by their ids until a record is accepted or a whole snapshot no longer names them, and for how long', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rejected = ['C-3,robot,Cy,', 'C-3,clone,Cy,', 'C-4,robot,Dot,', ',person,Ed,'];
    await nights.play({ header, rows: [...sound, ...rejected, 'C-5,person,Fay,', 'C-5,person,Flo,'] });
    expect(await readUnaccepted(database)).toEqual(['C-3 row_rejected 0', 'C-4 row_rejected 0']);
    expect(await readUnreadableIds(database)).toBe(1);
    expect(await readCounts(database)).toEqual(expect.arrayContaining(['rows=8', 'customers=2', 'rejected=6']));
    // What is known of C-1 and C-2 stays: they are screened by their last accepted records.
    const mended = ['C-1,robot,Ann Lee,1970-01-01', 'C-2,robot,Otto Klar,'];
    const { remarks } = await nights.play({
      header,
      rows: [...mended, ...rejected.slice(0, 1), 'C-5,person,Flo,'],
      day: 1,
    });
    expect(remarks).toContain('2 customers whose row was rejected are screened with the last accepted record.');
    expect(await readUnaccepted(database)).toEqual(['C-3 row_rejected 0']);
    expect(await readParties(database)).toEqual(
      expect.arrayContaining(['C-1 0 customer Ann Lee', 'C-2 0 customer Otto Klar']),
    );
    // A part of the roster says nothing of those whom it does not name.
    await nights.play({ header, rows: ['C-4,person,Dot,', 'C-6,robot,Gus,'], day: 2, isDelta: true });
    expect(await readUnaccepted(database)).toEqual(['C-3 row_rejected 0', 'C-6 row_rejected 2']);
    await nights.play({ header, rows: ['C-3,person,Cy,', 'C-6,robot,Gus,'], day: 3, isDelta: true });
    expect(await readUnaccepted(database)).toEqual(['C-6 row_rejected 2']);
    await nights.play({ header, rows: sound, day: 4 });
    expect(await readUnaccepted(database)).toEqual([]);
    await nights.close();
  });

  it('are customers whose related party cannot be read and was never known, until it can be', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const firms = ['F-1,entity,Alpha,', 'F-2,entity,Beta,', 'F-3,entity,Gamma,'];
    const director = (firm: string, name: string): string => `${firm},director,person,${name},,`;
    const known = [director('F-1', 'Ann Lee'), director('F-2', 'Bo Ek')];
    await nights.play({ header, rows: firms, parties: [...known, director('F-3', '')] });
    expect(await readUnreadable(database)).toEqual(['F-3']);
    // Known directors whose rows cannot be read stay as they are known; one more than is known is another one.
    const torn = [director('F-1', ''), director('F-2', 'Bo Ek'), director('F-2', '')];
    await nights.play({ header, rows: firms, parties: [...torn, director('F-3', 'Cy Dee')], day: 1 });
    expect(await readUnreadable(database)).toEqual(['F-2']);
    // A row that does not say whose it is may be anybody's.
    await nights.play({ header, rows: firms, parties: [...known, director('', 'Cy Dee')], day: 2 });
    expect(await readUnreadable(database)).toEqual(['F-2']);
    expect(await readUnreadableIds(database)).toBe(1);
    await nights.play({ header, rows: firms.slice(0, 1), parties: known, day: 3, isDelta: true });
    expect(await readUnreadable(database)).toEqual([]);
    await nights.close();
  });
});
