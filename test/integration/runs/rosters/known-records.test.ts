import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../../src/store/database/database.js';
import { KnownRecords } from '../../../../src/store/roster/known-records.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import {
  openRosterNights,
  type RosterNight,
  readChanges,
  readParties,
  readRejected,
} from '../../../helpers/roster-nights.js';

const ann = 'C-1,person,Ann Lee,1980-01-01,SE,low,,,';
const otherAnn = 'C-1,person,Anna Leigh,1980-01-01,SE,low,,,';
const bo = 'C-2,person,Bo Ek,1970-01-01,DK;NO,,Bosse Ek;Bob Ek,,';
const director = 'C-2,director,person,Dora Direktor,,';
const digest = 'ab'.repeat(16);

afterEach(() => vi.restoreAllMocks());

/** Counts the records that are staged from now on, by the night's own rows. */
async function countStaged(database: Database): Promise<() => Promise<number>> {
  await database.runScript(`
    create table staged_record (staged integer);
    create function count_records() returns trigger language plpgsql as $$
    begin insert into staged_record select count(*) from staged; return null; end $$;
    create trigger count_records after insert on roster_record referencing new table as staged
      for each statement execute function count_records();
  `);
  const row = z.object({ staged: z.number() });
  return async () => {
    const [{ staged } = { staged: -1 }] = await database.query(
      row,
      'select coalesce(sum(staged), 0)::integer as staged from staged_record',
    );
    await database.execute('delete from staged_record');
    return staged;
  };
}

/** Everything that nights leave behind of parties, changes and rejected rows. */
async function readOutcome(database: Database): Promise<readonly string[]> {
  const fields = await database.query(
    z.object({ line: z.string() }),
    `select fields ->> 'customer_id' || ' ' || (fields ->> 'name') || ' ' || (fields ->> 'countries') as line
     from roster_row where import_id = (select max(import_id) from roster_import) order by ordinal`,
  );
  return [
    ...(await readParties(database)),
    ...(await readChanges(database)),
    ...(await readRejected(database)),
    ...fields.map(({ line }) => line),
  ];
}

describeOnPostgres('a record that the roster has', (open) => {
  it('is not staged again, and every other one is', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const staged = await countStaged(database);
    await nights.play({ rows: [ann, bo] });
    expect(await staged()).toBe(2);
    await nights.play({ rows: [bo, ann, ann] });
    expect(await staged()).toBe(0);
    // The same record under another id is another customer's.
    await nights.play({ rows: [otherAnn, bo, ann.replace('C-1', 'C-3')] });
    expect(await staged()).toBe(2);
    expect(await readChanges(database)).toEqual([
      '1: C-1 joined',
      '1: C-2 joined',
      '3: C-1 changed name',
      '3: C-3 joined',
    ]);
    await nights.close();
  });

  it('is put together with other rows as if it had been staged', async () => {
    const outcomes: (readonly string[])[] = [];
    for (const isKnown of [true, false]) {
      if (!isKnown) vi.spyOn(KnownRecords.prototype, 'has').mockReturnValue(false);
      const database = await open();
      const nights = await openRosterNights(database);
      await nights.play({ rows: [ann, bo] });
      const staged = await countStaged(database);
      await nights.play({ rows: [ann, otherAnn, bo], parties: [director], day: 1 });
      // Known ones come from the roster when other rows need them.
      expect(await staged()).toBe(3);
      outcomes.push(await readOutcome(database));
      await nights.play({ rows: [ann, bo], parties: [director, ',owner,person,Stray Owner,,'], day: 2 });
      outcomes.push(await readOutcome(database));
      await nights.play({ rows: [ann, bo, 'C-2,robot,Bo Ek,,,,,,'], parties: [director], day: 3 });
      outcomes.push(await readOutcome(database));
      await nights.close();
    }
    expect(outcomes[0]).toEqual(
      expect.arrayContaining(['C-1 1 conflicting_row Ann Lee', 'C-2 3 director Dora Direktor', 'C-1 Ann Lee SE']),
    );
    expect(outcomes.slice(3)).toEqual(outcomes.slice(0, 3));
  });

  it('is missed when it was only taken for known, and the import changes nothing', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ rows: [ann, bo] });
    const before = await readOutcome(database);
    const others: Record<string, Omit<RosterNight, 'day'>> = {
      'a changed row': { rows: [otherAnn, bo] },
      'a new row': { rows: [ann, bo, ann.replace('C-1', 'C-3')] },
      'contradicting rows': { rows: [ann, otherAnn, bo] },
      'a changed row with related parties': { rows: [ann, bo.replace('Bo Ek', 'Bo Eck')], parties: [director] },
      'another alias': { rows: [ann, bo.replace('Bob Ek', 'Bobby Ek')] },
    };
    vi.spyOn(KnownRecords.prototype, 'has').mockReturnValue(true);
    for (const [what, night] of Object.entries(others)) {
      const outcome = await nights.play({ ...night, day: 1 }).catch((error: unknown) => error);
      expect([what, outcome]).toMatchObject([what, { code: 'record_not_staged' }]);
      expect(await readOutcome(database)).toEqual(before);
    }
    vi.restoreAllMocks();
    let last = before;
    for (const night of Object.values(others)) {
      await nights.play({ ...night, day: 1 });
      const outcome = await readOutcome(database);
      expect(outcome).not.toEqual(last);
      last = outcome;
    }
    await nights.close();
  });

  it('is known by its reference and its digest', () => {
    const known = new KnownRecords(50_000);
    expect(known.has('C-1', digest)).toBe(false);
    const [high, low] = [0xabababab, 0xabababab];
    for (let number = 0; number < 50_000; number += 1) known.add(`C-${number}`, high, (low + number) % 2 ** 32);
    const toDigest = (number: number): string =>
      `abababab${((low + number) % 2 ** 32).toString(16).padStart(8, '0')}0000`;
    for (let number = 0; number < 50_000; number += 1) {
      if (!known.has(`C-${number}`, toDigest(number))) expect.fail(`C-${number} is not known`);
      if (known.has(`C-${number}`, toDigest(number + 2))) expect.fail(`C-${number} is known by another digest`);
      if (known.has(`D-${number}`, toDigest(number))) expect.fail(`D-${number} is known`);
    }
    known.add('E-1', high, low);
    expect(known.has('E-1', toDigest(0)), 'there is no room for it').toBe(false);
  });
});
