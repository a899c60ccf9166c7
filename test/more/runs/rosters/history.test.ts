import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ColumnSettings } from '../../../../src/roster/settings.js';
import { describeOnPostgres, readRows } from '../../../helpers/databases.js';
import {
  openRosterNights,
  readChanges,
  readCounts,
  readParties,
  readRejected,
} from '../../../helpers/roster-nights.js';

const row = (id: number, name: string, rest = ',,,,,,'): string => `C-${id},person,${name}${rest}`;

describeOnPostgres('the history of a roster', (open) => {
  it('a first snapshot searches once for rows with the same name, and knows a name that was searched for before', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const sql = `select customer.reference || ' ' || request.type || ' ' || request.name as text
      from customer join party using (customer_id) join screening_request request using (request_id) order by 1`;
    const firm = 'C-4,entity,Ann Alder,,,,,,';
    await nights.play({ rows: [row(1, 'Ann Alder'), row(2, 'Ben Birch'), row(3, 'Ann Alder'), firm] });
    const expected = ['C-1 person Ann Alder', 'C-2 person Ben Birch', 'C-3 person Ann Alder', 'C-4 entity Ann Alder'];
    const text = z.object({ text: z.string() });
    expect((await database.query(text, sql)).map((each) => each.text)).toEqual(expected);
    // As after a crash between the requests and the snapshot: all of them are known, under numbers that are not their rows'.
    await database.runScript('delete from party; delete from customer_version; delete from customer');
    await nights.play({ day: 1, rows: [row(3, 'Ann Alder'), firm, row(2, 'Ben Birch'), row(1, 'Ann Alder')] });
    expect((await database.query(text, sql)).map((each) => each.text)).toEqual(expected);
    const count = z.object({ requests: z.number() });
    expect(await database.query(count, 'select count(*) as requests from screening_request')).toEqual([
      { requests: 3 },
    ]);
    await nights.close();
  });

  it('says who joined, changed in what, is absent, left and returned, snapshot by snapshot', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const [ann, ben, cyd, dan] = [row(1, 'Ann Alder'), row(2, 'Ben Birch'), row(3, 'Cyd Cedar'), row(4, 'Dan Dogwood')];
    await nights.play({ rows: [ann, ben, cyd, dan] });
    expect(await readCounts(database)).toEqual(['customers=4', 'joined=4', 'rows=4']);
    // Nothing changed: no row of the roster is touched.
    const before = await database.query(z.object({ x: z.string() }), 'select xmin::text as x from customer order by 1');
    await nights.play({ day: 1, rows: [dan, cyd, ben, ann] });
    expect(await readCounts(database)).toEqual(['customers=4', 'rows=4']);
    const after = await readRows(database, 'select xmin::text as x from customer order by 1');
    expect(after).toEqual(before);
    await nights.play({
      day: 2,
      rows: [row(1, 'Ann Ash', ',1970-01-02,DK,high,,,'), row(3, 'Cyd Cedar', ',,,,,no,'), dan, row(5, 'Eve Elm')],
    });
    expect(await readCounts(database)).toEqual([
      'absent=1',
      'changed=2',
      'customers=4',
      'joined=1',
      'leavers=1',
      'rows=4',
    ]);
    await nights.play({
      day: 10,
      leaveAfterDays: 1,
      rows: [row(1, 'Ann Ash', ',1970-01-02,DK,high,,,'), row(3, 'Cyd Cedar', ',,,,,no,'), dan],
    });
    await nights.play({ day: 11, rows: [ann, ben, cyd, dan, row(5, 'Eve Elm')] });
    expect(await readCounts(database)).toEqual(['changed=2', 'customers=5', 'returned=3', 'rows=5']);
    expect((await readChanges(database)).slice(4)).toEqual([
      '3: C-1 changed name+birth_date+countries+risk_tier',
      '3: C-2 absent',
      '3: C-3 changed standing',
      '3: C-3 left inactive',
      '3: C-5 joined',
      '4: C-2 left absent',
      '4: C-5 absent',
      '5: C-1 changed name+birth_date+countries+risk_tier',
      '5: C-2 returned absent',
      '5: C-3 changed standing',
      '5: C-3 returned inactive',
      '5: C-5 returned',
    ]);
    await nights.close();
  });

  it('counts whose last day is over as having left, also when the row is as it was', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const end = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const rows = [row(1, 'Ann Alder', `,,,,,,${end}`), row(2, 'Ben Birch')];
    await nights.play({ rows });
    await nights.play({ day: 1, rows });
    await nights.play({ day: 2, rows });
    expect((await readChanges(database)).slice(2)).toEqual(['3: C-1 left end_date']);
    await nights.close();
  });

  it('adds and changes by a part of a roster, and marks nobody as absent', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({
      rows: [row(1, 'Ann Alder'), row(2, 'Ben Birch'), row(3, 'Cyd Cedar')],
      parties: ['C-2,director,person,Dee Dogwood,,'],
    });
    await nights.play({ day: 1, isDelta: true, rows: [row(2, 'Ben Beech'), row(4, 'Eve Elm')] });
    expect(await readCounts(database)).toEqual(['changed=1', 'customers=2', 'joined=1', 'rows=2']);
    const again = { isDelta: true, rows: [row(4, 'Eve Elm')], parties: ['C-2,director,person,Dee Dogwood,,'] };
    await nights.play({ day: 9, ...again });
    expect((await readChanges(database)).filter((line) => !/joined|changed name/.test(line))).toEqual([]);
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Ann Alder',
      'C-2 0 customer Ben Beech',
      'C-2 1 director Dee Dogwood',
      'C-3 0 customer Cyd Cedar',
      'C-4 0 customer Eve Elm',
    ]);
    await nights.close();
  });

  it('keeps two rosters of the same people apart', async () => {
    const database = await open();
    const [people, others] = [await openRosterNights(database), await openRosterNights(database, 'others')];
    await people.play({ rows: [row(1, 'Ann Alder')] });
    await others.play({ rows: [row(1, 'Ann Alder'), row(2, 'Ben Birch')] });
    await people.play({ day: 1, rows: [row(1, 'Ann Ash')] });
    expect(await readParties(database)).toEqual(
      ['C-1 0 customer Ann Ash', 'C-1 0 customer Ann Alder', 'C-2 0 customer Ben Birch'].toSorted(),
    );
    await people.close();
    await others.close();
  });
});

