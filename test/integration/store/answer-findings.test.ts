import { beforeAll, beforeEach, expect, it } from 'vitest';
import { toCadence } from '../../../src/screening/cadence.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { storePlan } from '../../../src/store/night/plan.js';
import { saveResponses } from '../../../src/store/night/responses.js';
import { readAnswerFindings } from '../../../src/store/night/run-health.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { buildPlanInput, fillPlanningWorld } from '../../helpers/planning-world.js';
import { makeMatch } from '../../helpers/run-facts.js';

const now = new Date('2026-11-21T02:00:00Z');

const toMatch = (rank: number) => makeMatch({ rank, id: `match-${rank}`, isHit: rank === 1 });

describeOnEachDatabase('the findings of a run', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  beforeEach(async () => {
    await fillPlanningWorld(database, [{}, {}, {}], now);
    const cadence = toCadence({ cadenceHours: 24 });
    await database.transaction((transaction) => storePlan(transaction, 3, buildPlanInput(now), cadence));
  });
  it('count the matches and hits of an answer as it was stored first', async () => {
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
        'insert into batch (run_id, worker, number, wave, committed_at) values (3, 1, 1, 1, now())',
      );
      await transaction.execute(
        sql`insert into call (run_id, request_id, worker, number, started_at, ended_at, outcome, response_id, batch)
         select 3, party_id, 1, party_id, now(), now(), 'ok', id, 1 from unnest(${[...ids.values()]}::bigint[], ${[1, 2, 3]}::bigint[]) as answer (id, party_id)`,
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
