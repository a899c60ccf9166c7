import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeRun, listOfRun } from '../../../src/runs/describe-run.js';
import { parseRunId } from '../../../src/runs/run-reference.js';
import { type Database, findValue, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { countSums, runCountsSchema } from '../../../src/vocabulary/facts.js';
import { describeOnce, describeOnEachDatabase, leaveSqlToPostgres, testDatabases } from '../../helpers/databases.js';
import { openPreparedSites, openSmallSites } from '../../helpers/small-site.js';
import { people, type TestAppContext } from '../../helpers/small-world.js';

/** Takes the answer of a request from the ledger, and notes a failure in its place. */
const toFailureSql = (request: string): string => `
  alter table call disable trigger call_ends_once;
  insert into failure (run_id, request_id, reason) select run_id, request_id, 'http_422' from call where batch is not null and request_id = ${request};
  update call set batch = null, response_id = null where batch is not null and request_id = ${request};`;

/** Calls `interfere` once all searches are made, just before the run is added up. */
function interfereBeforeSums(app: TestAppContext, database: Database, interfere: () => Promise<void>): TestAppContext {
  let isScreened = false;
  const emit: TestAppContext['emit'] = (event) => {
    app.emit(event);
    isScreened ||= event.kind === 'stage_finished' && event.stage === 'screen';
  };
  const transaction: Database['transaction'] = async (work) => {
    if (isScreened) {
      const stage = await findValue(database, z.string(), 'select stage from run order by run_id desc limit 1');
      isScreened = stage !== 'screened';
      if (!isScreened) await interfere();
    }
    return database.transaction(work);
  };
  return { ...app, emit, database: replaceMethods(database, { transaction }) };
}

/** The same object with some methods replaced. */
function replaceMethods<T extends object>(whole: T, replaced: Partial<T>): T {
  return new Proxy(whole, {
    get: (target, name) => {
      if (name in replaced) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The same database; `meddle` is done before the query of this number, whether it is part of a transaction or not. */
function meddleBefore(database: Database, number: number, meddle: () => Promise<unknown>): Database {
  let queries = 0;
  const toQuery =
    (target: Pick<Database, 'query'>): Database['query'] =>
    async (...words) => {
      queries += 1;
      if (queries === number) await meddle();
      return target.query(...words);
    };
  return replaceMethods(database, {
    query: toQuery(database),
    transaction: (work) =>
      database.transaction((transaction) => work(replaceMethods(transaction, { query: toQuery(transaction) }))),
  });
}

const tamperings: readonly [string, string, RegExp][] = [
  [
    'a customer who dropped out of the plan',
    'delete from planned where party_id = 3',
    /in scope = customers in the plan does not hold in the database: 6 is not 5/,
  ],
  [
    'a reject that is not kept',
    'update roster_import set rows = rows + 1, rejected = rejected + 1',
    /rows = customers \+ rejected \+ duplicates does not hold in the database: 7 is not 6/,
  ],
  [
    'an answer that nobody asked for',
    `insert into call (run_id, request_id, worker, number, started_at, ended_at, response_id, batch, status, outcome)
     select run_id, request_id + 1000, worker, number + 1000, started_at, ended_at, response_id, batch, status, outcome
     from call where batch is not null limit 1`,
    /answered searches = answered searches in the ledger does not hold in the database: 6 is not 7/,
  ],
];

describeOnEachDatabase('the sums of a run', (open, databases) => {
  leaveSqlToPostgres(databases, 'turn red for');
  const openSite = openSmallSites(open);
  /** Sites whose run has made all searches, and has stopped before it was added up. */
  const openScreened = openPreparedSites(databases, async ({ database, run, work }) => {
    const stop = () => Promise.reject(new Error('gone'));
    await expect(run(interfereBeforeSums(await work(), database, stop))).rejects.toThrow('gone');
  });

  it('are confirmed by the database, also later, and cannot be stored as complete when they do not agree', async () => {
    const { database, run, work } = await openSite();
    const app = await work();
    const { runId, state } = await run(app);
    expect(state).toBe('complete');
    const shown = await describeRun(app, runId);
    expect(shown.balance).toMatchObject({ disagreements: [] });
    expect(shown.balance?.lines.map(({ left, right }) => left === right)).toEqual(Array(5).fill(true));
    expect(shown).toMatchObject({ planned: { new: people.length }, resumed: 0, heldBy: null });
    expect(shown.calls.sent).toBe(Object.values(shown.calls.byOutcome).reduce((sum, count) => sum + count, 0));
    const spoil = sql`update run set sums = jsonb_set(sums, '{counts,screened}', '5') where run_id = ${parseRunId(runId)}`;
    await expect(database.execute(spoil)).rejects.toMatchObject({ constraint: 'run_sums_hold' });
    const names = Object.keys(runCountsSchema.shape);
    const broken = await readColumn(
      database,
      z.string(),
      sql`select name from run, unnest(${names}::text[]) as name
       where run_id = ${parseRunId(runId)} and not run_sums_hold(jsonb_set(sums, array['counts', name], to_jsonb((sums -> 'counts' ->> name)::integer + 1)))`,
    );
    expect(new Set(broken)).toEqual(new Set(countSums.flatMap(({ whole, parts }) => [whole, ...parts])));
    await database.runScript(
      toFailureSql(`(select request_id from party join customer using (customer_id) where reference = 'C-1')`),
    );
    expect((await describeRun(app, runId)).balance?.disagreements).toEqual([
      'screened is 6 by the sums and 5 by the database',
      'failed is 0 by the sums and 1 by the database',
    ]);
    expect(
      await listOfRun(database, { runId: parseRunId(runId) }, { list: 'failed', limit: 20, after: null }),
    ).toMatchObject({
      customers: [{ reference: 'C-1', planned: 'new', because: 'http_422' }],
      next: null,
    });
  });

  it.each(tamperings)('turn red for %s', async (_, sql, reason) => {
    const { database, run, work } = await openScreened();
    const summary = await run(interfereBeforeSums(await work(), database, () => database.runScript(sql)));
    expect(summary).toMatchObject({ state: 'unbalanced', exitCode: 1 });
    expect(summary.reasons.join('\n')).toMatch(reason);
  });
});

describeOnce('a run that is described while it saves', () => {
  const { open, locate } = testDatabases('postgres');
  let location: Awaited<ReturnType<typeof locate>>;
  const openSite = openSmallSites(async () => {
    location = await locate();
    return open(location);
  });

  it('has sums that fit together, whatever is committed between two of the queries', async () => {
    const names = Array.from({ length: 40 }, (_, at) => `Customer Number ${at}`);
    const { database, run, work } = await openSite(names);
    const app = await work();
    const { runId } = await run(app);
    await database.execute(
      `update run set state = 'running', finished_at = null, sums = null, stage = 'planned', applied_wave = 0`,
    );
    const writer = await open(location);
    let meddled = 0;
    for (let number = 1; number === meddled + 1; number += 1) {
      const meddle = async () => {
        meddled += 1;
        await writer.runScript(toFailureSql(`(select min(request_id) from screening where outcome = 'screened')`));
      };
      const described = await describeRun({ ...app, database: meddleBefore(database, number, meddle) }, runId, {
        list: 'failed',
        limit: 100,
        after: null,
      });
      expect([number, described.balance?.disagreements]).toEqual([number, []]);
      expect([number, described.listed.customers.length]).toEqual([number, described.sums?.counts.failed]);
    }
    expect((await describeRun(app, runId)).sums?.counts.failed).toBeGreaterThan(20);
  });
});
