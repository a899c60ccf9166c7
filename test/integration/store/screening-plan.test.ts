import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { toCadence } from '../../../src/screening/cadence.js';
import { readCoverage } from '../../../src/store/customers/coverage.js';
import { type Database, readValue } from '../../../src/store/database/database.js';
import { forceScreenings, type PlanCounts, previewPlan, removePlan, storePlan } from '../../../src/store/night/plan.js';
import type { PlanInput } from '../../../src/store/night/plan-sql.js';
import { readSearchTasks } from '../../../src/store/night/screenings.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { buildPlanInput, fillPlanningWorld, type PlannedCustomer, readPlan } from '../../helpers/planning-world.js';
import { judgeAgain } from '../../helpers/status-agreement.js';

const hourMs = 60 * 60 * 1_000;
const now = new Date('2026-11-21T02:00:00Z');
const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * hourMs);

describeOnEachDatabase('the plan of a run', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });
  const store = async (input: PlanInput): Promise<PlanCounts> => {
    const { leftOut: _, ...preview } = await previewPlan(database, input, 10);
    const cadence = toCadence({ cadenceHours: 24 });
    const stored = await database.transaction((transaction) => storePlan(transaction, 3, input, cadence));
    // Whatever a test is about: the preview is what is stored.
    expect(stored).toEqual(preview);
    return stored;
  };
  const readOrder = async (): Promise<readonly number[]> => {
    const order: number[] = [];
    for await (const chunk of readSearchTasks({ database, version: 'v', settingsDigest: 's' }, 3, 3))
      order.push(...chunk.map((task) => task.requestId));
    return order;
  };

  it('gives everybody the one reason that stands first, and only what identifies a party counts as changed', async () => {
    const dayAgo = { screenedAt: hoursAgo(24), birthDate: '1970', countries: ['dk', 'se'] };
    const recently = { ...dayAgo, screenedAt: hoursAgo(2) };
    await fillPlanningWorld(
      database,
      [
        {},
        { ...recently, before: { birthDate: '1971' } },
        { ...recently, before: { countries: ['dk'] } },
        { ...recently, before: { request: 1 } },
        { ...recently, before: { countries: ['se', 'dk'], riskTier: 'low' } },
        { ...recently, hasFailed: true },
        { ...dayAgo, screenedAt: hoursAgo(49), hasFailed: true },
        { ...dayAgo, screenedAt: hoursAgo(49) },
        dayAgo,
        recently,
      ],
      hoursAgo(3),
    );
    await database.transaction((transaction) =>
      forceScreenings(transaction, 3, [
        { partyId: 10, because: 'a list of today names somebody alike' },
        { partyId: 10, because: 'twice' },
      ]),
    );
    await store(buildPlanInput(now));
    expect((await readPlan(database)).join(' ')).toBe(
      'new changed changed changed not_due previously_failed previously_failed overdue cadence forced',
    );
  });

  it('asks about whoever is forced and about nobody else who is not due, also where only new ones are wanted', async () => {
    const recently = { screenedAt: hoursAgo(2) };
    await fillPlanningWorld(database, [recently, recently, {}, { screenedAt: hoursAgo(30) }], hoursAgo(3));
    await forceScreenings(database, 3, [{ partyId: 2, because: 'by hand' }]);
    await store(buildPlanInput(now, { selection: 'new' }));
    expect(await readPlan(database)).toEqual(['not_due', 'forced', 'new', 'cadence/not_selected']);
  });

  it('counts nobody whose last screening still holds as left out by a selection', async () => {
    const dueAndValid = { screenedAt: hoursAgo(26.5) };
    const customers = [dueAndValid, { screenedAt: hoursAgo(27.5) }, { ...dueAndValid, hasFailed: true }];
    await fillPlanningWorld(database, customers, hoursAgo(26.5));
    for (const selection of ['new', 'forced'] as const) {
      await store(buildPlanInput(now, { selection }));
      expect(await readPlan(database)).toEqual([
        'cadence/not_due',
        'cadence/not_selected',
        'previously_failed/not_selected',
      ]);
    }
  });

  it('asks about whom a run that was given up had left or not had confirmed, for its reason, whatever is selected', async () => {
    const recently = { screenedAt: hoursAgo(2) };
    await fillPlanningWorld(database, [recently, recently, recently, recently, {}], hoursAgo(3));
    await database.runScript(`
      insert into planned (run_id, party_id, request_id, customer_version, search_order, reason, skipped_because)
        values (2, 1, 1, 1, 1, 'overdue', null), (2, 2, 2, 1, 2, 'forced', null), (2, 3, 3, 1, 3, 'cadence', null), (2, 4, 4, 1, null, 'not_due', 'not_due');
      insert into batch (run_id, worker, number, wave, committed_at) values (2, 1, 1, 1, now());
      insert into call (run_id, request_id, worker, number, started_at, ended_at, outcome, response_id, batch)
        values (2, 2, 1, 1, now(), now(), 'ok', 1, 1);
      insert into failure (run_id, request_id, reason) values (2, 3, 'http_400');
      update run set unconfirmed_because = 'not_confirmed' where run_id = 2`);
    await store(buildPlanInput(now, { selection: 'forced', leftRuns: [2] }));
    expect(await readPlan(database)).toEqual(['overdue', 'forced', 'not_due', 'not_due', 'new/not_selected']);
  });

  it('takes age from when the night began, so that a night of eleven hours is followed by a whole one', async () => {
    await fillPlanningWorld(database, [{ screenedAt: hoursAgo(24) }, { screenedAt: hoursAgo(13) }], hoursAgo(24));
    await store(buildPlanInput(now));
    expect(await readPlan(database)).toEqual(['cadence', 'cadence']);
  });

  it('asks anew about whoever was screened by a clock that was ahead, and uses no such answer again', async () => {
    const ahead = { screenedAt: hoursAgo(-1.1) };
    await fillPlanningWorld(database, [ahead, { screenedAt: hoursAgo(-0.5) }, { request: 1 }], hoursAgo(-1.2));
    const stored = await store(buildPlanInput(now, { reuse: { answeredAfter: hoursAgo(12), settingsDigest: 's' } }));
    expect(await readPlan(database)).toEqual(['overdue', 'not_due', 'new']);
    expect(stored).toMatchObject({ planned: 2, reused: 0, searches: 1 });
    await judgeAgain(database);
    const { groups } = await readCoverage(database, buildPlanInput(now));
    expect(groups.map(({ status, customers }) => [status, customers]).sort()).toEqual([
      ['never', 1],
      ['overdue', 1],
      ['valid', 1],
    ]);
  });

  it('searches by risk, then by reason, then by age, a shared request at its earliest place', async () => {
    const at = (hours: number) => ({ screenedAt: hoursAgo(hours) });
    await fillPlanningWorld(
      database,
      [
        { riskTier: 'low' },
        { riskTier: 'medium', ...at(24) },
        { riskTier: 'high', ...at(25) },
        { ...at(26) },
        { riskTier: 'high', ...at(60) },
        { riskTier: 'high', ...at(24), hasFailed: true },
        {},
        { riskTier: 'medium', ...at(30) },
        { riskTier: 'low', ...at(24), request: 4 },
      ],
      hoursAgo(30),
    );
    await store(buildPlanInput(now));
    expect(await readOrder()).toEqual([7, 5, 6, 4, 3, 8, 2, 1]);
  });

  it('leaves out by the budget whoever comes last, keeps the reserve for new customers, and says who cannot wait', async () => {
    const due = { screenedAt: hoursAgo(24) };
    const overdue = { riskTier: 'low', screenedAt: hoursAgo(72) } as const;
    await fillPlanningWorld(
      database,
      [
        due,
        due,
        { ...due, request: 1 },
        { ...due, riskTier: 'low' },
        overdue,
        { riskTier: 'low' },
        { riskTier: 'low' },
      ],
      hoursAgo(30),
    );
    const input = buildPlanInput(now, { allowance: { general: 2, reserved: 1 } });
    const stored = await store(input);
    expect((await readPlan(database)).join(' ')).toBe(
      'cadence cadence cadence cadence/over_budget overdue/over_budget new new/over_budget',
    );
    expect((await previewPlan(database, input, 10)).leftOut).toEqual(['C-7', 'C-5']);
    expect(stored).toMatchObject({
      planned: 4,
      searches: 3,
      overBudget: { cadence: 1, overdue: 1, new: 1 },
    });
  });

  it('without any budget left asks about nobody', async () => {
    await fillPlanningWorld(database, [{ screenedAt: hoursAgo(24) }, {}], hoursAgo(30));
    await store(buildPlanInput(now, { allowance: { general: 0, reserved: 0 } }));
    expect(await readPlan(database)).toEqual(['cadence/over_budget', 'new/over_budget']);
  });

  it('uses a young answer to the same request again, unless somebody forces a search for it', async () => {
    await fillPlanningWorld(
      database,
      [
        { screenedAt: hoursAgo(3) },
        { request: 1 },
        { screenedAt: hoursAgo(13) },
        { request: 3 },
        { screenedAt: hoursAgo(3) },
        { request: 5 },
        { request: 5 },
      ],
      hoursAgo(14),
    );
    await forceScreenings(database, 3, [{ partyId: 7, because: 'by hand' }]);
    const plan = (settingsDigest: string) =>
      store(buildPlanInput(now, { reuse: { answeredAfter: hoursAgo(12), settingsDigest } }));
    // Party 2 by the answer to party 1; party 4's is too old, and party 6 shares the search that is forced.
    expect(await plan('s')).toMatchObject({ planned: 4, reused: 1, searches: 2 });
    expect(await plan('other')).toMatchObject({ planned: 4, reused: 0, searches: 3 });
  });

  it('searches for whoever is forced, although a plan that is replaced used an answer again', async () => {
    await fillPlanningWorld(database, [{ screenedAt: hoursAgo(3) }, { request: 1 }], hoursAgo(14));
    const input = buildPlanInput(now, { reuse: { answeredAfter: hoursAgo(12), settingsDigest: 's' } });
    expect(await store(input)).toMatchObject({ planned: 1, reused: 1, searches: 0 });
    await removePlan(database, 3);
    expect(await readValue(database, z.string(), 'select stage from run where run_id = 3')).toBe('imported');
    await forceScreenings(database, 3, [{ partyId: 2, because: 'a list' }]);
    expect(await store(input)).toMatchObject({ planned: 1, reused: 0, searches: 1, reasons: { forced: 1 } });
  });

  it('names the last answer as known only where the same bytes leave every party of a search as it is', async () => {
    const screened = { screenedAt: hoursAgo(25) };
    const knownOf = async (
      change: string,
      program: { version?: string; settingsDigest?: string } = {},
      more: readonly PlannedCustomer[] = [],
    ) => {
      await fillPlanningWorld(database, [screened, { ...screened, request: 1 }, screened, {}, ...more], hoursAgo(26));
      await database.runScript(change);
      await store(buildPlanInput(now));
      const known = new Map<number, unknown>();
      for await (const chunk of readSearchTasks({ database, version: 'v', settingsDigest: 's', ...program }, 3, 3))
        for (const task of chunk) known.set(task.requestId, task.known);
      return [1, 3, 4].map((requestId) => known.get(requestId) ?? null);
    };
    const answer = { responseId: 1, digest: '01' };
    expect(await knownOf('')).toEqual([answer, answer, null]);
    expect(await knownOf('', { version: 'w' })).toEqual([null, null, null]);
    expect(await knownOf('', { settingsDigest: 't' })).toEqual([null, null, null]);
    // A new customer of the name has no state that could be dated.
    expect(await knownOf('', {}, [{ request: 1 }])).toEqual([null, answer, null]);
    // One party of a search that two share is enough.
    for (const change of [
      `customer_version = 9`,
      `request_id = 3`,
      `state = 'truncated'`,
      `unreturned = '[]'`,
      `settings_digest = 't'`,
    ])
      expect(await knownOf(`update party_state set ${change} where party_id = 2`)).toEqual([null, answer, null]);
    const reused = `insert into reused (run_id, party_id, response_id, answered_run_id, answered_at) values (1, 2, 1, 1, now())`;
    expect(await knownOf(reused)).toEqual([null, answer, null]);
    // An answer of a program that was started again, perhaps as another version.
    expect(await knownOf('update run set resumed = 1 where run_id = 1')).toEqual([null, null, null]);
    // Lists of this length are known to be cut, or an answer says so itself, and the state does not.
    const five = `alter table response disable trigger user; update response set total = 5, matches = 5, listed_ids = '{1,1,1,1,1}', are_hits = '{f,f,f,f,f}', scores = '{0,0,0,0,0}';
      update party_state set state = 'below_threshold';`;
    expect(await knownOf(five)).toEqual([answer, answer, null]);
    const cap = `update account set list_caps = '[{"length": 5, "foundRunId": 2, "goneAt": null}]';`;
    expect(await knownOf(`${five} ${cap}`)).toEqual([null, null, null]);
    expect(
      await knownOf(
        `${five} ${cap} update account set list_caps = jsonb_set(list_caps, '{-1,goneAt}', to_jsonb(now()))`,
      ),
    ).toEqual([answer, answer, null]);
    expect(await knownOf(`${five} update response set truncated = true`)).toEqual([null, null, null]);
    const hit = `alter table response disable trigger user; update response set hits = 1, matches = 1, total = 1, listed_ids = '{1}', are_hits = '{t}', scores = '{1}'`;
    expect(await knownOf(hit)).toEqual([null, null, null]);
  });
});
