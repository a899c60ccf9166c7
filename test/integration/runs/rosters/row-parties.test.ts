import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ColumnSettings } from '../../../../src/roster/settings.js';
import { readColumn } from '../../../../src/store/database/database.js';
import { describeOnEachDatabase } from '../../../helpers/databases.js';
import {
  openRosterNights,
  readChanges,
  readCounts,
  readParties,
  readRejected,
} from '../../../helpers/roster-nights.js';

const header = 'customer_id,type,name,owners,holder';
const columns: ColumnSettings = {
  parties: [
    { name: 'owners', role: { value: 'beneficial_owner' } },
    { name: 'holder', role: { value: 'joint_holder' } },
  ],
};

describeOnEachDatabase('related parties within the rows of a roster', (open) => {
  it('keep their places when their order or shares change, and are added, renamed and dropped one by one', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (rows: readonly string[], day: number) => nights.play({ header, columns, rows, day });
    const other = 'C-2,person,Bo Lind,,Eva Lind';
    await play(['C-1,entity,Alpha Ltd,Jan Nowak (50%); Ewa Mazur (50%),', other, 'C-3,person,Cy Dahl,-,brak'], 0);
    const first = ['C-1 0 customer Alpha Ltd', 'C-1 1 beneficial_owner Ewa Mazur', 'C-1 2 beneficial_owner Jan Nowak'];
    const rest = ['C-2 0 customer Bo Lind', 'C-2 1 joint_holder Eva Lind', 'C-3 0 customer Cy Dahl'];
    expect(await readParties(database)).toEqual([...first, ...rest]);
    expect(await readCounts(database)).toEqual(['customers=3', 'joined=3', 'party_rows=3', 'rows=3']);
    await play(['C-1,entity,Alpha Ltd,Ewa Mazur (25%); Jan Nowak - 75 %,', other, 'C-3,person,Cy Dahl,,'], 1);
    expect(await readParties(database)).toEqual([...first, ...rest]);
    expect(await readChanges(database)).toHaveLength(3);
    await play(
      ['C-1,entity,Alpha Ltd,Ewa Mazurek (25%); Jan Nowak; Holdmar GmbH,', other, 'C-3,person,Cy Dahl,,Ed Dahl'],
      2,
    );
    await play(['C-1,entity,Alpha Ltd,Holdmar GmbH,', 'C-2,person,Bo Lind,,', 'C-3,person,Cy Dahl,,Ed Dahl'], 3);
    expect(await readParties(database)).toEqual([
      ...['C-1 0 customer Alpha Ltd', 'C-1 3 beneficial_owner Holdmar GmbH'],
      ...['C-2 0 customer Bo Lind', 'C-3 0 customer Cy Dahl', 'C-3 1 joint_holder Ed Dahl'],
    ]);
    expect((await readChanges(database)).slice(3)).toEqual([
      '3: C-1 changed related_parties',
      '3: C-3 changed related_parties',
      '4: C-1 changed related_parties',
      '4: C-2 changed related_parties',
    ]);
    await nights.close();
  });

  it('are rejected alone, and then the customer keeps its former ones and is not screened when one was never known', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const play = (rows: readonly string[], day: number) => nights.play({ header, columns, rows, day });
    const findUnreadable = async () => {
      return readColumn(
        database,
        z.string(),
        'select reference from customer where unreadable_party_since is not null order by 1',
      );
    };
    await play(['C-1,entity,Alpha Ltd,Jan Nowak; ???,', 'C-2,person,Bo Lind,,Eva Lind', 'C-3,person,Cy Dahl,,??'], 0);
    expect(await readRejected(database)).toEqual(['2 name_without_letters C-1', '4 name_without_letters C-3']);
    expect(await findUnreadable()).toEqual(['C-1', 'C-3']);
    // A row that is rejected itself keeps all of its customer, and one that is corrected is as good as any.
    await play(['C-1,entity,Alpha Ltd,Jan Nowak; Ewa Mazur,', 'C-2,,Bo Lind,,', 'C-3,person,Cy Dahl,,'], 1);
    expect(await findUnreadable()).toEqual([]);
    const known = [
      'C-1 1 beneficial_owner Jan Nowak',
      'C-1 2 beneficial_owner Ewa Mazur',
      'C-2 1 joint_holder Eva Lind',
    ];
    expect(await readParties(database)).toEqual(expect.arrayContaining(known));
    // Also beside another row of the same customer.
    await play(
      ['C-1,entity,Alpha Ltd,Jan Nowak; Ewa Mazur,', 'C-2,,Bo Lind,,', 'C-2,person,Bo Lindh,,', 'C-3,person,Cy Dahl,,'],
      2,
    );
    expect(await readParties(database)).toEqual(expect.arrayContaining(known));
    await nights.close();
  });

  it('stand beside those of a source of related parties, and one that vanishes in bulk holds the roster', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rows = (holder: (at: number) => string): string[] =>
      Array.from({ length: 30 }, (_, at) => `C-${at + 10},person,Ann Person${at},,${holder(at)}`);
    const parties = ['C-10,director,person,Dora Vance,,', 'C-10,joint_holder,person,Holder of 0,,'];
    const night = { header, columns, parties, guards: {} };
    await nights.play({ ...night, rows: rows((at) => `Holder of ${at}`) });
    expect((await readParties(database)).slice(0, 3)).toEqual([
      'C-10 0 customer Ann Person0',
      'C-10 1 director Dora Vance',
      'C-10 2 joint_holder Holder of 0',
    ]);
    await expect(nights.play({ ...night, rows: rows(() => ''), day: 1 })).rejects.toMatchObject({
      heldBy: expect.arrayContaining([expect.objectContaining({ guard: 'party_shrink' })]),
    });
    const unread = nights.play({ ...night, rows: rows((at) => `Holder of ${at}`), columns: {}, day: 2 });
    await expect(unread).rejects.toMatchObject({
      heldBy: expect.arrayContaining([expect.objectContaining({ guard: 'party_shrink' })]),
    });
    await nights.close();
  });
});
