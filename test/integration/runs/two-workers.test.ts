import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toMatchSet } from '../../../src/matches/match.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { countUnproven, endWave, proveWave } from '../../../src/store/night/apply-answers.js';
import {
  insertBatch,
  markInFlightUnknown,
  noteInFlight,
  RunNumbers,
  saveAttempts,
} from '../../../src/store/night/ledger.js';
import { saveResponses } from '../../../src/store/night/responses.js';
import { readSearchTasks, type SearchTask, saveNextStates } from '../../../src/store/night/screenings.js';
import { readRun, readRunHolders, takeOverRun } from '../../../src/store/runs.js';
import { describeOnEachDatabase, readRows } from '../../helpers/databases.js';
import { listenAlong, openSmallSites, searched } from '../../helpers/small-site.js';
import { dayMs, people } from '../../helpers/small-world.js';

/** Stores a search by a worker as its process does: noted, and then saved with its batch. Nobody is found. */
async function saveSearch(database: Database, numbers: RunNumbers, accountId: number, task: SearchTask): Promise<void> {
  const { requestId, type, name, parties } = task;
  const now = new Date();
  const data = { query: name, type, total: 0, results: [] };
  const body = JSON.stringify(data);
  const digest = createHash('sha256').update(body).digest('hex');
  const number = numbers.nextCalls(1);
  const batch = numbers.nextBatch();
  await database.transaction(async (transaction) => {
    await noteInFlight(transaction, numbers, number, [requestId], now);
    const responses = await saveResponses(transaction, 1, [{ digest, body, matchSet: toMatchSet(data) }], now);
    const responseId = responses.get(digest) ?? 0;
    await insertBatch(transaction, numbers, batch, now);
    const attempt = { number, startedAt: now, endedAt: now, status: 201, outcome: 'ok', serviceRequestId: null };
    const attempts = [{ requestId, attempts: [attempt], unsent: [] }];
    await saveAttempts(transaction, numbers, attempts, { batch, responses: new Map([[requestId, responseId]]) });
    const states = parties.map(({ partyId, customerVersion }) => ({
      partyId,
      requestId,
      responseId,
      customerVersion,
      settingsDigest: 'settings-of-the-test',
      reportedScores: {},
      unreturned: [],
      state: 'clear' as const,
    }));
    await saveNextStates(transaction, { accountId, runId: numbers.runId }, states);
  });
}

describeOnEachDatabase('a run of two workers', (open) => {
  const openSite = openSmallSites(open);

  it('proves and applies the answers of both, balances, and ends the calls in flight of both', async () => {
    const { sandbox, database, work, run } = await openSite();
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const app = await work({ offsetMs: -dayMs / 24, settings: { controls: [] } });
    const stop = new AbortController();
    const stopping = listenAlong(app, (event) => {
      if (event.kind === 'stage_started' && event.stage === 'screen') stop.abort(new Error('asked to stop'));
    });
    expect(await run(stopping, {}, stop.signal)).toMatchObject({ state: 'stopped', counts: { screened: 0 } });
    const started = await readRun(database, 1);
    if (started === null) throw new Error('the run is missing');
    const holder = { epoch: 1, owner: 'the second process', takenAt: new Date(), differences: [] };
    const { wave: begunWave } = await takeOverRun(database, 1, holder);
    const [one, two] = [1, 2].map((worker) => new RunNumbers({ runId: 1, worker, wave: begunWave }));
    if (!one || !two) throw new Error('a process is missing');
    const accountId = started.accountId ?? 0;
    const tasks: SearchTask[] = [];
    for await (const some of readSearchTasks({ database, version: 'v', settingsDigest: 's' }, 1, 10))
      tasks.push(...some);
    expect(tasks).toHaveLength(people.length);
    const [first, second, third, fourth, fifth, sixth] = tasks;
    if (!first || !second || !third || !fourth || !fifth || !sixth) throw new Error('a search is missing');

    // Their batches and calls have the same numbers.
    for (const task of [first, second]) await saveSearch(database, one, accountId, task);
    for (const task of [third, fourth]) await saveSearch(database, two, accountId, task);
    expect(
      await readRows(database, 'select worker, number, wave from batch where run_id = 1 order by worker, number'),
    ).toEqual([1, 2].flatMap((worker) => [1, 2].map((number) => ({ worker, number, wave: one.wave }))));
    expect(await countUnproven(database, 1)).toEqual({ customers: 4, searched: 4 });
    const wave = await endWave(database, two);
    one.beginWave(two.wave);
    await saveSearch(database, one, accountId, fifth);
    await proveWave(database, 1, wave);
    expect(await countUnproven(database, 1)).toEqual({ customers: 1, searched: 1 });

    const findInFlight = () =>
      readColumn(
        database,
        z.number(),
        `select worker from call where run_id = 1 and outcome = 'in_flight' order by worker`,
      );
    for (const numbers of [one, two]) {
      const number = numbers.nextCalls(1);
      await noteInFlight(database, numbers, number, [sixth.requestId], new Date());
    }
    expect(await findInFlight()).toEqual([1, 2]);
    await markInFlightUnknown(database, 1);
    expect(await findInFlight()).toEqual([]);

    const ended = await run(await work({ settings: { controls: [] } }));
    expect(ended).toMatchObject({ state: 'complete', counts: { screened: 6, remaining: 0, searches: 6, attempts: 8 } });
    expect(await findInFlight()).toEqual([]);
    const counts = people.map((name) => searched(sandbox, name)).sort();
    expect(counts).toEqual([0, 0, 0, 0, 0, 1]);
    expect(
      await readRows(database, `select state, count(*)::integer as count from party_state group by state`),
    ).toEqual([{ state: 'clear', count: 6 }]);
    expect((await readRunHolders(database, 1)).map(({ owner }) => owner)).toEqual([
      app.owner,
      'the second process',
      app.owner,
    ]);
    expect(await readRows(database, 'select worker, calls from run_worker where run_id = 1 order by worker')).toEqual([
      { worker: 1, calls: 4 },
      { worker: 2, calls: 3 },
      { worker: 3, calls: 1 },
    ]);
  });
});
