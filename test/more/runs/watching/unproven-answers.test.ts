import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { measureCoverage } from '../../../../src/runs/coverage.js';
import type { RunSummary } from '../../../../src/runs/run-summary.js';
import { type Database, findValue } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/database/statement.js';
import { countReportedUnapplied } from '../../../../src/store/night/apply-answers.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { showRun } from '../../../helpers/show-run.js';
import { listenAlong, openSmallSites, type SmallSite, searched } from '../../../helpers/small-site.js';
import {
  controls,
  dayMs,
  hourMs,
  listed,
  people,
  type TestAppContext,
  toCsv,
  usualScreening,
  watchlist,
} from '../../../helpers/small-world.js';

const world = { watchlist, dossiers: [] };
const blind = { watchlist: [], dossiers: [] };
/** Only the control, and everybody: what is answered does not hang on who is asked about first. */
const nobody = { watchlist: watchlist.slice(2), dossiers: [] };
const everybody = {
  watchlist: [...nobody.watchlist, ...people.map((name, index) => listed(`all${index}`, name))],
  dossiers: [],
};
const everyThree = { screening: { ...usualScreening, leaveAfterDays: 1, controlsEvery: 3 } };
const oneByOne = { rate: { perSecond: 400, concurrency: 1 } };
const [wilhelmina = '', oktavian = '', ...others] = people;

const stateRow = z.object({
  reference: z.string(),
  state: z.string(),
  runId: z.number(),
  screenedAt: z.date(),
  responseId: z.number(),
  customerVersion: z.number(),
  reportedScores: z.unknown(),
  unreturned: z.unknown(),
});

/** The present state of each party, and since when. */
const readStates = (database: Database): Promise<z.infer<typeof stateRow>[]> =>
  database.query(
    stateRow,
    `select customer.reference, state, run_id, screened_at, response_id, party_state.customer_version, reported_scores, unreturned
     from party_state join party using (party_id) join customer using (customer_id) order by customer.reference`,
  );

const countRows = async (database: Database, table: string): Promise<number> => {
  const rows = await findValue(database, z.number(), `select count(*)::integer as rows from ${table}`);
  return rows ?? 0;
};

/** A workplace whose service finds nobody once customers are searched. */
const blindAmid = (app: TestAppContext, { sandbox }: Pick<SmallSite, 'sandbox'>, done = 0): TestAppContext =>
  listenAlong(app, (event) => {
    const isNow = done === 0 ? event.kind === 'stage_started' && event.stage === 'screen' : event.kind === 'progress';
    if (isNow && (event.kind !== 'progress' || event.done === done)) sandbox.setWorld(blind);
  });

/** The workplace of a run that is stopped after so many searches. */
function stopAfter(app: TestAppContext, done: number): { app: TestAppContext; signal: AbortSignal } {
  const stop = new AbortController();
  const listening = listenAlong(app, (event) => {
    if (event.kind === 'progress' && event.done === done) stop.abort(new Error('asked to stop'));
  });
  return { app: listening, signal: stop.signal };
}

/** What runs found and did not apply. */
const unapplied = {
  change: 'change where change_id not in (select change_id from change_event)',
  answer: 'answer join run using (run_id) where answer.wave > run.applied_wave',
};

const readChanges = (run: RunSummary): Promise<string> => readFile(join(run.artifacts ?? '', 'changes.csv'), 'utf8');

