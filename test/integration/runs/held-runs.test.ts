import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { toSubject } from '../../../src/mail/report-message.js';
import { toReport } from '../../../src/reports/report.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { showRun } from '../../../src/runs/run-reference.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { notifyStates } from '../../../src/runs/status.js';
import type { WatchlistEntry } from '../../../src/sandbox/world.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import type { Database } from '../../../src/store/database/database.js';
import { findPlainlyAbsent } from '../../../src/store/review/waiting.js';
import { webhooksSettingsSchema } from '../../../src/webhooks/settings.js';
import { describeOnEachDatabase, leaveSqlToPostgres, readRows } from '../../helpers/databases.js';
import {
  decide,
  makeAcceptance,
  makeOddNames,
  openPreparedSites,
  openSmallSites,
  searched,
} from '../../helpers/small-site.js';
import { controls, fileOf, listed } from '../../helpers/small-world.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
const names = makeOddNames(30);
const [control] = controls;
/** Twelve customers are sanctioned, eight are politically exposed. */
const sanctioned = names.slice(0, 12).map((name, index) => listed(`s${index}`, name));
const exposed = names.slice(12, 20).map((name, index) => listed(`p${index}`, name, ['role.pep']));
/** Others of the same name: below them in every list. */
const second = names.slice(0, 12).map((name, index) => listed(`t${index}`, `${name} Ibn`, ['crime']));
const worldOf = (entries: readonly WatchlistEntry[]) => ({
  watchlist: [...entries, listed('c', control.name)],
  dossiers: [],
});

const stateRow = z.object({ reference: z.string(), state: z.string(), asOf: z.date().nullable() });
const readStates = (database: Database) =>
  database.query(stateRow, 'select reference, state, as_of from customer_screening_status order by reference');
const countEvents = async (database: Database): Promise<number> => {
  const rows = await database.query(
    z.object({ events: z.number() }),
    'select count(*)::integer as events from customer_state_change',
  );
  return rows[0]?.events ?? 0;
};

