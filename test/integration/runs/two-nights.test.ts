import { expect, it } from 'vitest';
import { z } from 'zod';
import { runScreening } from '../../../src/runs/screening-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { listSearches } from '../../helpers/small-site.js';
import {
  dayMs,
  demoRoster,
  loadDemoWorld,
  makeAppContext,
  readDemoControls,
  readExpectedChanges,
} from '../../helpers/small-world.js';

const night = {
  kind: 'rescreen',
  roster: demoRoster,
  selection: 'due',
  importFirst: true,
  writeReport: false,
} as const;

describeOnEachDatabase('two nights of the demo roster', (open) => {
  it('the second night reports exactly the known changes, and its report can be made again byte for byte', async () => {
    const sandbox = await startSandbox({ world: await loadDemoWorld('before') });
    const database = await open();
    const signal = new AbortController().signal;
    const settings = { controls: await readDemoControls() };
    const first = await makeAppContext(database, sandbox, { offsetMs: -dayMs, settings });
    const second = await makeAppContext(database, sandbox, { settings });
    try {
      const nightOne = await runScreening(first, night, signal);
      expect(nightOne).toMatchObject({
        state: 'incomplete',
        reasons: [expect.stringContaining('not screened because of the roster')],
        counts: { rows: 500, customers: 493, rejected: 3, duplicates: 4 },
      });
      expect(await runSweep(first, { writeReport: false }, signal)).toMatchObject({
        state: 'complete',
        counts: { proven: true },
      });
      // A close trusts the sums that are stored with each answer.
      const sizes = z.object({ answers: z.number(), hits: z.number(), wrong: z.number() });
      const stored = await database.query(
        sizes,
        `select count(*)::integer as answers, sum(response.hits)::integer as hits,
           (count(*) filter (where (response.matches, response.hits) is distinct from (rows.matches, rows.hits)))::integer as wrong
         from response
         cross join lateral (
           select count(*) as matches, count(*) filter (where is_hit) as hits from match where match.response_id = response.response_id
         ) rows`,
      );
      expect(stored).toEqual([{ answers: expect.any(Number), hits: expect.any(Number), wrong: 0 }]);
      expect(stored[0]?.hits).toBeGreaterThan(10);
      const [reportOne] = await runReports(first, {});
      expect(reportOne?.runId).toBe(nightOne.runId);

      sandbox.setWorld(await loadDemoWorld('after'));
      const nightTwo = await runScreening(second, night, signal);
      expect(nightTwo).toMatchObject({ state: 'incomplete', reasons: nightOne.reasons });
      expect(await runSweep(second, { writeReport: false }, signal)).toMatchObject({
        counts: { appeared: 1, changed: 3, gone: 0 },
      });
      const [reportTwo] = await runReports(second, {});
      const [again] = await runReports(second, {});
      expect(reportTwo?.files).toHaveLength(8);
      expect(again).toMatchObject({ revision: 1, files: reportTwo?.files });

      const facts = await showRun(database, 'default', nightTwo.runId);
      const expected = await readExpectedChanges();
      const found = facts.changes.map((change) => ({
        reference: change.party.reference,
        kind: change.kind,
        matchId: change.matchId,
        matchName: (change.after ?? change.before)?.name,
        fields: [...change.fields],
      }));
      expect(found.toSorted(byText)).toEqual(expected.matches.toSorted(byText));
      const calls = listSearches(sandbox).length;
      const attempts = addUp(
        facts.attemptsByOutcome,
        (await showRun(database, 'default', nightOne.runId)).attemptsByOutcome,
      );
      // What left on a connection that the service was just closing counts, because nobody here knows whether it arrived.
      const { connection = 0, ...answered } = attempts;
      const whole = Object.values(answered).reduce((sum, count) => sum + count, 0);
      expect(calls).toBeGreaterThanOrEqual(whole);
      expect(calls).toBeLessThanOrEqual(whole + connection);
      const noted = [nightOne, nightTwo].map(({ counts }) => Number('attempts' in counts && counts.attempts));
      expect(noted.reduce((sum, count) => sum + count)).toBe(whole + connection);
    } finally {
      await sandbox.close();
      await first.client().close();
      await second.client().close();
    }
  });
});

type Tallies = Readonly<Record<string, number>>;
const addUp = (one: Tallies, other: Tallies): Record<string, number> => {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]));
};

const byText = (left: unknown, right: unknown): number => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1);