describeOnPostgres('rows of a roster that belong together', (open) => {
  it('screens both names where rows contradict each other, until a clean row comes', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ rows: [row(1, 'Ann Alder'), row(2, 'Ben Birch'), row(3, 'Cyd Cedar')] });
    const contradiction = [
      row(1, 'Ann Alder'),
      row(2, 'Ben Beech'),
      row(2, 'Ben Bay'),
      row(3, 'Cyd Cedar'),
      row(3, 'Cyd Cedar'),
    ];
    const news = [row(9, 'New One'), row(9, 'New Two')];
    await nights.play({ day: 1, rows: [...contradiction, ...news] });
    expect(await readCounts(database)).toEqual([
      'changed=1',
      'conflicts=2',
      'customers=2',
      'duplicates=1',
      'joined=1',
      'rejected=4',
      'rows=7',
    ]);
    expect(await readRejected(database)).toEqual([
      '3 conflicting_id C-2',
      '4 conflicting_id C-2',
      '7 conflicting_id C-9',
      '8 conflicting_id C-9',
    ]);
    const fields = await database.query(
      z.object({ fields: z.record(z.string(), z.string()) }),
      'select fields from roster_row where reason is not null order by ordinal limit 1',
    );
    expect(fields[0]?.fields).toMatchObject({ customer_id: 'C-2', name: 'Ben Beech', type: 'person' });
    const slotted = await readParties(database);
    expect(slotted).toEqual([
      'C-1 0 customer Ann Alder',
      'C-2 0 customer Ben Birch',
      'C-2 1 conflicting_row Ben Bay',
      'C-2 2 conflicting_row Ben Beech',
      'C-3 0 customer Cyd Cedar',
      'C-9 1 conflicting_row New One',
      'C-9 2 conflicting_row New Two',
    ]);
    await nights.play({ day: 2, rows: [...news.toReversed(), ...contradiction.toReversed()] });
    expect(await readCounts(database)).toEqual(['conflicts=2', 'customers=2', 'duplicates=1', 'rejected=4', 'rows=7']);
    expect(await readParties(database)).toEqual(slotted);
    await nights.play({
      day: 3,
      rows: [row(1, 'Ann Alder'), row(2, 'Ben Birch'), row(3, 'Cyd Cedar'), row(9, 'New One')],
    });
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Ann Alder',
      'C-2 0 customer Ben Birch',
      'C-3 0 customer Cyd Cedar',
      'C-9 0 customer New One',
    ]);
    expect((await readChanges(database)).slice(-2)).toEqual([
      '4: C-2 changed conflicting_rows',
      '4: C-9 changed name+type+birth_date+countries+conflicting_rows',
    ]);
    await nights.close();
  });

  it('keeps the last accepted record of a known customer whose row is rejected, and its related parties', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const parties = ['C-1,director,person,Dee Dogwood,,', 'C-1,beneficial_owner,entity,Elm Holding,,'];
    await nights.play({ rows: [row(1, 'Ann Alder', ',,,,Annie Alder,,'), row(2, 'Ben Birch')], parties });
    const slotted = [
      'C-1 0 customer Ann Alder',
      'C-1 1 alias Annie Alder',
      'C-1 2 beneficial_owner Elm Holding',
      'C-1 3 director Dee Dogwood',
      'C-2 0 customer Ben Birch',
    ];
    expect(await readParties(database)).toEqual(slotted);
    await nights.play({
      day: 1,
      rows: ['C-1,robot,Ann Alder,,,,Annie Alder,,', row(2, 'Ben Birch')],
      parties: [...parties.toReversed(), 'C-8,director,person,Nobody Known,,', 'C-1,clerk,person,?,,'],
    });
    expect(await readParties(database)).toEqual(slotted);
    expect(await readCounts(database)).toEqual([
      'customers=1',
      'party_rejected=2',
      'party_rows=4',
      'rejected=1',
      'rows=2',
    ]);
    expect((await readRejected(database)).toSorted()).toEqual([
      '2 unknown_type C-1',
      '4 unknown_customer C-8',
      '5 name_without_letters C-1',
    ]);
    await nights.close();
  });

  it('screens parties of an unknown role as other and counts them; when their role is mapped they keep their places', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rows = Array.from({ length: 30 }, (_, at) => row(at + 1, `Firm ${'ABCDEFGHIJKLMNOPQRSTUVWXYZabcd'[at]}`));
    const toParties = (role: string): string[] =>
      rows.map((_, at) => `C-${at + 1},${at === 0 ? '' : role},person,Cleo Clerk ${at + 1},,`);
    const first = await nights.play({ rows, parties: toParties('clerk'), guards: {} });
    expect(first).toMatchObject({
      snapshot: { partyRows: 30, partyRejected: 0, otherRoles: 30 },
      remarks: [
        '30 related parties have no known role and are screened as other. A role that you know belongs under role in the mapping.',
      ],
    });
    const searched = await readParties(database);
    expect(searched).toContain('C-2 1 other Cleo Clerk 2');
    const second = await nights.play({ day: 1, rows, parties: toParties('director'), guards: {} });
    expect(second.snapshot).toMatchObject({ changed: 29, otherRoles: 1 });
    expect(await readParties(database)).toEqual(
      searched.map((line) => (line.startsWith('C-1 ') ? line : line.replace('other', 'director'))),
    );
    await nights.close();
  });

  it('gives each related party its own place for ever, whatever comes before it', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const rows = [row(1, 'Ann Alder')];
    const director = (name: string): string => `C-1,director,person,${name},,`;
    await nights.play({ rows, parties: [director('Mo Maple'), director('Zoe Zelkova')] });
    await nights.play({ day: 1, rows, parties: [director('Abe Aspen'), director('Zoe Zelkova')] });
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Ann Alder',
      'C-1 2 director Zoe Zelkova',
      'C-1 3 director Abe Aspen',
    ]);
    await nights.play({
      day: 2,
      rows,
      parties: [director('Mo Maple'), director('Zoe Zelkova'), director('Abe Aspen')],
    });
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Ann Alder',
      'C-1 1 director Mo Maple',
      'C-1 2 director Zoe Zelkova',
      'C-1 3 director Abe Aspen',
    ]);
    // A roster without a source of related parties has none.
    await nights.play({ day: 3, rows });
    expect(await readParties(database)).toEqual(['C-1 0 customer Ann Alder']);
    expect((await readChanges(database)).slice(1)).toEqual([
      '2: C-1 changed related_parties',
      '3: C-1 changed related_parties',
      '4: C-1 changed related_parties',
    ]);
    await nights.close();
  });

  it('takes aliases in another order for no change', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const aliased = (aliases: string): string => row(1, 'Ann Alder', `,,,,${aliases},,`);
    await nights.play({ rows: [aliased('Zoe Alder;Ann Ek;May Alder')] });
    await nights.play({ day: 1, rows: [aliased('Ann Ek;Zoe Alder;May Alder')] });
    await nights.play({ day: 2, rows: [aliased('May Alder;Ann Ek')] });
    expect((await readChanges(database)).slice(1)).toEqual(['3: C-1 changed aliases']);
    await nights.close();
  });

  it('takes the parties in the row of their customer like those of a source of their own, and keeps their places', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const columns: ColumnSettings = {
      parties: [
        { name: 'owners', role: { value: 'beneficial_owner' } },
        { name: 'holder', role: { value: 'joint_holder' } },
      ],
    };
    const play = (day: number, rows: readonly string[], others = {}) =>
      nights.play({ header: 'customer_id,type,name,owners,holder', columns, rows, day, ...others });
    await play(0, ['C-1,entity,Alpha Ltd,Jan Nowak (50%); Ewa Mazur (50%),', 'C-2,person,Bo Lind,-,Eva Lind']);
    const first = [
      'C-1 0 customer Alpha Ltd',
      'C-1 1 beneficial_owner Ewa Mazur',
      'C-1 2 beneficial_owner Jan Nowak',
      'C-2 0 customer Bo Lind',
      'C-2 1 joint_holder Eva Lind',
    ];
    expect(await readParties(database)).toEqual(first);
    await play(1, ['C-1,entity,Alpha Ltd,Ewa Mazur (25%); Jan Nowak - 75 %,', 'C-2,person,Bo Lind,,Eva Lind']);
    expect(await readChanges(database)).toHaveLength(2);
    // A row that is rejected keeps its parties, and a cell that cannot be read keeps the known ones.
    await play(2, ['C-1,entity,Alpha Ltd,Jan Nowak; ???,', 'C-2,,Bo Lind,,']);
    expect(await readRejected(database)).toEqual(['2 name_without_letters C-1', '3 missing_type C-2']);
    expect(await readParties(database)).toEqual(first);
    const source = ['C-1,director,person,Dora Vance,,', 'C-2,joint_holder,person,Eva Lind,,'];
    await play(3, ['C-1,entity,Alpha Ltd,Holdmar GmbH,', 'C-2,person,Bo Lind,,'], { parties: source });
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Alpha Ltd',
      'C-1 3 beneficial_owner Holdmar GmbH',
      'C-1 4 director Dora Vance',
      'C-2 0 customer Bo Lind',
      'C-2 1 joint_holder Eva Lind',
    ]);
    await nights.close();
  });
});
