import { beforeAll, beforeEach, expect, it } from 'vitest';
import { toCadence } from '../../../src/screening/cadence.js';
import type { Database } from '../../../src/store/database/database.js';
import { storePlan } from '../../../src/store/plan.js';
import { saveResponses } from '../../../src/store/responses.js';
import { readAnswerFindings } from '../../../src/store/run-health.js';
import { describeOnEachDatabase, readRows } from '../../helpers/databases.js';
import { buildPlanInput, fillPlanningWorld } from '../../helpers/planning-world.js';
import { makeMatch } from '../../helpers/run-facts.js';

const now = new Date('2026-11-21T02:00:00Z');
const missing = { sqlState: '23503' };

const toMatch = (rank: number) => makeMatch({ rank, id: `match-${rank}`, isHit: rank === 1 });

describeOnEachDatabase('what screenings refer to', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  beforeEach(async () => {
    await fillPlanningWorld(database, [{}, {}, {}], now);
    const cadence = toCadence({ cadenceHours: 24 });
    await database.transaction((transaction) => storePlan(transaction, 3, buildPlanInput(now), cadence));
  });
  const add = (runId: number, partyId: number): Promise<number> =>
    database.execute(
      `insert into planned_screening (run_id, party_id, request_id, customer_version, plan_reason, outcome)
       values (2, 1, 1, 1, 'new', 'remaining'), ($1, $2, 1, 1, 'new', 'remaining')`,
      [runId, partyId],
    );

  it('is there: a plan that names a missing run or party is refused whole', async () => {
    await expect(add(99, 2)).rejects.toMatchObject(missing);
    await expect(add(2, 99)).rejects.toMatchObject(missing);
    const rows = await readRows(database, 'select count(*)::integer as count from screening where run_id <> 3');
    expect(rows).toEqual([{ count: 0 }]);
    expect(await add(2, 2)).toBe(2);
    const addBlock = (partyRange: number) =>
      database.execute(
        `insert into plan_block (run_id, party_range, part, plan_reason, outcome, request_base, customer_version, places, requests)
         values (2, $1, 1, 'new', 'remaining', 1, 1, '{"\\\\001"}', '{0}')`,
        [partyRange],
      );
    await expect(addBlock(1)).rejects.toMatchObject(missing);
    expect(await addBlock(0)).toBe(1);
  });

  it('stays: neither a party nor a run that has screenings can be removed, renumbered or emptied away', async () => {
    await expect(database.execute('delete from party where party_id = 2')).rejects.toMatchObject(missing);
    await expect(database.execute('delete from run where run_id = 3')).rejects.toMatchObject(missing);
    await database.execute(
      `insert into planned_screening (run_id, party_id, request_id, customer_version, plan_reason, outcome) values (3, 2, 2, 1, 'new', 'remaining')`,
    );
    await expect(
      database.execute('update planned_screening set party_id = 99 where party_id = 2'),
    ).rejects.toMatchObject(missing);
    await expect(database.execute('update planned_screening set run_id = 99')).rejects.toMatchObject(missing);
    await expect(database.execute('update party set party_id = default where party_id = 2')).rejects.toMatchObject(
      missing,
    );
    await expect(database.runScript('truncate party cascade')).rejects.toMatchObject(missing);
    await database.execute('delete from planned_screening');
    await expect(database.execute('delete from party where party_id = 2')).rejects.toMatchObject(missing);
    await database.execute('delete from plan_block');
    expect(await database.execute('delete from party where party_id = 2')).toBe(1);
    expect(await database.execute('delete from run where run_id = 3')).toBe(1);
  });

  it('counts the matches and hits of an answer as it was stored first', async () => {
    await database.transaction(async (transaction) => {
      const answers = [1, 2, 3].map((length) => ({
        digest: `0${length}`,
        body: '{}',
        matchSet: {
          total: length,
          truncated: false,
          matches: Array.from({ length }, (_, place) => toMatch(place + 1)),
        },
      }));
      const ids = await saveResponses(transaction, 1, [...answers], now);
      await transaction.execute(
        `insert into planned_screening (run_id, party_id, request_id, customer_version, plan_reason, outcome, response_id)
         select 3, party_id, party_id, 1, 'new', 'screened', id from unnest($1::bigint[], $2::bigint[]) as answer (id, party_id)`,
        [[...ids.values()], [1, 2, 3]],
      );
    });
    const counted = await readAnswerFindings(database, 3);
    // Digest 1 was there before, so that its matches are those of the answer that was stored first: none.
    expect(counted).toEqual({
      matches: 5,
      matchSquares: 13,
      hits: 2,
      hitSquares: 2,
      answersByLength: new Map([
        [2, 1],
        [3, 1],
      ]),
    });
  });
});
