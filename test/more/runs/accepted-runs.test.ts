import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { toSubject } from '../../../src/mail/report-message.js';
import { toReport } from '../../../src/reports/report.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { screeningSettingsSchema } from '../../../src/screening/settings.js';
import { readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { findPlainlyAbsent } from '../../../src/store/review/waiting.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { exposed, names, openHeldSites, readStates, sanctioned, worldOf } from '../../helpers/held-world.js';
import { showRun } from '../../helpers/show-run.js';
import { decide, makeAcceptance } from '../../helpers/small-site.js';
import { dayMs, fileOf, hourMs, listed } from '../../helpers/small-world.js';

describeOnPostgres('a held run, and what comes of its answers', (_open, databases) => {
  const { beginAfterGood, beginAfterHeld } = openHeldSites(databases);

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

  it('is held when some answers are wrong: none of it is applied, and all of it is kept as evidence', async () => {
    const { sandbox, work, run, database, before } = await beginAfterGood();
    const empty = names.slice(0, 6).map((name) => ({
      name,
      times: 1,
      raw: { status: 201, body: JSON.stringify({ query: name, type: 'person', total: 0, results: [] }) },
    }));
    sandbox.setFaults(empty);
    const held = await run(await work());
    expect(held).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      counts: { screened: 0, changes: 0, searches: 30 },
    });
    expect(held.reasons[0]).toContain('6 of 20 known hits');
    expect(await readStates(database)).toEqual(before);
    const kept = await readRows(database, 'select count(*)::integer as answers from answer where run_id = 2');
    expect(kept).toEqual([{ answers: 30 }]);
    const calls = await readRows(
      database,
      `select outcome, outcome_reason as because, call_outcome as called from customer_search where run_id = 2 and reference = 'C-1'`,
    );
    expect(calls).toEqual([{ outcome: 'failed', because: 'held', called: 'ok' }]);
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
      { kind: 'answers', customers: 30, accepted: [], states: { open_alert: 22, clear: 8 } },
    ]);
    expect(toSubject(toReport(facts))).toContain('[RED] 2 new sanction hits, answers held, 22 open alerts,');
    const page = await readFile(join(held.artifacts ?? '', 'report.html'), 'utf8');
    expect(page).toContain('By the held answers: 2 new sanction hits. They are provisional, but need a disposition.');
    expect(page).toMatch(/<h3>New in this run: 2 alerts<\/h3>.*<h3>Open before: 20 alerts<\/h3>/s);
    expect(page).toContain('8 clear, 22 open alert');
    expect(page).not.toContain('have a valid screening');
    const json = z.object({ newAlerts: z.array(z.object({ reference: z.string(), code: z.string() })) });
    const { newAlerts } = json.parse(JSON.parse(await readFile(join(held.artifacts ?? '', 'report.json'), 'utf8')));
    expect(newAlerts.map(({ reference }) => reference).toSorted()).toEqual(['C-26', 'C-27']);
    const lines = parse<Record<string, string>>(await readFile(join(held.artifacts ?? '', 'changes.csv')), {
      bom: true,
      columns: true,
    });
    const provisional = lines.slice(0, newAlerts.length);
    expect(new Set(lines.slice(newAlerts.length).map(({ about }) => about))).toEqual(new Set(['first_screening']));
    expect(provisional.map(({ about, alert, after_hit: hit }) => [about, alert, hit])).toEqual(
      newAlerts.map(({ code }) => ['provisional', code, 'yes']),
    );
    expect(held.openAlerts).toMatchObject({ waiting: 22, news: { alerts: 2, sanctionHits: 2, expired: 0 } });
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
    const ids = await readColumn(database, z.number(), 'select alert_id as id from alert where absence is not null');
    expect(ids).toHaveLength(1);
    expect(await findPlainlyAbsent(database, ids)).toEqual(new Map());
    await database.execute(
      `insert into acceptance (run_id, kind, accepted_by, is_attested, reason, accepted_at)
       select run_id, 'answers', session_user, false, 'looked at', now() from run_hold`,
    );
    expect([...(await findPlainlyAbsent(database, ids)).keys()]).toEqual(ids);
  });

  it('re-opens a decision whose customer has changed, and lets a decision about a match expire that only it has found', async () => {
    const { sandbox, database, roster, work, run } = await beginAfterGood();
    const [changed = '', fresh = ''] = [names[0], 'Wilhelmina Nova Entrant'];
    const readAlert = async (match: string) => {
      const row = z.object({ id: z.number(), state: z.string(), absence: z.string().nullable() });
      const [alert] = await database.query(
        row,
        sql`select alert_id as id, state, absence from alert_with_match where match_id = ${match}`,
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
         select min(alert_id) from alert_with_match join next_state said using (party_id) where said.run_id = 2 and said.reported_scores ? match_id
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
      sql`select (state.reported_scores -> ${alert.match})::float8 as base, state.run_id = 2 as "isAccepted"
       from party_state state where party_id = ${alert.partyId}`,
    );
    expect(state).toEqual({ base: 0.97, isAccepted: true });
  });

  it('leaves what a later run has answered alone when it is accepted, and rewrites no evidence', async () => {
    const { database, app, held } = await beginAfterHeld();
    const readChanges = (table: string) =>
      database.query(
        z.object({ reference: z.string(), changeId: z.number() }),
        `select customer.reference, change_id as "changeId" from ${table} join party using (party_id) join customer using (customer_id)
         where run_id = 2 order by change_id`,
      );
    const records = await readChanges('change');
    expect(records).toHaveLength(8);
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
    // Whom a later run has answered for was searched all the same.
    expect((await showRun(database, 'default', held.runId)).counts).toMatchObject({ screened: 30, failed: 0 });
    const counted = await readChanges('change_event');
    expect(counted.map(({ reference }) => reference).sort()).toEqual(['C-15', 'C-16', 'C-17', 'C-18', 'C-19']);
    expect(counted).toEqual(records.filter(({ reference }) => !['C-13', 'C-14', 'C-20'].includes(reference)));
    expect(await readChanges('change')).toEqual(records);
    for (const rewriting of [
      'update change set kind = kind',
      'delete from change',
      'truncate change',
      'delete from change_alert',
      'delete from next_state',
      'update batch set committed_at = now()',
      'delete from batch',
      `update call set status = 500`,
      'delete from call',
      'update planned set reason = reason',
      'truncate planned',
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
    expect((await showRun(database, 'default', held.runId)).counts).toMatchObject({
      reused: 30,
      screened: 0,
      failed: 0,
    });
    const asOf = await readStates(database);
    expect(asOf).toHaveLength(60);
    // The rows of both rosters follow one another by reference.
    for (const [at, state] of asOf.entries()) expect(state.asOf).toEqual(asOf[at ^ 1]?.asOf);
  });
});
