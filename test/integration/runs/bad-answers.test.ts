import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Fault } from '../../../src/sandbox/trouble/faults.js';
import type { Database } from '../../../src/store/database.js';
import { countLedger } from '../../campaign/count-ledger.js';
import { makeCrowdWorld, toCrowdName } from '../../campaign/crowd.js';
import { testDatabases } from '../../helpers/databases.js';
import { printFigure } from '../../helpers/print-figure.js';
import { openSmallSites } from '../../helpers/small-site.js';
import { startSwappingProxy } from '../../helpers/swapping-proxy.js';

const rate = { perSecond: 5_000, concurrency: 16 };

type BadAnswer = (name: string) => Pick<Extract<Fault, { raw: unknown }>, 'raw'> | { huge: { megabytes: number } };

const match = (facts: object): object => ({
  id: 'amla_x',
  name: 'X',
  schema: 'Person',
  match: true,
  score: 0.9,
  topics: ['sanction'],
  birth_date: [],
  country: [],
  ...facts,
});
const raw =
  (toBody: (name: string) => unknown, status = 201): BadAnswer =>
  (name) => {
    const body = toBody(name);
    return { raw: { status, body: typeof body === 'string' ? body : JSON.stringify(body) } };
  };

/** Answers that say nothing about anybody. */
const badAnswers: readonly BadAnswer[] = [
  raw(() => '<html><body>Welcome</body></html>', 200),
  raw(() => '<html><body>Welcome</body></html>'),
  raw(() => ''),
  raw((name) => `{"query":"${name}","type":"person","total":0,"resu`),
  raw((name) => ({ query: name, type: 'person', total: 'none', results: [] })),
  raw(
    (name) =>
      `{"query":"${name}","type":"person","total":1,"results":[${JSON.stringify(match({ score: 0 })).replace('"score":0', '"score":NaN')}]}`,
  ),
  raw((name) => ({ query: name, type: 'person', total: 1, results: [match({ score: 'NaN' })] })),
  raw((name) => ({ query: name, type: 'person', total: 0 })),
  raw((name) => ({ query: name, type: 'person', total: 0, results: [match({})] })),
  raw((name) => ({ query: `${name} Other`, type: 'person', total: 0, results: [] })),
  raw((name) => ({ query: name, type: 'entity', total: 0, results: [] })),
  raw((name) => ({ query: name, type: 'person', total: 0, results: [] }), 202),
  raw((name) => [{ query: name, type: 'person', total: 0, results: [] }]),
  raw(() => 'null'),
  () => ({ huge: { megabytes: 17 } }),
];

const stateRow = z.object({
  reference: z.string(),
  name: z.string(),
  state: z.string().nullable(),
  outcome: z.string(),
  body: z.string().nullable(),
});

/** How each customer stands after the only run. */
const readStandings = (database: Database): Promise<z.output<typeof stateRow>[]> =>
  database.query(
    stateRow,
    `select reference, request.name, state.state, screening.outcome, response.body
     from screening join party using (party_id) join customer using (customer_id)
     join screening_request request on request.request_id = screening.request_id
     left join party_state state on state.party_id = party.party_id
     left join response on response.response_id = state.response_id`,
  );

describe('answers that are not what they should be', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);

  it('never clear anybody: each costs its own customer, and the ledger has every call', async () => {
    const customers = 1_500;
    const { sandbox, database, work, run } = await begin(
      Array.from({ length: customers }, (_, number) => toCrowdName(number)),
    );
    sandbox.setWorld(makeCrowdWorld(customers, 1));
    // Every hundredth, some of them listed; every third would be answered well if it were asked again.
    const affected = Array.from({ length: customers / 100 }, (_, index) => index * 100 + (index % 2 === 0 ? 4 : 8));
    const isPassing = (index: number): boolean => index % 3 === 2;
    sandbox.setFaults(
      affected.map((number, index) => {
        const name = toCrowdName(number);
        return {
          name,
          times: isPassing(index) ? 1 : 100,
          ...(badAnswers[index % badAnswers.length] ?? raw(() => ''))(name),
        };
      }),
    );
    const since = new Date(Date.now() - 1_000);
    const summary = await run(await work({ rate, settings: { service: { baseUrl: sandbox.url, rate } } }));
    const standings = new Map((await readStandings(database)).map((row) => [row.name, row]));
    const wrong = affected.flatMap((number, index) => {
      const { outcome = '', body = null } = standings.get(toCrowdName(number)) ?? {};
      const isRight = outcome === 'failed' ? body === null : isPassing(index) && outcome === 'screened';
      return isRight ? [] : [`${toCrowdName(number)}: ${outcome} after answer ${index}`];
    });
    const failed = [...standings.values()].filter(({ outcome }) => outcome === 'failed').length;
    const calls = sandbox.ledger().filter(({ path }) => path === '/aml/search');
    const ledger = await countLedger(database, since, calls);
    printFigure(
      `${affected.length} of ${customers} customers answered badly: ${failed} failed, ${wrong.length} wrongly settled, ledger ${ledger.noted} for ${calls.length} calls`,
    );
    expect({ wrong, state: summary.state }).toEqual({ wrong: [], state: 'incomplete' });
    expect(ledger).toMatchObject({ noted: calls.length, unknown: 0, wrong: [] });
    expect(standings.size).toBe(customers);
    expect(summary.counts).toMatchObject({ screened: customers - failed, failed, remaining: 0 });
  });

  it("that go to each other's callers are all caught, and none is stored under the wrong name", async () => {
    const customers = 400;
    const { sandbox, database, work, run } = await begin(
      Array.from({ length: customers }, (_, number) => toCrowdName(number)),
    );
    sandbox.setWorld(makeCrowdWorld(customers, 1));
    const proxy = await startSwappingProxy(sandbox.url, 10);
    try {
      const workplace = await work({ rate, url: proxy.url, settings: { service: { baseUrl: proxy.url, rate } } });
      await run(workplace);
      const standings = await readStandings(database);
      const stored = standings.filter(({ body }) => body !== null);
      const misplaced = stored.filter(({ name, body }) => !(body ?? '').includes(JSON.stringify(name)));
      const [row] = await database.query(
        z.object({ caught: z.number() }),
        "select count(*)::integer as caught from search_attempt where outcome = 'bad_response'",
      );
      printFigure(
        `${proxy.crossed()} answers crossed: ${row?.caught} caught, ${misplaced.length} of ${stored.length} stored under another name`,
      );
      expect(proxy.crossed()).toBeGreaterThan(9);
      expect({ caught: row?.caught, misplaced }).toEqual({ caught: proxy.crossed(), misplaced: [] });
    } finally {
      await proxy.close();
    }
  });
});
