import { expect, it } from 'vitest';
import { z } from 'zod';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { screeningSettingsSchema, toHoldBounds } from '../../../src/screening/settings.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { rawSql, sql } from '../../../src/store/database/statement.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { decide, makeAcceptance, openSmallSites } from '../../helpers/small-site.js';

const dayMs = 24 * 60 * 60 * 1_000;
const customers = ['Quirinus Customer', 'Rosamund Customer'] as const;
const listedName = 'Xanthippe Listed';
const words = 'what the reviewer said of it';

/** An entry of the list; a hit unless its score is low. */
const entry = (id: string, facts: { name?: string; score?: number; year?: number } = {}) => {
  const { name = listedName, score = 0.9, year = 1960 } = facts;
  const birth_date = [`${year}-01-01`];
  return { id, name, schema: 'Person', match: score > 0.7, score, topics: ['sanction'], birth_date, country: ['fr'] };
};
type Answer = { results: ReturnType<typeof entry>[]; total?: number };
type Answers = readonly [Answer, Answer];

/** What the service answers about the two customers; `noise` moves all scores. */
const answerWith = (sandbox: Sandbox, answers: Answers, noise = 0): void =>
  sandbox.setFaults(
    answers.map(({ results, total = results.length }, index) => {
      const name = customers[index] ?? '';
      const moved = results.map((result) => ({ ...result, score: result.score + noise }));
      return {
        name,
        raw: { status: 201, body: JSON.stringify({ query: name, type: 'person', total, results: moved }) },
      };
    }),
  );

/** The columns of all tables in which a text stands, partitions with their table. */
async function findText(database: Database, text: string): Promise<readonly string[]> {
  const tables = await readColumn(
    database,
    z.string(),
    `select relname as name from pg_class where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`,
  );
  const columns = await readColumn(
    database,
    z.string(),
    tables
      .map(
        (table) => sql`select distinct ${table}::text || '.' || held.key as name
          from ${rawSql(table)} as read_row cross join lateral jsonb_each_text(to_jsonb(read_row)) held
          where strpos(lower(held.value), lower(${text})) > 0`,
      )
      .reduce((all, one) => sql`${all} union all ${one}`),
  );
  return columns.toSorted();
}

describeOnPostgres('names and words', (open) => {
  const begin = openSmallSites(open);

  it('stand where they can be removed, and once; reports and states read them from there', async () => {
    const { sandbox, database, work, run } = await begin(customers);
    const night = async (day: number, answers: Answers, { noise = 0, allOf = 100 } = {}) => {
      answerWith(sandbox, answers, noise);
      const hold = toHoldBounds({ vanishedLeast: allOf, allOf });
      const settings = { controls: [], screening: { ...screeningSettingsSchema.parse({}), hold } };
      const app = await work({ offsetMs: day * dayMs, settings });
      const { runId, state } = await run(app, { selection: 'all' });
      const readChanges = async () => {
        const { changes } = await showRun(database, 'default', runId);
        return changes.map(({ kind, matchId, alert }) => ({ kind, matchId, alert }));
      };
      return { app, runId, state, readChanges };
    };
    const other = (id: string) => entry(id, { name: `Other ${id}`, score: 0.5 });
    await night(-1, [{ results: [entry('a1')] }, { results: [entry('b1')] }]);
    const alerts = await readColumn(database, z.number(), 'select alert_id from alert order by alert_id');
    await decide(database, alerts, { reason: words });

    // The first customer's match comes under another id and birth date. The second one's is hidden.
    const second: Answers = [{ results: [entry('a2', { year: 1961 })] }, { results: [other('b2')], total: 2 }];
    const cut = await night(1, second);
    const said = { verdict: 'false_positive', reason: words };
    const reported = [
      {
        kind: 'match_added',
        matchId: 'a2',
        alert: { said: [], replaced: { ...said, name: listedName, matchId: 'a1' } },
      },
      { kind: 'match_removed', matchId: 'a1', alert: { said: [said], replaced: null } },
      { kind: 'match_not_returned', matchId: 'b1', alert: { said: [said], replaced: null } },
      { kind: 'match_added', matchId: 'b2' },
    ];
    expect(await cut.readChanges()).toMatchObject(reported);
    expect(await (await night(2, second, { noise: 0.004 })).readChanges()).toEqual([]);

    const held = await night(3, [{ results: [] }, { results: [other('b3')], total: 3 }], { allOf: 1 });
    expect(held.state).toBe('incomplete');
    const stands = { listed: await findText(database, listedName), words: await findText(database, words) };
    expect(stands).toEqual({
      // All of these can be deleted but the listed party, which says nothing of a customer.
      listed: ['disposition_text.seen', 'listed_party.name', 'response.body', 'shown_alert.facts'],
      words: ['disposition_text.reason', 'shown_alert.facts'],
    });

    await acceptRun(held.app, held.runId, await makeAcceptance(held.app), new AbortController().signal);
    expect(await cut.readChanges()).toMatchObject(reported);
    // What the accepted run hides is known: it is neither new nor returned once the list is whole.
    const whole = await night(4, [{ results: [] }, { results: [entry('b1'), other('b2'), other('b3')] }]);
    expect(await whole.readChanges()).toEqual([]);
  });
});