describeOnPostgres('an answer is applied only once a later control search has passed', (open) => {
  const begin = openSmallSites(open);

  it('answers of a service that finds nobody any more are not applied: customers without another answer stay new, and no match is removed', async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    const onboard = { kind: 'onboard', selection: 'new' } as const;
    const start = -10 * dayMs;
    const blindStart = await run(
      blindAmid(await work({ offsetMs: start - hourMs, settings: everyThree }), site),
      onboard,
    );
    sandbox.setWorld(world);
    expect(blindStart).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 6 } });
    expect(await readStates(database)).toEqual([]);
    const again = await run(await work({ offsetMs: start, settings: everyThree }), { ...onboard, writeReport: true });
    expect(again).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6, hits: 2, changes: 0 } });
    expect((await showRun(database, 'default', again.runId)).baselineChanges).toHaveLength(2);

    const before = await readStates(database);
    expect(before.map(({ state }) => state)).toEqual(['open_alert', 'open_alert', 'clear', 'clear', 'clear', 'clear']);

    const countUnapplied = (what: 'change' | 'answer') => countRows(database, unapplied[what]);
    const [changes, answers] = [await countUnapplied('change'), await countUnapplied('answer')];
    const patchy = blindAmid(await work({ offsetMs: -2 * dayMs, settings: everyThree }), site);
    const red = await run(patchy, { writeReport: true });
    sandbox.setWorld(world);
    expect(red).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 6, changes: 0 } });
    expect((await readChanges(red)).trim().split('\n')).toHaveLength(1);
    expect(await readStates(database)).toEqual(before);
    expect(await countUnapplied('change')).toBeGreaterThan(changes);
    expect(await countUnapplied('answer')).toBeGreaterThan(answers);

    const good = await run(await work({ settings: everyThree }), { writeReport: true });
    expect(good).toMatchObject({ state: 'complete', counts: { screened: 6, changes: 0 } });
    expect((await readChanges(good)).trim().split('\n')).toHaveLength(1);
    expect((await showRun(database, 'default', good.runId)).comparedWith?.runId).not.toBe(red.runId);
    expect((await readStates(database)).map(({ state }) => state)).toEqual(before.map(({ state }) => state));
  });

  it('answers that a periodic round has proven are applied, with their changes, when a later round fails', async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    sandbox.setWorld(nobody);
    await run(await work({ offsetMs: -2 * dayMs, settings: everyThree }));
    sandbox.setWorld(everybody);
    const red = await run(
      blindAmid(await work({ offsetMs: -10 * hourMs, settings: everyThree, ...oneByOne }), site, 4),
      {
        writeReport: true,
      },
    );
    sandbox.setWorld(everybody);
    expect(red).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 3, failed: 3, changes: 3 } });
    expect((await readChanges(red)).trim().split('\n')).toHaveLength(4);
    const kept = (await readStates(database)).filter(({ runId }) => runId === 2);
    expect(kept.map(({ state }) => state)).toEqual(['open_alert', 'open_alert', 'open_alert']);
    const good = await run(await work({ offsetMs: -hourMs, settings: everyThree }));
    expect(good).toMatchObject({ state: 'complete', counts: { planned: 3, screened: 3, changes: 3 } });
  });

  it('an abandoned run applies no answer without a later control search, and part of a round before a crash proves no answer', async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    sandbox.setWorld(everybody);
    await run(await work({ offsetMs: -2 * dayMs }));
    const before = await readStates(database);
    const stopping = stopAfter(await work({ offsetMs: -2 * hourMs, ...oneByOne }), 4);
    const stopped = await run(blindAmid(stopping.app, site), { writeReport: true }, stopping.signal);
    sandbox.setWorld(everybody);
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4 });
    expect(stopped.reasons[0]).toContain(
      'the answers for 4 customers count only once further control searches have passed',
    );
    expect(await readStates(database)).toEqual(before);

    const next = await run(await work(), { kind: 'screen' });
    expect(next).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6, hits: 6, changes: 0 } });
    const given = await showRun(database, 'default', stopped.runId);
    expect(given).toMatchObject({ state: 'abandoned', failedBecause: { not_confirmed: 4 }, changes: [] });
    expect(given.stateReasons.join()).toContain('its answers for 4 customers do not count, because no control search');
    const after = await readStates(database);
    expect(after.map(({ responseId, state }) => [responseId, state])).toEqual(
      before.map(({ responseId, state }) => [responseId, state]),
    );

    const killing = stopAfter(await work({ offsetMs: 2 * dayMs - 2 * hourMs, ...oneByOne }), 4);
    const killed = await run(blindAmid(killing.app, site), {}, killing.signal);
    const killedId = killed.runId.split('-').at(-1);
    // As after a crash following the control search that expects no match: a blind service passes it.
    await database.execute(
      `update run set state = 'running', finished_at = null, sums = null where run_id = ${killedId}`,
    );
    await database.execute(
      `insert into control_outcome (run_id, round, occasion, searches, ordinal, type, name, expect, topics, verdict, asked_at)
       select run_id, 2, 'periodic', 4, ordinal, type, name, expect, topics, verdict, asked_at
       from control_outcome where run_id = ${killedId} and expect = 'none'`,
    );
    const red = await run(await work({ offsetMs: 2 * dayMs - hourMs }));
    expect(red).toMatchObject({
      runId: killed.runId,
      state: 'incomplete',
      counts: { screened: 0, failed: 6, changes: 0 },
    });
    expect(await readStates(database)).toEqual(after);
  });

  it('the first round of a resumed run decides about the answers before it; without control searches the next run applies them', async () => {
    const site = await begin();
    const { sandbox, database, work, run } = site;
    const first = stopAfter(await work({ offsetMs: -2 * hourMs, ...oneByOne }), 3);
    const stopped = await run(first.app, {}, first.signal);
    expect(stopped).toMatchObject({ state: 'stopped', counts: { screened: 3 } });
    const afterwards = await measureCoverage(await work({ offsetMs: -hourMs }), { list: 0 });
    expect(afterwards.total).toMatchObject({ inScope: 6, valid: 0, never: 6, states: { not_screened: 6 } });
    const second = stopAfter(await work({ offsetMs: -hourMs, ...oneByOne }), 4);
    expect(await run(second.app, {}, second.signal)).toMatchObject({ runId: stopped.runId, state: 'stopped' });
    // A signal leaves the proven ones to whoever takes the roster next.
    expect((await measureCoverage(await work(), { list: 0 })).total).toMatchObject({ valid: 0, never: 6 });
    sandbox.setWorld(blind);
    const red = await run(await work({ offsetMs: -hourMs / 2 }));
    sandbox.setWorld(world);
    // The first three were followed by the round of the first resumption, the fourth by none that passed.
    expect(red).toMatchObject({ runId: stopped.runId, state: 'incomplete', counts: { screened: 3, failed: 3 } });
    expect(await readStates(database)).toHaveLength(3);
    const good = await run(await work({ settings: everyThree }));
    expect(good).toMatchObject({ state: 'complete', counts: { planned: 3, screened: 3 } });
    expect(people.map((name) => searched(sandbox, name)).sort()).toEqual([1, 1, 1, 1, 1, 2]);

    const waiting = await countRows(database, unapplied.answer);
    const stopping = stopAfter(await work({ offsetMs: 2 * dayMs, ...oneByOne, settings: { controls: [] } }), 4);
    const unchecked = await run(stopping.app, {}, stopping.signal);
    expect(unchecked.reasons[0]).not.toContain('control searches');
    const next = await run(await work({ offsetMs: 2 * dayMs + hourMs, settings: { controls: [] } }), {
      kind: 'screen',
    });
    expect(next).toMatchObject({ counts: { planned: 2, screened: 2 } });
    expect(await countRows(database, unapplied.answer)).toBe(waiting);
  });

  it('answers of a service that finds everybody are not applied, nor their early warnings borne out, and a changed record is compared with the last applied answer', async () => {
    const site = await begin();
    const { sandbox, database, roster, work, run } = site;
    await run(await work({ offsetMs: -2 * dayMs }));
    const before = await readStates(database);
    const stopping = stopAfter(await work({ offsetMs: -2 * hourMs, ...oneByOne }), 4);
    sandbox.setWorld(everybody);
    expect(await run(stopping.app, {}, stopping.signal)).toMatchObject({ state: 'stopped' });
    const midway = await measureCoverage(await work({ offsetMs: -hourMs }), { list: 0 });
    expect(midway.total).toMatchObject({ valid: 0, overdue: 6 });
    await database.execute(
      `insert into outbox (
         organisation_id, kind, destination, content, run_id, dedup_key, state, first_change_id, last_change_id, changes, queued_at,
         next_attempt_at, give_up_at, sent_at
       )
       select 1, 'mail_warning', 'a@example.org', '{}', 2, 'warning/2', 'sent', min(change_id), max(change_id), count(*), now(), now(), now(), now()
       from change where run_id = 2 and severity = 'critical'`,
    );
    sandbox.setWorld({ ...everybody, watchlist: [...everybody.watchlist, listed('z', controls[1].name)] });
    const red = await run(await work({ offsetMs: -hourMs }));
    sandbox.setWorld(world);
    expect(red).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 6, changes: 0 } });
    expect(red.reasons.join('; ')).toMatch(/\d changes? that this run reported before the report did not hold/);
    const countReported = async (state: string): Promise<number> => {
      await database.execute(sql`update outbox set state = ${state} where kind = 'mail_warning'`);
      return countReportedUnapplied(database, 2);
    };
    expect(await countReported('sent')).toBeGreaterThan(0);
    expect(await countReported('queued')).toBe(await countReported('sent'));
    expect([await countReported('refused'), await countReported('given_up')]).toEqual([0, 0]);
    expect(await readStates(database)).toEqual(before);

    await writeFile(String(roster.csv?.path), toCsv([wilhelmina, `${oktavian} Junior`, ...others]));
    await run(blindAmid(await work({ offsetMs: dayMs }), site));
    expect(await readStates(database)).toEqual(before);
    sandbox.setWorld(world);
    const good = await run(await work({ offsetMs: 2 * dayMs }));
    expect(good).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6 } });
    const { changes } = await showRun(database, 'default', good.runId);
    expect(changes.map(({ party, cause }) => [party.reference, cause])).toEqual(
      changes.map(() => ['C-2', 'customer_record']),
    );
  });
});
