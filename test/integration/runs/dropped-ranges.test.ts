import { EventEmitter, once } from 'node:events';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { formatRunDescription } from '../../../src/cli/commands/runs.js';
import { describeRun } from '../../../src/runs/describe-run.js';
import { dropRuns } from '../../../src/runs/dropped-runs.js';
import { replaySettings } from '../../../src/runs/replay.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { runReports } from '../../../src/runs/write-reports.js';
import { type Database, type Queryable, readColumn, readValue } from '../../../src/store/database/database.js';
import { describeOnEachDatabase, leaveSqlToPostgres } from '../../helpers/databases.js';
import { backUp, readAllRows, restore } from '../../helpers/former-databases.js';
import { makeAcceptance, openPreparedSites } from '../../helpers/small-site.js';
import { people } from '../../helpers/small-world.js';

const dayMs = 86_400_000;
const drop = (database: Queryable, runId = 1) =>
  readColumn(database, z.number(), `select drop_run_range($1, 'A. Meyer', 'kept long enough')`, [runId]);

/** What each night says of a customer, oldest first. */
const readNights = (database: Database, reference: string) =>
  database.query(
    z.object({ runId: z.number(), outcome: z.string(), calls: z.number(), isDropped: z.boolean() }),
    `select run_id, outcome, count(call_outcome)::integer as calls, bool_or(dropped_at is not null) as is_dropped
     from customer_search where reference = $1 group by run_id, outcome order by run_id`,
    [reference],
  );

const inTheWay: readonly [string, RegExp][] = [
  [`update run set state = 'stopped' where run_id = 255`, /run 255 has not ended/],
  ['update run set finished_at = now() where run_id = 255', /run 255 ended less than 32 days ago/],
  [`update run set selection = 'dirty' where run_id = 257`, /run 255 is one of the last three plans of its roster/],
  [
    `update party_state set run_id = 1 where party_id = 3;
     insert into planned_screening (run_id, party_id, request_id, customer_version, plan_reason, outcome, outcome_reason)
       values (255, 3, 3, 1, 'cadence', 'failed', 'held')`,
    /run 255 is held/,
  ],
  ['update party_state set run_id = 255 where party_id = 3', /the last answers of 1 customers are from it/],
  [
    `update run set state = 'stopped' where run_id = 258; update party_state set former_run_id = 1 where party_id < 3`,
    /the last answers of 2 customers are from it/,
  ],
  [
    `insert into plan_exception (run_id, party_id, response_id, answered_run_id, answered_at)
       select run_id, party_id, response_id, 255, now() from party_state where party_id = 3`,
    /the last answers of 1 customers are from it/,
  ],
  [
    `delete from party_state where party_id = 3;
     insert into plan_exception (run_id, party_id, because) values (255, 3, 'asked for')`,
    /1 of its forced searches have not been made since/,
  ],
  [
    `update run set state = 'stopped' where run_id = 258; update party_state set former_run_id = null where party_id = 3;
     insert into plan_exception (run_id, party_id, because) values (255, 3, 'asked for')`,
    /1 of its forced searches have not been made since/,
  ],
];

