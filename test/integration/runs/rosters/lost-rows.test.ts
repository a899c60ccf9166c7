import { expect, it } from 'vitest';
import { RosterHeldError, StoreError } from '../../../../src/errors.js';
import type { ColumnSettings } from '../../../../src/roster/settings.js';
import { describeOnPostgres, readRows } from '../../../helpers/databases.js';
import { openRosterNights, readParties } from '../../../helpers/roster-nights.js';

const firms = (count: number, tail = ','): string[] =>
  Array.from({ length: count }, (_, at) => `C-${at + 1},entity,Firm Number ${at + 1},,,,,${tail}`);
const directors = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `C-${at + 1},director,person,Director Of ${at + 1},,`);
const held = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describeOnPostgres('what a source has lost', (open) => {
  it('lets no accepted row take the place of somebody whose own row of the same id was rejected, and searches for both', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const known = ['C-1,person,Leocadia Rautavaarala,,,,,,', 'C-2,person,Otto Klar,1980-01-01,,,,,'];
    await nights.play({ rows: known });
    const torn = [
      'C-1,robot,Leocadia Rautavaarala,,,,,,',
      'C-2,robot,Otto Klar,1980-01-01,,,,,',
      'C-3,robot,Ada Alt,,,,,,',
    ];
    const accepted = ['C-1,person,Boris Neu,1960-01-01,,,,,', known[1] ?? '', 'C-3,person,Cleo Neu,,,,,,'];
    const { snapshot } = await nights.play({ rows: [...torn, ...accepted], day: 1 });
    expect(snapshot).toMatchObject({ conflicts: 2 });
    const parties = (await readParties(database)).map((line) => line.replace(/ \d+ /, ' '));
    expect(parties.toSorted()).toEqual([
      'C-1 conflicting_row Boris Neu',
      'C-1 customer Leocadia Rautavaarala',
      'C-2 customer Otto Klar',
      // A new id.
      'C-3 conflicting_row Cleo Neu',
    ]);
    await nights.close();
  });

  it('takes no related party out of scope when a row does not say whose it is, or a contradiction is mended by a part of the roster', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const readDirectors = async () => (await readParties(database)).filter((line) => line.includes('director'));
    const contradicting = 'C-1,entity,Alpha,,,,,,';
    await nights.play({ rows: [contradicting, ...firms(3)], parties: directors(3) });
    await nights.play({ rows: [contradicting], isDelta: true, day: 1 });
    expect(await readDirectors()).toHaveLength(3);
    const torn = [
      ',director,person,Director Of 1,,',
      'C-2,director,person,Director Of 2,,',
      'C-9,director,person,Director Of 3,,',
    ];
    await nights.play({ rows: [contradicting, ...firms(3).slice(1)], parties: torn, day: 2 });
    expect(await readDirectors()).toHaveLength(3);
    await nights.close();
  });

  it('holds a roster whose related parties are cut off, or no longer read', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const guards = {};
    await nights.play({ rows: firms(40), parties: directors(40), guards });
    const cut = await held(nights.play({ rows: firms(40), parties: directors(1), guards, day: 1 }));
    expect(cut).toBeInstanceOf(RosterHeldError);
    expect(String(cut)).toContain('39 of 40 rows of related parties are fewer than in the last snapshot');
    const emptied = await held(nights.play({ rows: firms(40), parties: [], guards, day: 1 }));
    expect(String(emptied)).toContain('40 of 40 rows of related parties are fewer than in the last snapshot');
    const gone = await held(nights.play({ rows: firms(40), guards, day: 1 }));
    expect(String(gone)).toMatch(/guard party_shrink.*its related parties had 6 columns, now 0.*guard columns/s);
    expect((await readParties(database)).filter((line) => line.includes('director'))).toHaveLength(40);
    await nights.close();
  });

  it('holds a roster whose parties in the rows of their customers vanish, or are no longer read', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rows = (holder: string): string[] =>
      Array.from({ length: 30 }, (_, at) => `C-${at},person,Ann Person${at},${holder && `${holder} Of ${at}`}`);
    const columns: ColumnSettings = { parties: [{ name: 'holder', role: { value: 'joint_holder' } }] };
    const night = { header: 'customer_id,type,name,holder', columns, guards: {} };
    await nights.play({ ...night, rows: rows('Holder') });
    const emptied = await held(nights.play({ ...night, rows: rows(''), day: 1 }));
    expect(String(emptied)).toContain('guard party_shrink');
    const unread = await held(nights.play({ ...night, rows: rows('Holder'), columns: {}, day: 2 }));
    expect(String(unread)).toContain('guard party_shrink');
    expect((await readParties(database)).filter((line) => line.includes('joint_holder'))).toHaveLength(30);
    await nights.close();
  });

  it('does not screen a customer with a party in its row that was never readable, until it is', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const columns: ColumnSettings = { parties: [{ name: 'owners', role: { value: 'beneficial_owner' } }] };
    const play = (row: string, day: number) =>
      nights.play({ header: 'customer_id,type,name,owners', columns, rows: [row], day });
    const readUnreadable = () =>
      readRows(database, 'select reference from customer where unreadable_party_since is not null');
    await play('C-1,entity,Alpha Ltd,Jan Nowak; ???', 0);
    expect(await readUnreadable()).toEqual([{ reference: 'C-1' }]);
    await play('C-1,entity,Alpha Ltd,Jan Nowak; Ewa Mazur', 1);
    expect(await readUnreadable()).toEqual([]);
    await nights.close();
  });

  it('stores nothing of a roster when rows on their way are gone', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ rows: firms(10) });
    // As after a crash of the server: what is on its way is not logged.
    await database.execute(
      `create function lose_rows() returns trigger language plpgsql as $$
       begin delete from roster_staging where ordinal % 2 = 0; return null; end $$`,
    );
    await database.execute(
      'create trigger lose_rows after insert on roster_staging for each statement execute function lose_rows()',
    );
    const error = await held(nights.play({ rows: firms(12), day: 1 }));
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: 'roster_not_whole' });
    expect(await readRows(database, 'select count(*) as count from customer')).toEqual([{ count: 10 }]);
    await nights.close();
  });
});