describeOnEachDatabase('a run whose answers are implausible', (_open, databases) => {
  leaveSqlToPostgres(
    databases,
    'is held when the hits that vanished in the runs of a week',
    'is not held for a delisting',
    'opens alerts for new matches',
    're-opens a decision whose customer has changed',
    'changes no state when it is stopped',
    'repeats searches whose hits vanished',
    'counts when it is accepted only',
    'leaves what a later run has answered',
    'dates reused answers',
  );
  const beginUsual = openPreparedSites(
    databases,
    async ({ database, work, run }) => {
      expect(await run(await work({ offsetMs: -dayMs }))).toMatchObject({ state: 'complete' });
      return { before: await readStates(database), events: await countEvents(database) };
    },
    { names, world: worldOf([...sanctioned, ...exposed]) },
  );
  /** A site after a complete run with both lists, with the states and the number of state changes after it. */
  const beginAfterGood = async () => {
    const { prepared, ...site } = await beginUsual();
    return { ...site, ...prepared };
  };
  const beginHeld = openPreparedSites(
    databases,
    async ({ sandbox, database, work, run }) => {
      await run(await work({ offsetMs: -dayMs }));
      const before = await readStates(database);
      sandbox.setWorld({ ...worldOf(sanctioned), ranking: { shuffleSeed: 9, scoreNoise: 0.004 } });
      return { before, held: await run(await work()) };
    },
    { names, world: worldOf([...sanctioned, ...exposed]) },
  );
  /** A site after another run, which is held because the list of the politically exposed is missing; scores differ a little. */
  const beginAfterHeld = async () => {
    const { prepared, ...site } = await beginHeld();
    site.sandbox.setWorld(worldOf(sanctioned));
    return { ...site, ...prepared, app: await site.work() };
  };

  it('is held when it finds nobody but the controls: every state and its time stay, and no state change is sent', async () => {
    const { sandbox, database, work, run, before, events } = await beginAfterGood();
    sandbox.setWorld(worldOf([]));
    const app = await work();
    const held = await run(app);
    expect(held).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0, failed: 30, changes: 0 } });
    expect(held.reasons[0]).toMatch(
      /answers for 30 customers are held, because 20 of 20 known hits of all risk categories vanished \(all of them\)/,
    );
    expect(held.reasons[0]).toContain(`nightscreen runs accept ${held.runId} --by NAME --reason TEXT`);
    expect(await readStates(database)).toEqual(before);
    expect(await countEvents(database)).toBe(events);
    expect(await measureCoverage(await work(), { list: 0 })).toMatchObject({
      isCovered: false,
      total: { inScope: 30, failedBecause: { held: 30 } },
    });
    const flags = await readRows(database, 'select distinct held from customer_screening_status');
    expect(flags).toEqual([{ held: true }]);
    // Each search that no longer finds a known hit is repeated.
    expect(searched(sandbox, names[0] ?? '')).toBe(2);
    expect(app.events).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'run_held' }));
    expect(held.counts).toMatchObject({ attempts: 30 + 20 + 2 * controls.length });
    sandbox.setWorld(worldOf([...sanctioned, ...exposed]));
    const good = await run(await work({ offsetMs: 1 }));
    expect(good).toMatchObject({ state: 'complete', counts: { screened: 30, changes: 0 } });
    expect(await measureCoverage(await work({ offsetMs: 2 }), { list: 0 })).toMatchObject({ isCovered: true });
    const accepting = acceptRun(app, held.runId, await makeAcceptance(app), new AbortController().signal);
    await expect(accepting).rejects.toThrow(/a later run has screened every customer/);
  });

  it('is held when one of two lists is missing, as is the next one, which a person accepts once without any search', async () => {
    const { sandbox, database, work, run, before, held: first } = await beginAfterHeld();
    expect(first).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 30, changes: 0 } });
    expect(first.reasons[0]).toContain('8 of 8 known hits for political exposure vanished (all of them)');
    expect(first.reasons[0]).not.toContain('for sanctions');
    expect(await readStates(database)).toEqual(before);
    const app = await work({ offsetMs: 1 });
    const held = await run(app);
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 0 } });
    expect(await readStates(database)).toEqual(before);

    const calls = sandbox.ledger().length;
    const accept = async (id = held.runId) =>
      acceptRun(app, id, await makeAcceptance(app), new AbortController().signal);
    await expect(accept(first.runId)).rejects.toThrow(`accept ${held.runId} instead`);
    // An acceptance by hand, which gives no answer back.
    const byHand = database.execute(
      `insert into acceptance (run_id, kind, accepted_by, is_attested, reason, accepted_at)
       select max(run_id), 'answers', session_user, $1, 'looked at', now() from run_hold`,
      [database.dialect === 'embedded'],
    );
    await expect(byHand).rejects.toThrow('still withholds answers');
    expect(await accept()).toMatchObject({ kind: 'accepted', parties: 30, state: 'complete' });
    expect(sandbox.ledger()).toHaveLength(calls);
    // No alert is closed: an alert whose match is absent waits for a decision.
    const alerts = await database.query(
      z.object({ state: z.string(), absence: z.string().nullable(), alerts: z.number() }),
      'select state, absence, count(*)::integer as alerts from alert group by state, absence order by alerts',
    );
    expect(alerts).toEqual([
      { state: 'open', absence: 'not_returned', alerts: 8 },
      { state: 'open', absence: null, alerts: 12 },
    ]);
    const asOf = (await readStates(database)).map(({ asOf }) => asOf?.toISOString().slice(0, 10));
    expect(new Set(asOf)).toEqual(new Set([new Date().toISOString().slice(0, 10)]));
    expect(await showRun(database, 'default', held.runId)).toMatchObject({
      state: 'complete',
      counts: { screened: 30, failed: 0, changes: 8 },
    });
    await expect(accept()).rejects.toThrow(/is already accepted/);
    await expect(accept('1')).rejects.toThrow(/is not held/);
    await expect(accept('99')).rejects.toThrow(/there is no run 99/);
    // The accepted absences are no changes of the next run.
    expect(await run(await work({ offsetMs: 2 }))).toMatchObject({ state: 'complete', counts: { changes: 0 } });
  });

  it('is held when the hits that vanished in the runs of a week exceed the bound together, though none does alone', async () => {
    const { sandbox, work, run } = await beginAfterGood();
    const runAfter = async (days: number, lost: number) => {
      sandbox.setWorld(worldOf([...sanctioned.slice(lost), ...exposed.slice(lost)]));
      return run(await work({ offsetMs: days * dayMs }));
    };
    expect((await runAfter(0, 2)).state).toBe('complete');
    const held = await runAfter(1, 3);
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 0 } });
    expect(held.reasons[0]).toContain(
      '6 of 20 known hits of all risk categories vanished within seven days (the bound is 15 %)',
    );
  });

  it('changes no state when it is stopped and then abandoned, although its control searches passed', async () => {
    const { sandbox, database, work, run, before } = await beginAfterGood();
    sandbox.setWorld(worldOf([]));
    const stopped = await run(await work(), { maxSearches: 25 });
    expect(stopped).toMatchObject({ state: 'stopped', counts: { screened: 25 } });
    sandbox.setWorld(worldOf([...sanctioned, ...exposed]));
    const later = await work({ offsetMs: dayMs - 60_000 });
    const next = await run(later);
    expect(next.runId).not.toBe(stopped.runId);
    expect(next).toMatchObject({ state: 'complete', counts: { screened: 30, changes: 0 } });
    expect(later.events).toContainEqual(
      expect.objectContaining({ code: 'run_abandoned', message: expect.stringMatching(/known hits .* vanished/) }),
    );
    const listOpen = (states: typeof before) =>
      states.filter(({ state }) => state === 'open_alert').map(({ reference }) => reference);
    expect(listOpen(await readStates(database))).toEqual(listOpen(before));
  });

  it('repeats searches whose hits vanished, and is held when the service contradicts itself', async () => {
    const { sandbox, work, run, database, before } = await beginAfterGood();
    const empty = names.slice(0, 6).map((name) => ({
      ...{ name, times: 1 },
      raw: { status: 201, body: JSON.stringify({ query: name, type: 'person', total: 0, results: [] }) },
    }));
    sandbox.setFaults(empty);
    const app = await work();
    // Customers without a known hit may have got such wrong answers too, which nothing would show.
    const held = await run(app);
    expect(held).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      counts: { screened: 0, changes: 0, searches: 30 },
    });
    expect(held.reasons[0]).toContain('known hits came back when 6 searches were made again');
    expect(app.events).toContainEqual(expect.objectContaining({ code: 'hits_vanished' }));
    expect(names.slice(0, 8).map((name) => searched(sandbox, name))).toEqual([2, 2, 2, 2, 2, 2, 1, 1]);
    expect(await readStates(database)).toEqual(before);
    // The first answers are kept as evidence.
    const kept = await readRows(database, 'select count(*)::integer as rows from retracted_answer');
    expect(kept).toEqual([{ rows: 36 }]);
    // Both calls are shown for a customer whose search was made again, one for the others.
    const calls = await database.query(
      z.object({ calls: z.number(), answered: z.number(), ids: z.number(), retracted: z.boolean() }),
      `select count(*)::integer as calls, count(*) filter (where call_outcome = 'ok')::integer as answered,
         count(distinct service_request_id)::integer as ids, bool_and(retracted_at is not null) as retracted
       from customer_search where run_id = 2 and reference in ('C-1', 'C-6', 'C-7') group by reference order by reference`,
    );
    const [twice, once] = [2, 1].map((times) => ({ calls: times, answered: times, ids: times, retracted: true }));
    expect(calls).toEqual([twice, twice, once]);
  });

  it('is not held for a delisting and new ids, and is held when the service truncates its lists without saying so', async () => {
    const { sandbox, database, work, run } = await beginAfterGood();
    const rekeyed = [...sanctioned.slice(1), ...exposed].map((entry) => ({ ...entry, id: `${entry.id}_new` }));
    sandbox.setWorld(worldOf([...rekeyed, ...second.slice(1)]));
    expect(await run(await work())).toMatchObject({ state: 'complete', counts: { screened: 30 } });
    const before = await readStates(database);
    // Each list is cut to one result. The total is 1 as well, so nothing in the answer shows it.
    sandbox.setWorld(worldOf(rekeyed));
    const held = await run(await work({ offsetMs: dayMs }));
    expect(held).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 0 } });
    expect(held.reasons[0]).toContain('11 of 11 known hits for crime vanished');
    expect(await readStates(database)).toEqual(before);
  });

  it('opens alerts for new matches, which stay open whatever later answers contain', async () => {
    const { sandbox, database, work, run } = await beginAfterGood();
    const [known = '', fresh = '', fleeting = ''] = [names[0], names[25], names[26]];
    const added = [listed('new', fresh), listed('soon gone', fleeting)];
    const worse = { ...listed('s0', known), topics: ['sanction', 'wanted'] };
    sandbox.setWorld(worldOf([worse, ...sanctioned.slice(1), ...added]));
    const held = await run(await work(), { writeReport: true });
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 0, changes: 0 } });
    const facts = await showRun(database, 'default', held.runId);
    expect(facts.held).toMatchObject([
      { kind: 'answers', customers: 30, openedAlerts: 2, accepted: null, states: { open_alert: 22, clear: 8 } },
    ]);
    expect(toSubject(toReport(facts))).toContain('[RED] answers held');
    const page = await readFile(join(held.artifacts ?? '', 'report.html'), 'utf8');
    expect(page).toContain('2 alerts new or worse by these answers. They are provisional');
    expect(page).toContain('8 clear, 22 open alert');
    expect(page).not.toContain('have a valid screening');
    const json = z.object({ held: z.array(z.object({ alerts: z.array(z.object({ reference: z.string() })) })) });
    const reported = json.parse(JSON.parse(await readFile(join(held.artifacts ?? '', 'report.json'), 'utf8')));
    expect(reported.held[0]?.alerts.map(({ reference }) => reference).toSorted()).toEqual(['C-26', 'C-27']);
    expect(held.openAlerts).toMatchObject({ waiting: 22 });
    const stateOf = async (number: number): Promise<string | undefined> =>
      (await readStates(database)).find(({ reference }) => reference === `C-${number}`)?.state;
    expect([await stateOf(26), await stateOf(27), await stateOf(30)]).toEqual(['open_alert', 'open_alert', 'clear']);
    const sent = await readRows(database, 'select to_state from customer_state_change where from_state is not null');
    expect(sent).toEqual([{ toState: 'open_alert' }, { toState: 'open_alert' }]);

    sandbox.setWorld(worldOf([worse, ...sanctioned.slice(1), ...exposed, listed('new', fresh)]));
    const good = await run(await work({ offsetMs: 1 }));
    expect(good).toMatchObject({ state: 'complete', openAlerts: { waiting: 22 } });
    const alerts = await readRows(
      database,
      `select match_id as match, state, absence from alert_with_match where match_id in ('amla_new', 'amla_soon gone') order by 1`,
    );
    expect(alerts).toEqual([
      { match: 'amla_new', state: 'open', absence: null },
      { match: 'amla_soon gone', state: 'open', absence: 'not_returned' },
    ]);
    expect(await stateOf(27)).toBe('open_alert');
    // No bulk decision closes an alert of a run that is still held.
    const ids = await database.query(
      z.object({ id: z.number() }),
      'select alert_id as id from alert where absence is not null',
    );
    expect(ids).toHaveLength(1);
    const toIds = ids.map(({ id }) => id);
    expect(await findPlainlyAbsent(database, toIds)).toEqual(new Map());
    await database.execute(
      `insert into acceptance (run_id, kind, accepted_by, is_attested, reason, accepted_at)
       select run_id, 'answers', session_user, $1, 'looked at', now() from run_hold`,
      [database.dialect === 'embedded'],
    );
    expect([...(await findPlainlyAbsent(database, toIds)).keys()]).toEqual(toIds);
  });

  it('re-opens a decision whose customer has changed, and lets a decision about a match expire that only it has found', async () => {
    const { sandbox, database, roster, work, run } = await beginAfterGood();
    const [changed = '', fresh = ''] = [names[0], 'Wilhelmina Nova Entrant'];
    const readAlert = async (match: string) => {
      const row = z.object({ id: z.number(), state: z.string(), absence: z.string().nullable() });
      const [alert] = await database.query(
        row,
        `select alert_id as id, state, absence from alert_with_match where match_id = $1`,
        [match],
      );
      if (!alert) throw new Error(`no alert about ${match}`);
      return alert;
    };
    await decide(database, [(await readAlert('amla_s0')).id]);
    const columns = 'customer_id,type,name,birth_date';
    const rows = [...names, fresh].map(
      (name, at) => `C-${at + 1},person,${name},${name === changed ? '1950-02-03' : ''}`,
    );
    await writeFile(fileOf(roster), `${[columns, ...rows].join('\n')}\n`);
    sandbox.setWorld(worldOf([...sanctioned.slice(0, 1), listed('new', fresh)]));
    const acceptRoster = await makeAcceptance({ database });
    expect(await run(await work(), { acceptRoster })).toMatchObject({ state: 'incomplete', exitCode: 3 });
    expect(await readAlert('amla_s0')).toMatchObject({ state: 'open', absence: null });

    const { id } = await readAlert('amla_new');
    await decide(database, [id], { verdict: 'true_match', expiresAt: new Date(Date.now() + dayMs / 2) });
    expect(await readAlert('amla_new')).toMatchObject({ state: 'true_match' });
    // Neither an outage nor an older answer makes the match of the held run absent.
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    await run(await work({ offsetMs: dayMs }));
    expect(await readAlert('amla_new')).toMatchObject({ state: 'open', absence: null });
    expect(
      await readRows(
        database,
        `select reference, state from customer_screening_status where reference in ('C-1', 'C-31') order by 1`,
      ),
    ).toEqual([
      { reference: 'C-1', state: 'open_alert' },
      { reference: 'C-31', state: 'true_match' },
    ]);
  });

  it('counts when it is accepted only what it has planned, not what the roster has gained since, and keeps the score that a person has decided on', async () => {
    const { database, app, held } = await beginAfterHeld();
    // What a reviewer is shown is another score than the one that was reported last.
    const [alert] = await database.query(
      z.object({ alertId: z.number(), partyId: z.number(), match: z.string() }),
      `update alert set score = 0.97 from listed_party listed where listed.listed_id = alert.listed_id and alert_id = (
         select min(alert_id) from alert_with_match join retracted_answer said using (party_id) where said.reported_scores ? match_id
       ) returning alert_id, party_id, listed.match_id as match`,
    );
    if (alert === undefined) throw new Error('no answer of the held run differs in its score');
    await decide(database, [alert.alertId]);
    // As an import leaves it.
    await database.runScript(`
      update customer_version set record = jsonb_set(record, '{parties,1}', record #> '{parties,0}')
        from customer where customer.customer_id = customer_version.customer_id and reference in ('C-29', 'C-30');
      insert into party (customer_id, ordinal, request_id, is_current)
        select customer_id, 1, request_id, true from party join customer using (customer_id) where reference in ('C-29', 'C-30');`);
    await acceptRun(app, held.runId, await makeAcceptance(app), new AbortController().signal);
    const states = `select sums -> 'states' as states from run where run_id = 2`;
    expect(await readRows(database, states)).toEqual([
      { states: expect.objectContaining({ clear: 10, open_alert: 19, false_positive: 1, not_screened: 0 }) },
    ]);
    expect(
      await readRows(
        database,
        `
      select count(*)::integer as customers from customer_screening_status where state = 'not_screened' and reason = 'never'`,
      ),
    ).toEqual([{ customers: 2 }]);
    const [state] = await database.query(
      z.object({ base: z.number(), isAccepted: z.boolean() }),
      `select (state.reported_scores -> $2)::float8 as base, state.run_id = (select max(run_id) from retracted_answer) as "isAccepted"
       from party_state state where party_id = $1`,
      [alert.partyId, alert.match],
    );
    expect(state).toEqual({ base: 0.97, isAccepted: true });
  });

  it('leaves what a later run has answered retracted when it is accepted, and rewrites no evidence', async () => {
    const { database, app, held } = await beginAfterHeld();
    const readChanges = (table: string) =>
      database.query(
        z.object({ reference: z.string(), changeId: z.number() }),
        `select customer.reference, change_id as "changeId" from ${table} join party using (party_id) join customer using (customer_id)
         where run_id = 2 order by change_id`,
      );
    // Each search was made twice.
    const records = await readChanges('change_record');
    expect(records).toHaveLength(16);
    expect(await readChanges('change_event')).toEqual([]);
    // As a later run leaves it that has screened three of the customers with changes.
    await database.runScript(`
      insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at, finished_at)
        select organisation_id, roster_id, account_id, mode, kind, 'complete', 'finished', lease_key, epoch, owner, settings_digest, version, started_at, finished_at
        from run where run_id = 2;
      update party_state set run_id = 3 where party_id in (select party_id from party join customer using (customer_id)
        where reference in ('C-13', 'C-14', 'C-20'));`);
    const accepted = await acceptRun(app, held.runId, await makeAcceptance(app), new AbortController().signal);
    expect(accepted).toMatchObject({ kind: 'accepted', parties: 27 });
    const counted = await readChanges('change_event');
    expect(counted.map(({ reference }) => reference).sort()).toEqual(['C-15', 'C-16', 'C-17', 'C-18', 'C-19']);
    // Those of the later answers.
    expect(counted).toEqual(records.slice(-8).filter(({ reference }) => !['C-13', 'C-14', 'C-20'].includes(reference)));
    expect(await readChanges('change_record')).toEqual(records);
    for (const rewriting of [
      'update change_record set kind = kind',
      'delete from change_record',
      'truncate change_record',
      'delete from change_alert',
      'update retraction set retracted_at = now()',
      'delete from retraction',
      'delete from retracted_answer',
      'update search_batch set committed_at = now()',
      'delete from search_batch',
      'delete from search_call',
      'update screening_block set part = part',
      'truncate screening_block',
    ]) {
      await expect(database.execute(rewriting)).rejects.toThrow('are never changed or removed');
    }
  });

  it('dates reused answers from when they were received, once it is accepted', async () => {
    const { sandbox, database, roster, work, run } = await beginAfterGood();
    const settings = { screening: screeningSettingsSchema.parse({ reuseMaxAge: '20h' }) };
    const copy = { ...roster, name: 'copy' };
    const { signal } = new AbortController();
    const accept = async (app: AppContext, id: string) => acceptRun(app, id, await makeAcceptance(app), signal);
    expect(await run(await work({ offsetMs: -dayMs + hourMs, settings }), { roster: copy })).toMatchObject({
      counts: { screened: 0, reused: 30 },
    });
    sandbox.setWorld(worldOf(sanctioned));
    const first = await work({ offsetMs: -2 * hourMs, settings });
    await accept(first, (await run(first, { selection: 'all' })).runId);
    const second = await work({ settings });
    const held = await run(second, { roster: copy, selection: 'due' });
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 0, reused: 0, failed: 30 } });
    expect(await accept(second, held.runId)).toMatchObject({ kind: 'accepted', parties: 30, state: 'complete' });
    // Searches whose hits had vanished were repeated.
    expect((await showRun(database, 'default', held.runId)).counts).toMatchObject({
      reused: 22,
      screened: 8,
      failed: 0,
    });
    const again = new Set(exposed.map((_, at) => `C-${sanctioned.length + at + 1}`));
    const asOf = (await readStates(database)).filter(({ reference }) => !again.has(reference));
    expect(asOf).toHaveLength(44);
    // The rows of both rosters follow one another by reference.
    for (const [at, state] of asOf.entries()) expect(state.asOf).toEqual(asOf[at ^ 1]?.asOf);
  });

  it('takes two people to accept where decisions take two', async () => {
    const { database, work, held } = await beginAfterHeld();
    const review = reviewSettingsSchema.parse({ fourEyes: ['critical'] });
    const app = await work({ settings: { review } });
    const signal = new AbortController().signal;
    const first = await makeAcceptance(app);
    if (database.dialect === 'embedded') {
      // A typed name does not prove a second person.
      await expect(acceptRun(app, held.runId, first, signal)).rejects.toThrow(/takes two people.*set DATABASE_URL/);
      return;
    }
    expect(await acceptRun(app, held.runId, first, signal)).toMatchObject({ kind: 'proposed' });
    await expect(acceptRun(app, held.runId, first, signal)).rejects.toThrow(/waits for a second person/);
  });
});

