import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openRosterNights, readParties } from '../../../helpers/roster-nights.js';

const firm = 'C-1,entity,Alpha Foundry,,,,,,';
const owners = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `C-1,beneficial_owner,person,Owner Number ${at + 1},,`);

describeOnPostgres('a customer of many parties', (open) => {
  it('is refused with its id and the figure when a source gives it more than anybody has, and nothing changes', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ rows: [firm], parties: owners(2) });
    const refused = await nights
      .play({ day: 1, rows: [firm], parties: owners(10_001) })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'too_many_parties',
      message: expect.stringMatching(/customer "C-1" would have 10,001 parties.*at most 10,000.*customer id/),
    });
    expect(await readParties(database)).toHaveLength(3);
    const staged = z.object({ staged: z.number() });
    expect(
      await database.query(staged, 'select count(*)::integer as staged from roster_staging where is_party'),
    ).toEqual([{ staged: 0 }]);
    // The customer itself is one of them, and so is each alias.
    const withAlias = firm.replace(',,,,,,', ',,,,Beta Foundry,,');
    await expect(nights.play({ day: 1, rows: [withAlias], parties: owners(9_999) })).rejects.toThrow(/10,001 parties/);
    await nights.close();
  });

  it('gets places that nobody had, also after more than a small integer holds', async () => {
    const database = await open();
    const nights = await openRosterNights(database);
    await nights.play({ rows: [firm], parties: owners(1) });
    await database.runScript(`
      update customer_version set record = jsonb_set(record, '{parties}', (record #> '{parties}')
        || (select jsonb_agg('null'::jsonb) from generate_series(1, 40000)) || jsonb_build_array(record #> '{parties,1}'));
      update party set ordinal = 40002 where ordinal = 1;
      update customer_version set record = jsonb_set(record, '{parties,1}', 'null');`);
    await nights.play({ day: 1, rows: [firm], parties: owners(2) });
    expect(await readParties(database)).toEqual([
      'C-1 0 customer Alpha Foundry',
      'C-1 40002 beneficial_owner Owner Number 1',
      'C-1 40003 beneficial_owner Owner Number 2',
    ]);
    await nights.close();
  });
});
