import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { describeOnChosenDatabase } from '../../helpers/databases.js';
import { openSmallSites } from '../../helpers/small-site.js';

vi.setConfig({ testTimeout: 120_000 });

const isOf = (name: string): string =>
  `new.request_id = (select request_id from screening_request where name = '${name}')`;
const isRepeat =
  'exists (select from search_attempt made where made.run_id = new.run_id and made.request_id = new.request_id)';

/** What the database leaves out of a night that is the first, or of one in which all is as it was. */
const lost: readonly [table: string, statement: 'insert' | 'update', condition: string, night: 'first' | 'second'][] = [
  ['search_attempt', 'insert', isOf('Canary Listed'), 'first'],
  ['search_attempt', 'insert', isOf('Tamsin Oyelaran'), 'first'],
  ['search_attempt', 'insert', isRepeat, 'first'],
  ['search_attempt', 'update', isOf('Canary Listed'), 'first'],
  ['search_attempt', 'update', isOf('Aroha Ngata'), 'first'],
  ['canary_outcome', 'insert', `new.verdict = 'passed'`, 'first'],
  ['response', 'insert', 'new.hits > 0', 'first'],
  ['match', 'insert', `new.name = 'Oktavian Prunescu'`, 'first'],
  ['commit_batch', 'insert', 'true', 'first'],
  ['screening', 'update', `new.outcome = 'screened'`, 'first'],
  ['party_state', 'insert', `new.state = 'open_hit'`, 'first'],
  ['change_event', 'insert', `new.before is null`, 'first'],
  ['party_state', 'update', `new.state = 'open_hit' and new.run_id <> old.run_id`, 'second'],
];

describeOnChosenDatabase('a night of which the database silently leaves something out', (open) => {
  const openSite = openSmallSites(open);

  it.each(lost)('fails where %s loses an %s of %s (%s night), and loses nothing by going on', async (...losing) => {
    const [table, statement, condition, night] = losing;
    const { sandbox, database, run, work } = await openSite();
    const app = await work();
    if (night === 'second') await run(app);
    const play = () => run(app, { selection: 'all' });
    sandbox.setFaults(condition === isRepeat ? [{ path: '/aml/search', status: 503, times: 1 }] : []);
    await database.runScript(`
      create function leave_out() returns trigger language plpgsql as $$ begin if ${condition} then return null; end if; return new; end $$;
      create trigger leave_out before ${statement} on ${table} for each row execute function leave_out();`);
    await expect(play()).rejects.toMatchObject({ code: expect.stringMatching(/^rows?_missing$/) });
    await database.runScript(`drop trigger leave_out on ${table}; drop function leave_out();`);
    expect(await play()).toMatchObject({ state: 'complete', counts: { screened: 6, failed: 0 } });
    const kept = z.object({ states: z.number(), waiting: z.number(), attempts: z.number() });
    const rows = await database.query(
      kept,
      `select (select count(*) from party_state)::integer as states, (select count(*) from review_item)::integer as waiting,
         (select count(*) from search_attempt where outcome = 'in_flight')::integer as attempts`,
    );
    expect(rows).toEqual([{ states: 6, waiting: 2, attempts: 0 }]);
  });
});