describeOnEachDatabase('a run with far too many newly open customers', (open) => {
  const begin = openSmallSites(open);
  const all = makeOddNames(60);

  it('warns, and sends its state changes to webhooks only once it is accepted', async () => {
    const { sandbox, database, work, run } = await begin(all);
    const { received, url } = await startReceiver();
    sandbox.setWorld(worldOf(all.slice(0, 5).map((name, index) => listed(`s${index}`, name))));
    const webhooks = webhooksSettingsSchema.parse([{ url, states: ['open_alert'] }]);
    const at = async (offsetMs: number) => {
      const app = await work({ offsetMs, settings: { webhooks } });
      return { ...app, secret: () => `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
    };
    await run(await at(-dayMs));
    expect(received.splice(0).join()).toContain('C-5');
    sandbox.setWorld(worldOf(all.slice(0, 58).map((name, index) => listed(`s${index}`, name))));
    const app = await at(0);
    const cluster = await run(app);
    expect(cluster).toMatchObject({ state: 'incomplete', exitCode: 3, counts: { screened: 60, failed: 0 } });
    expect(cluster.reasons).toEqual([
      expect.stringMatching(
        /^53 of 60 customers are newly open in one run .*: 53 changes for webhooks wait until nightscreen runs accept/,
      ),
    ]);
    expect(received).toEqual([]);
    // The alerts are open already.
    const open = await readRows(database, `select state from customer_screening_status where state = 'open_alert'`);
    expect(open).toHaveLength(58);

    const accepted = await acceptRun(app, cluster.runId, await makeAcceptance(app), new AbortController().signal);
    expect(accepted).toMatchObject({ kind: 'accepted', parties: 0, state: 'complete' });
    await notifyStates(app);
    expect(received.join().match(/"reference":"C-\d+"/g)).toHaveLength(53);
  });
});

/** A receiver that keeps the bodies of its requests. */
async function startReceiver(): Promise<{ url: string; received: string[] }> {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    received.push(await text(request));
    response.writeHead(204).end();
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return { url: `http://127.0.0.1:${port}/hook`, received };
}
