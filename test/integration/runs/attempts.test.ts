import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createAttemptNotes } from '../../../src/runs/screening/attempts.js';
import { type Database, readValue } from '../../../src/store/database/database.js';
import { noteInFlight, RunNumbers } from '../../../src/store/night/ledger.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { listenAlong, listSearches, openSmallSites, searched } from '../../helpers/small-site.js';

const countOf = (database: Database, sql: string): Promise<number> =>
  readValue(database, z.number(), `select (${sql})::integer as count`);

describeOnPostgres('the ledger of attempts', (open) => {
  const openSite = openSmallSites(open);

  it('holds what was sent and what is about to be, not what waits for its turn', { timeout: 120_000 }, async () => {
    const { sandbox, database, run, work } = await openSite();
    let isOver = false;
    const running = run(await work({ rate: { perSecond: 4, concurrency: 4 } })).finally(() => {
      isOver = true;
    });
    let mostAhead = 0;
    while (!isOver) {
      const noted = await countOf(database, 'select count(*) from call');
      mostAhead = Math.max(mostAhead, noted - listSearches(sandbox).length);
      await delay(100);
    }
    expect(await running).toMatchObject({ state: 'complete' });
    expect(mostAhead).toBeLessThanOrEqual(1);
  });

  it('says before the first call that a night takes longer than a day, and again when it is resumed', async () => {
    const { sandbox, run, work } = await openSite();
    for (const resumed of [0, 1]) {
      const app = await work({ rate: { perSecond: 1 / 20_000, concurrency: 1 } });
      const stop = new AbortController();
      const stopped = listenAlong(app, (event) => {
        if (event.kind === 'warning' && event.code === 'long_night') stop.abort(new Error('stop'));
      });
      expect(await run(stopped, {}, stop.signal)).toMatchObject({
        runId: expect.stringMatching(/-1$/),
        state: 'stopped',
      });
      expect(listSearches(sandbox), `resumed ${resumed} times`).toEqual([]);
      expect(app.events).toContainEqual(
        expect.objectContaining({
          code: 'long_night',
          message: expect.stringMatching(/^6 searches at .* 33 h 20 min, .* 24 h 0 min:/),
        }),
      );
    }
  });

  it('notes what is due together, under the number of each call', async () => {
    const { database, run, work } = await openSite();
    const app = await work();
    await run(app);
    const numbers = new RunNumbers({ runId: 1, worker: 1, wave: 1 });
    const write: Parameters<typeof createAttemptNotes>[0]['write'] = (noting) => database.transaction(noting);
    const { note } = createAttemptNotes({ app, numbers, write });
    const requests = Array.from({ length: 205 }, (_, place) => place + 1_001);
    const numbersOfCalls = await Promise.all(requests.map(note));
    const noted = z.object({ requestId: z.number(), number: z.number() });
    const rows = await database.query(
      noted,
      `select request_id, number from call where outcome = 'in_flight' order by request_id`,
    );
    expect(rows).toEqual(requests.map((requestId, place) => ({ requestId, number: numbersOfCalls[place] })));
    // A repeat of a note whose commit was lost.
    await database.transaction((transaction) => noteInFlight(transaction, numbers, 1, requests, new Date()));
    expect(await countOf(database, `select count(*) from call where outcome = 'in_flight'`)).toBe(205);
  });

  it('lets nothing leave that it cannot note', async () => {
    const { sandbox, database, run, work } = await openSite();
    await database.runScript(`
      create function refuse_note() returns trigger language plpgsql as $$ begin
        if (select request_id from screening_request where name = 'Tamsin Oyelaran') = new.request_id then
          raise 'no room in the ledger';
        end if;
        return new;
      end $$;
      create trigger refuse_note before insert on call for each row execute function refuse_note();`);
    await expect(run(await work())).rejects.toMatchObject({ code: 'database_error' });
    expect(searched(sandbox, 'Tamsin Oyelaran')).toBe(0);
    await database.runScript('drop trigger refuse_note on call; drop function refuse_note();');
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { screened: 6 } });
    expect(searched(sandbox, 'Tamsin Oyelaran')).toBe(1);
  });

  it('counts a search as possibly billed twice after an answer that is lost, not after a refusal', async () => {
    const { sandbox, database, run, work } = await openSite();
    const search = { path: '/aml/search', times: 1 } as const;
    sandbox.setFaults([
      { ...search, name: 'Aroha Ngata', cut: 'after_work' },
      { ...search, name: 'Ciro Malvestuto', cut: 'after_work' },
      { ...search, name: 'Tamsin Oyelaran', status: 503 },
    ]);
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { screened: 6, attempts: 13 } });
    expect(await countOf(database, `select sums ->> 'possiblyBilledTwice' from run`)).toBe(2);
  });
});
