import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatRunDescription } from '../../src/cli/commands/runs.js';
import { formatRun } from '../../src/cli/present-run.js';
import { ConfigError } from '../../src/errors.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { describeRun } from '../../src/runs/describe-run.js';
import { previewScreening } from '../../src/runs/preview.js';
import { resumeRun } from '../../src/runs/resume-run.js';
import { listRuns } from '../../src/runs/run-reference.js';
import { readBudget } from '../../src/runs/screening/plan.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { type BudgetSettings, budgetSettingsSchema } from '../../src/screening/budget.js';
import { screeningSettingsSchema } from '../../src/screening/settings.js';
import { rawSql, sql } from '../../src/store/database/statement.js';
import { readRows, testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { showRun } from '../helpers/show-run.js';
import { listSearches, openSitesAfterNight, openSmallSites, searched } from '../helpers/small-site.js';
import { controls, people, type TestAppContext, writeRoster } from '../helpers/small-world.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const signal = new AbortController().signal;

/** So many that a run at 40 per second is under way for a while. */
const tooMany = Array.from({ length: 60 }, (_, number) => `Somebody Number${number}`);
const countSearches = (sandbox: Sandbox): number => listSearches(sandbox).length;
const budget = (settings: Partial<BudgetSettings>) => ({
  settings: { budget: { ...budgetSettingsSchema.parse({}), ...settings } },
});
const screening = (settings: object) => ({ screening: screeningSettingsSchema.parse(settings) });
const planOf = ({ events }: TestAppContext) =>
  events.flatMap((event) => (event.kind === 'stage_finished' && event.stage === 'plan' ? [event.counts] : []));

/** Calls of another process in the ledger. */
const spend = 'insert into call (run_id, number, request_id, started_at, outcome, worker) ';

describe('planning', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  const beginAfterNight = openSitesAfterNight(databases);

  it('a live key without a cap for the month and a price makes no call, whichever way a run is begun', async () => {
    const { sandbox, database, work, run } = await begin();
    const apiKey = sandbox.livePrivateKey;
    const live = await work({ apiKey });
    for (const kind of ['onboard', 'screen', 'rescreen'] as const) {
      await expect(run(live, { kind })).rejects.toThrow(ConfigError);
    }
    const priceless = await work({ apiKey, ...budget({ maxSearchesPerMonth: 100 }) });
    await expect(run(priceless)).rejects.toThrow(/budget\.pricePerSearch/);
    expect(sandbox.ledger()).toEqual([]);
    expect(await listRuns(database, 'default', 5)).toEqual([]);

    const paid = await work({ apiKey, ...budget({ maxSearchesPerMonth: 100, pricePerSearch: 0.1 }) });
    const stopped = await run(paid, { maxSearches: 2 });
    expect(stopped).toMatchObject({ state: 'stopped', haltedBy: 'max_searches', counts: { screened: 2 } });
    const calls = sandbox.ledger().length;
    await expect(resumeRun(live, stopped.runId, signal)).rejects.toThrow(/budget\.maxSearchesPerMonth/);
    expect(sandbox.ledger()).toHaveLength(calls);
  });

  it('whom the budget leaves out is listed with the reason, and turns the run red; no cap is passed', async () => {
    const { sandbox, database, work, run } = await begin();
    const cap = budget({ maxSearchesPerDay: 7, reserveShare: 0 });
    const night = await run(await work(cap));
    expect(night).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { planned: 3, screened: 3, skipped: 3 } });
    expect(night.reasons).toEqual([
      'the budget left out 3 customers, requested, overdue or never screened as they are now',
    ]);
    expect(countSearches(sandbox)).toBe(7);
    const facts = await showRun(database, 'default', night.runId);
    expect(facts.notScreened.map((line) => [line.outcome, line.reason])).toEqual(
      Array.from({ length: 3 }, () => ['skipped', 'over_budget']),
    );
    const again = await run(await work(cap));
    expect(again).toMatchObject({ state: 'incomplete', counts: { planned: 0, screened: 0, skipped: 6 } });
    expect(countSearches(sandbox)).toBe(7);
    const left = await readBudget(database, 1, new Date(), (await work(cap)).settings);
    expect(left).toMatchObject({ leftForAll: 0, leftForReserved: 0, caps: [{ per: 'day', cap: 7, used: 7 }] });
    const nextDay = await run(await work({ ...cap, offsetMs: dayMs }));
    expect(nextDay).toMatchObject({ counts: { planned: 3, screened: 3 } });
  });

  it('whoever is only due again and is left out is named as well', async () => {
    const { work, run } = await beginAfterNight();
    const night = await run(await work(budget({ maxSearchesPerRun: 8, reserveShare: 0 })));
    expect(night).toMatchObject({
      state: 'incomplete',
      reasons: ['the budget left out 2 customers who were due again'],
      counts: { planned: 4, screened: 4, skipped: 2 },
    });
  });

  it('repeats that use the budget up stop the run before a call too many, and it goes on when there is more', async () => {
    const { sandbox, work, run } = await begin();
    const rate = { perSecond: 400, concurrency: 2 };
    const few = { maxSearchesPerMonth: 10, reserveShare: 0 };
    sandbox.setFaults([{ name: 'Wilhelmina Achterberg', cut: 'after_work', times: 3 }]);
    const settings = (caps: Partial<BudgetSettings>) => ({ ...budget(caps), rate });
    const stopped = await run(await work(settings(few)));
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, counts: { planned: 6 } });
    expect(stopped.reasons).toEqual([
      expect.stringMatching(
        /^the budget of 10 searches for this month is used up, and too little of it is left for the control searches at the end; .*; \d customers? remains? and the run/,
      ),
    ]);
    expect(countSearches(sandbox)).toBeLessThanOrEqual(10);
    const still = await resumeRun(await work(settings(few)), stopped.runId, signal);
    expect(still).toMatchObject({ state: 'stopped', exitCode: 4 });
    expect(countSearches(sandbox)).toBeLessThanOrEqual(10);
    const whole = await resumeRun(await work(settings({ maxSearchesPerMonth: 100 })), stopped.runId, signal);
    expect(whole).toMatchObject({ state: 'complete', haltedBy: null, counts: { screened: 6, remaining: 0 } });
  });

  it('a run that the budget stops asks the control searches once more, out of what is kept for them', async () => {
    const { sandbox, database, work, run } = await beginAfterNight();
    // Ten for all, and of the ten kept the four that the plan's control searches take: repeats use them up.
    const app = await work({
      ...budget({ maxSearchesPerDay: 20, reserveShare: 0.5 }),
      rate: { perSecond: 400, concurrency: 2 },
    });
    sandbox.setFaults(people.map((name) => ({ name, cut: 'after_work', times: 3 })));
    const stopped = await run(app);
    expect(stopped).toMatchObject({ state: 'stopped', haltedBy: 'budget', exitCode: 4 });
    expect(formatRun(stopped)).toMatch(/next +nightscreen runs resume \S+ {2}\(when there is budget again/);
    expect(formatRunDescription(await describeRun(app, stopped.runId))).toMatch(
      /^state +stopped \(search budget reached\)$/m,
    );
    expect(stopped.reasons).toEqual([
      expect.stringMatching(
        /^the budget of 20 searches for this day is used up, 6 of them kept for .*; \d customers? remains?/,
      ),
    ]);
    const rounds = await readRows(
      database,
      `select occasion, count(*) filter (where verdict = 'passed') as passed from control_outcome where run_id = 2
       group by round, occasion order by round`,
    );
    expect(rounds).toEqual([
      { occasion: 'start', passed: 2 },
      { occasion: 'end', passed: 2 },
    ]);
    printFigure(`budget stop at 14 of 20: ${countSearches(sandbox)} calls, the last control round among them`);
    expect(countSearches(sandbox)).toBeLessThanOrEqual(14 + controls.length);
  });

  it('a new customer is asked about out of what is kept, also once others have taken of it', async () => {
    const { sandbox, database, work, run } = await begin();
    await run(await work({ settings: { controls: [] } }));
    // 20 of the day may be spent by anybody, 23 are: three of the 20 that are kept are gone.
    await database.execute(
      sql`${rawSql(spend)}select run_id, 1000 + n, 1, ${new Date()}, 'ok', 1 from run, generate_series(1, 17) n`,
    );
    await database.execute('update run set billable_attempts = 23');
    const before = countSearches(sandbox);
    const caps = budget({ maxSearchesPerDay: 40, reserveShare: 0.5 }).settings;
    const others = toFileRoster('others', await writeRoster(['Somebody Else', 'Somebody New']));
    const onboarded = await run(await work({ settings: caps }), { roster: others, kind: 'onboard', selection: 'new' });
    expect(onboarded).toMatchObject({ state: 'complete', counts: { screened: 2, remaining: 0 } });
    expect(countSearches(sandbox) - before).toBe(2 + 2 * controls.length);
    expect(await run(await work({ settings: caps }), { selection: 'all' })).toMatchObject({
      counts: { planned: 0 },
      reasons: ['the budget left out 6 customers, requested, overdue or never screened as they are now'],
    });
  });

  it('a run without its last control searches is not complete, and asks them when there is budget again', async () => {
    const { sandbox, database, work, run } = await begin();
    sandbox.setFaults([{ name: 'Aroha Ngata', cut: 'after_work', times: 1 }]);
    const settings = (cap: number) => ({
      ...budget({ maxSearchesPerDay: cap, reserveShare: 0 }),
      rate: { perSecond: 400, concurrency: 1 },
    });
    // Six customers and two rounds of two take ten calls, and the repeat was not planned.
    const stopped = await run(await work(settings(10)));
    expect(stopped).toMatchObject({ state: 'stopped', haltedBy: 'budget', counts: { screened: 6, remaining: 0 } });
    const still = await resumeRun(await work(settings(10)), stopped.runId, signal);
    expect(still).toMatchObject({ state: 'stopped', haltedBy: 'budget', counts: { screened: 6, remaining: 0 } });
    expect(countSearches(sandbox)).toBe(9);
    const whole = await resumeRun(await work(settings(20)), stopped.runId, signal);
    expect(whole).toMatchObject({ state: 'complete', haltedBy: null });
    const [last] = await database.query(
      z.object({ asked: z.number() }),
      `select count(*) as asked from control_outcome where round = 2 and verdict = 'passed'`,
    );
    expect(last).toEqual({ asked: 2 });
  });

  it('calls of another run of the account count at once', async () => {
    const { sandbox, database, work, run } = await begin(tooMany);
    const others = toFileRoster('others', await writeRoster(['Somebody Else']));
    await run(await work(), { roster: others });
    const app = await work({
      ...budget({ maxSearchesPerMonth: 1_000 }),
      rate: { perSecond: 40, concurrency: 1 },
    });
    let spending: Promise<unknown> | undefined;
    app.emit = (event) => {
      if (event.kind !== 'progress' || event.stage !== 'screen') return;
      spending ??= database.execute(
        sql`with other as (update run set finished_at = null where run_id = 1 returning run_id),
         counted as (update run_worker set calls = calls + 1000 where run_id = 1)
         ${rawSql(spend)}select run_id, 1000 + n, 1, ${new Date()}, 'ok', 1 from other, generate_series(1, 1000) n`,
      );
    };
    const stopped = await run(app);
    await spending;
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4 });
    expect(stopped.reasons).toEqual([expect.stringContaining('the budget of 1000 searches for this month is used up')]);
    expect(stopped.counts).not.toMatchObject({ remaining: 0 });
    expect(countSearches(sandbox)).toBeLessThan(1 + tooMany.length + 4 * controls.length);
  });

  it('an answer is used again for another roster within its age, compared with the party\u2019s own last state', async () => {
    const { sandbox, database, work, run } = await begin();
    const others = toFileRoster('others', await writeRoster([...people.slice(0, 4), 'Somebody Else']));
    await run(await work({ offsetMs: -3 * hourMs }));
    const before = countSearches(sandbox);
    const settings = screening({ reuseMaxAge: '12h' });
    const night = await run(await work({ settings }), { roster: others });
    expect(night).toMatchObject({
      state: 'complete',
      counts: { planned: 5, screened: 1, reused: 4, searches: 1, remaining: 0 },
    });
    expect(countSearches(sandbox) - before).toBe(1 + 2 * controls.length);
    expect(searched(sandbox, 'Wilhelmina Achterberg')).toBe(1);
    const facts = await showRun(database, 'default', night.runId);
    expect(facts.states).toMatchObject({ open_alert: 2, clear: 3 });
    expect(facts.baselineChanges.map((change) => change.party.reference).toSorted()).toEqual(['C-1', 'C-2']);

    const all = await run(await work({ settings }), { roster: others, kind: 'screen', selection: 'all' });
    expect(all).toMatchObject({ counts: { planned: 5, screened: 5, reused: 0 } });
  });

  it('a narrower run beside a valid night is complete although everybody is due', async () => {
    const { work, run } = await beginAfterNight();
    const narrower = { kind: 'screen', importFirst: false } as const;
    for (const selection of ['new', 'forced'] as const) {
      expect(await run(await work(), { ...narrower, selection })).toMatchObject({
        state: 'complete',
        counts: { planned: 0, skipped: 6 },
      });
    }
    expect(await run(await work({ offsetMs: 4 * hourMs }), { ...narrower, selection: 'new' })).toMatchObject({
      state: 'incomplete',
      reasons: ['6 customers without a valid screening, not searched in this run'],
    });
  });

  it('the preview needs no service and is the plan that is stored', async () => {
    const { sandbox, work, run, roster } = await beginAfterNight();
    const settings = {
      ...screening({ cadence: { high: '20h', low: '30d', reason: 'policy 4.2' } }),
      ...budget({ maxSearchesPerRun: 9, pricePerSearch: 0.25, currency: 'DKK', reserveShare: 0 }).settings,
    };
    sandbox.setFaults([{ path: '/', status: 503 }]);
    const planning = await work({ settings });
    const preview = await previewScreening(planning, roster, 'due');
    expect(preview).toMatchObject({ inScope: 6, planned: 5, searches: 5, controlSearches: 4, calls: 9, reused: 0 });
    expect(preview).toMatchObject({ cost: { amount: 2.25, currency: 'DKK' }, overBudget: { cadence: 1 }, leftOut: [] });
    expect(preview).toMatchObject({ reasons: { cadence: 5, over_budget: 1 }, budget: { leftForAll: 9 } });
    sandbox.setFaults([]);
    const night = await run(planning);
    const { inScope, planned, searches, reasons } = preview;
    expect(planOf(planning)).toEqual([{ inScope, planned, searches, ...reasons }]);
    const facts = await showRun(planning.database, 'default', night.runId);
    expect(facts.cadence).toEqual({ hours: { high: 20, medium: 24, low: 720 }, reason: 'policy 4.2' });
  });
});
