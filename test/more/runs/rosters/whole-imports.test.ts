import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights } from '../../../helpers/roster-nights.js';

const row = (id: number, alias = '', tail = ','): string => `C-${id},person,Customer Number ${id},,,,${alias},${tail}`;
const first = [row(1, 'First Alias;Second Alias'), row(2), row(3), 'C-4,person,,,,,,,', row(5, '', 'no,')];
const second = [row(1, 'First Alias;Third Alias'), row(2), row(6), 'C-4,person,,,,,,,', row(5)];
const director = (id: number): string => `C-${id},director,person,Director Of ${id},,`;

const lost: readonly [string, string, 'first' | 'second'][] = [
  ['screening_request', `new.name = 'Second Alias'`, 'first'],
  ['screening_request', `new.name = 'Director Of 2'`, 'first'],
  ['party', 'new.ordinal = 1', 'first'],
  ['customer', `new.reference = 'C-2'`, 'first'],
  ['customer_version', 'new.version = 1', 'first'],
  ['roster_row', 'new.reason is not null', 'first'],
  ['roster_standing', `new.kind = 'left'`, 'first'],
  ['screening_request', `new.name = 'Third Alias'`, 'second'],
  ['customer_version', 'new.version = 2', 'second'],
  ['customer', `new.reference = 'C-6'`, 'second'],
  ['roster_standing', `new.kind = 'absent'`, 'second'],
  ['roster_standing', `new.kind = 'returned'`, 'second'],
];

describeOnPostgres('an import of which the database silently leaves something out', (open) => {
  it('is an error that changes nothing, whatever is left out', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    const count = z.object({ imports: z.number(), customers: z.number() });
    const sums = () =>
      database.query(
        count,
        'select (select count(*) from roster_import)::integer as imports, (select count(*) from customer)::integer as customers',
      );
    const plays = {
      first: { rows: first, parties: [director(2)] },
      second: { day: 1, rows: second, parties: [director(2)] },
    };
    for (const stage of ['first', 'second'] as const) {
      for (const [table, condition] of lost.filter(([, , when]) => when === stage)) {
        await database.runScript(`
          create function leave_out() returns trigger language plpgsql as $$ begin if ${condition} then return null; end if; return new; end $$;
          create trigger leave_out before insert on ${table} for each row execute function leave_out();`);
        const outcome = await nights.play(plays[stage]).catch((error: unknown) => error);
        expect([table, condition, outcome]).toMatchObject([table, condition, { code: 'roster_not_whole' }]);
        expect(await sums()).toMatchObject([stage === 'first' ? { imports: 0, customers: 0 } : { imports: 1 }]);
        await database.runScript(`drop trigger leave_out on ${table}; drop function leave_out();
          delete from screening_request where not exists (select from party where party.request_id = screening_request.request_id);`);
      }
      await nights.play(plays[stage]);
    }
    expect(await sums()).toEqual([{ imports: 2, customers: 5 }]);
    await nights.close();
  });
});