describeOnEachDatabase('a range of runs that is dropped', (_open, databases) => {
  leaveSqlToPostgres(databases, 'must be needed by nobody');
  /** Runs 1 and 255 are old, 256 to 258 are of the last days; in 256 the search for C-2 failed. */
  const openSite = openPreparedSites(databases, async ({ sandbox, database, run, work }) => {
    await run(await work({ offsetMs: -100 * dayMs }));
    await database.execute(`select setval('run_run_id_seq', 254)`);
    await run(await work({ offsetMs: -70 * dayMs }));
    await expect(drop(database)).rejects.toThrow(/not all of its runs have begun/);
    sandbox.setFaults([{ name: String(people[1]), times: 1, raw: { status: 422, body: '{}' } }]);
    expect(await run(await work({ offsetMs: -2 * dayMs }))).toMatchObject({ counts: { failed: 1 } });
    await run(await work({ offsetMs: -dayMs }));
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { screened: 6 } });
  });

  it('must be needed by nobody', async () => {
    const { database } = await openSite();
    for (const [sql, message] of inTheWay) {
      // Each is rolled back.
      const tamper = database.transaction(async (transaction) => {
        await transaction.runScript(sql);
        await drop(transaction);
      });
      await expect(tamper, sql).rejects.toThrow(message);
    }
    expect(await readNights(database, 'C-1')).toHaveLength(5);
  });

  it('is looked at for long before anybody has to wait, and again once nobody writes', {
    skip: databases.dialect === 'embedded',
  }, async () => {
    const { database } = await openSite();
    const steps = new EventEmitter();
    const held = once(steps, 'held');
    const holding = database.transaction(async (transaction) => {
      await transaction.execute('lock table party_state in access exclusive mode');
      steps.emit('held');
      await once(steps, 'over');
    });
    await held;
    const dropping = drop(database).catch((error: unknown) => error);
    const waiting = `select exists (select from pg_stat_activity where query like '%drop_run_range%' and wait_event_type = 'Lock'
      and pid <> pg_backend_pid() and datname = current_database()) as is_waiting`;
    await expect.poll(() => readValue(database, z.boolean(), waiting), { timeout: 4_000 }).toBe(true);
    await database.transaction(async (transaction) => {
      await transaction.execute(`set local lock_timeout = '1s'`);
      await transaction.execute('update run set finished_at = now() where run_id = 255');
    });
    steps.emit('over');
    await holding;
    expect(await dropping).toMatchObject({ message: expect.stringContaining('run 255 ended less than 32 days ago') });
  });

  // On the embedded database it is six nights, of which the first ones run code that is still being optimised.
  it('is no longer stored, and everything that reads it says so; evidence, sums and later nights stay', {
    timeout: 300_000,
  }, async () => {
    const site = await openSite();
    const { database, work, run } = site;
    const app = await work();
    await runReports(app, { runId: '256' });
    const before = await describeRun(app, '1');
    await database.execute(`insert into organisation (name, digest_key, created_at) values ('other', '\\x01', now())`);
    const [rows, nights] = [await readAllRows(database), await readNights(database, 'C-2')];
    expect(nights.map(({ outcome }) => outcome)).toEqual(['screened', 'screened', 'failed', 'screened', 'screened']);

    const who = { ...(await makeAcceptance(app)), reason: 'kept long enough' };
    const refuse = (text: string, words: string) =>
      expect(dropRuns(app, text, who)).rejects.toEqual(
        expect.objectContaining({ code: 'usage_error', message: expect.stringContaining(words) }),
      );
    await refuse('258', 'were not dropped: the runs 256 to 511 are needed: not all of its runs have begun');
    const give = (organisation: string) =>
      database.execute(
        `update run set organisation_id = organisation.organisation_id from organisation
         where organisation.name = $1 and run.run_id = 255`,
        [organisation],
      );
    await give('other');
    await refuse('1', 'are not all of this organisation');
    await give('default');
    // The embedded database has one connection, so that nobody else can be in the way.
    if (databases.dialect === 'postgres') {
      const steps = new EventEmitter();
      const begun = once(steps, 'begun');
      const reading = database.transaction(async (transaction) => {
        await transaction.execute('select from search_call limit 1');
        steps.emit('begun');
        await once(steps, 'over');
      });
      await begun;
      await refuse('1', 'try again when no run works');
      steps.emit('over');
      await reading;
    }
    const dropped = await dropRuns(app, '1', who);
    expect(dropped).toEqual([before.runId, expect.stringMatching(/-rescreen-255$/)]);
    await refuse('1', 'no longer stored');
    await expect(drop(database)).rejects.toThrow(/the runs 0 to 255 are not stored/);
    const places = `select relname::text from pg_class where relname ~ '_runs_0_255$'`;
    expect(await readColumn(database, z.string(), places)).toEqual([]);
    const kept = await readAllRows(database);
    const gone = ['search_batch', 'search_call', 'screening_block', 'planned_screening', 'run'];
    for (const [table, those] of Object.entries(rows)) {
      if (!gone.includes(table)) expect([table, kept[table]]).toEqual([table, those]);
    }

    const no = { outcome: 'no_longer_stored', calls: 0, isDropped: true };
    expect(await readNights(database, 'C-2')).toEqual([{ runId: 1, ...no }, { runId: 255, ...no }, ...nights.slice(2)]);
    const shown = await describeRun(app, '1');
    const { sums, calls } = before;
    expect(shown).toMatchObject({ sums, balance: null, calls: { sent: calls.sent, byOutcome: calls.byOutcome } });
    expect(formatRunDescription(shown)).toMatch(
      /^stored +its searches are no longer stored: dropped at .* by .+, because: kept long enough/m,
    );
    const isDropped = 'select bool_and(dropped_at is not null) as dropped from run_balance where run_id < 256';
    expect(await readValue(database, z.boolean(), isDropped)).toBe(true);
    const refused = expect.objectContaining({ message: expect.stringContaining('no longer stored') });
    await expect(describeRun(app, '255', { list: 'failed', limit: 1, after: null })).rejects.toEqual(refused);
    await expect(runReports(app, { runId: '255' })).rejects.toEqual(refused);
    const accepting = acceptRun(app, '255', await makeAcceptance(app), new AbortController().signal);
    await expect(accepting).rejects.toEqual(refused);
    // When C-2 was screened before is not known any more; nobody else was left out later.
    await expect(runReports(app, { runId: '256' })).rejects.toMatchObject({ code: 'history_dropped' });
    expect(await runReports(app, { runId: '257' })).toMatchObject([{ state: 'complete' }]);
    // Whoever came after the runs that were dropped was never screened before.
    const join = (runId: number) =>
      database.execute(
        `update customer set first_import_id = (select import_id from roster_import where run_id = $1) where reference = 'C-2'`,
        [runId],
      );
    await join(256);
    const directory = `${app.settings.reports.dir}-again`;
    expect(await runReports(app, { runId: '256', directory })).toHaveLength(1);
    await join(1);
    expect(await replaySettings(app, app.settings, null)).toMatchObject({ droppedRuns: 2, answers: 6 });

    const restored = await databases.open(await databases.locateEmpty());
    await restore(restored, await backUp(database));
    expect(await readNights(restored, 'C-2')).toEqual(await readNights(database, 'C-2'));
    expect(await describeRun({ ...app, database: restored }, '1')).toEqual(shown);
    const next = await run(await work({ offsetMs: dayMs }));
    expect(next).toMatchObject({ state: 'complete', counts: { screened: 6, changes: 0 } });
    expect((await describeRun(app, next.runId)).balance).toMatchObject({ disagreements: [] });
  });
});
