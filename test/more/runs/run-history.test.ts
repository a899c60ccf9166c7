import { expect, it } from 'vitest';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts } from '../../../src/runs/review/decide.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { findRun } from '../../../src/runs/run-reference.js';
import { sql } from '../../../src/store/database/statement.js';
import { saveRunHealth } from '../../../src/store/night/run-health.js';
import { readRunFacts } from '../../../src/store/reports/facts.js';
import { readRun } from '../../../src/store/runs.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { decideByMarks } from '../../helpers/reviewers.js';
import { openPreparedSites } from '../../helpers/small-site.js';

const dayMs = 24 * 3_600_000;

async function decide(app: AppContext, verdicts: Record<string, DispositionVerdict>) {
  for (const [reference, verdict] of Object.entries(verdicts)) {
    const [alert] = await showAlerts(app, reference);
    await decideByMarks(app, [alert?.mark ?? ''], verdict);
  }
}

describeOnPostgres('what a report tells of how runs went', (_open, databases) => {
  const review = { ...reviewSettingsSchema.parse({}), expiresAfterDays: { critical: 3 } };
  const budget = { currency: 'EUR', reserveShare: 0.05, pricePerSearch: 0.25 };
  /** Sites after a run nine days ago, which is in `prepared`. */
  const begin = openPreparedSites(databases, async ({ work, run }) =>
    run(await work({ offsetMs: -9 * dayMs, settings: { review, budget } })),
  );

  it('counts what was asked again after a call that was not answered, once for each time', async () => {
    const { database, prepared } = await begin();
    const { runId: number } = await findRun(database, 'default', prepared.runId);
    const outcomes = ['error_status,timeout,ok', 'ok,unknown', 'unknown,not_sent,ok,ok', 'timeout,ok,timeout'];
    for (const [place, reported] of outcomes.entries()) {
      await database.execute(
        sql`insert into call (run_id, request_id, worker, number, started_at, outcome)
         select ${number}, ${1_000 + place}, 1, 1000 + place, now(), outcome from unnest(${reported.split(',')}::text[]) with ordinality as one (outcome, place)`,
      );
    }
    await database.transaction((transaction) =>
      saveRunHealth(transaction, number, { limitPerSecond: 1, currency: 'EUR' }),
    );
    expect((await readRun(database, number))?.health?.repeated).toBe(4);
  });

  it('is kept when each run closes, and is the same whatever happens later', async () => {
    const { database, work, run, prepared: first } = await begin();
    const at = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs, settings: { review, budget } });
    const read = async (runId: string) =>
      readRunFacts(
        database,
        await findRun(database, 'default', runId),
        { sweepRunIds: [], earlierRunIds: [] },
        database,
      );

    await decide(await at(8.9), { 'C-1': 'false_positive', 'C-2': 'true_match' });
    const second = await run(await at(8));
    const then = await read(second.runId);
    expect(then.health).toMatchObject({ repeated: 0, breaks: { count: 0 }, limitPerSecond: 400 });
    expect(then.health?.billable).toBe(then.counts?.attempts);
    expect(then.health?.cost).toEqual({ amount: (then.health?.billable ?? 0) * 0.25, currency: 'EUR' });
    const settled = { falsePositive: 1, trueMatch: 1, inconclusive: 0, carried: 2, reopened: 0, expired: 0, gone: 0 };
    expect(then.settled).toEqual(settled);
    expect(then.trend).toMatchObject([
      { runId: first.runId, waiting: 2, notScreened: 0, changes: 0 },
      { runId: second.runId, waiting: 0, searches: then.counts?.searches, changesBySeverity: { critical: 0 } },
    ]);

    await decide(await at(7.9), { 'C-1': 'inconclusive' });
    const third = await read((await run(await at(4))).runId);
    expect(third.settled).toMatchObject({ falsePositive: 0, trueMatch: 0, inconclusive: 1, carried: 0, expired: 1 });
    expect(third.trend.map(({ runId }) => runId)).toEqual([first.runId, second.runId, third.runId]);
    expect(await read(second.runId)).toEqual(then);
  });
});
