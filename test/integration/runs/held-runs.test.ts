import { expect, it } from 'vitest';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { notifyStates } from '../../../src/runs/status.js';
import { sql } from '../../../src/store/database/statement.js';
import { webhooksSettingsSchema } from '../../../src/webhooks/settings.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import {
  countEvents,
  exposed,
  names,
  openHeldSites,
  readStates,
  sanctioned,
  worldOf,
} from '../../helpers/held-world.js';
import { decideByMarks } from '../../helpers/reviewers.js';
import { showRun } from '../../helpers/show-run.js';
import {
  makeAcceptance,
  makeOddNames,
  openPreparedSites,
  openSmallSites,
  type SmallSite,
  searched,
} from '../../helpers/small-site.js';
import { controls, dayMs, listed } from '../../helpers/small-world.js';
import { startReceiver } from '../../helpers/webhook-receiver.js';

describeOnPostgres('a run whose answers are implausible', (_open, databases) => {
  const { beginAfterGood, beginAfterHeld } = openHeldSites(databases);

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
    // A search that no longer finds a known hit is not made again.
    expect(searched(sandbox, names[0] ?? '')).toBe(1);
    expect(app.events).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'run_held' }));
    expect(held.counts).toMatchObject({ attempts: 30 + 2 * controls.length });
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
      sql`insert into acceptance (run_id, kind, accepted_by, is_attested, reason, accepted_at)
       select max(run_id), 'answers', session_user, ${database.dialect === 'embedded'}, 'looked at', now() from run_hold`,
    );
    await expect(byHand).rejects.toThrow('still withholds answers');
    expect(await accept()).toMatchObject({ kind: 'accepted', parties: 30, state: 'complete' });
    expect(sandbox.ledger()).toHaveLength(calls);
    // No alert is closed: an alert whose match is absent waits for a decision.
    const alerts = await readRows(
      database,
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

describeOnPostgres('a run with far too many newly open customers', (open, databases) => {
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
    expect(received.splice(0).map(({ body }) => body)).toEqual([expect.stringContaining('C-5')]);
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
    const bodies = received.map(({ body }) => body).join();
    expect(bodies.match(/"reference":"C-\d+"/g)).toHaveLength(53);
  });

  const decided = all.map((name, index) => listed(`s${index}`, name));
  const equip = async ({ work }: SmallSite) => {
    const { received, url } = await startReceiver();
    const settings = {
      webhooks: webhooksSettingsSchema.parse([{ url, states: ['open_alert'] }]),
      review: reviewSettingsSchema.parse({ expiresAfterDays: { critical: 3 } }),
    };
    const at = async (daysAgo: number) => {
      const app = await work({ offsetMs: -daysAgo * dayMs, settings });
      return { ...app, secret: () => `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
    };
    return { received, at };
  };
  const beginDecided = openPreparedSites(
    databases,
    async (site) => {
      const { at } = await equip(site);
      await site.run(await at(9));
      const early = await at(8.9);
      const marks = (await exportAlerts(early, { roster: null, exportedBy: 'a test' })).alerts.map(({ mark }) => mark);
      await decideByMarks(early, marks.slice(0, 2), 'true_match');
      await decideByMarks(early, marks.slice(2));
      await site.run(await at(8));
    },
    { names: makeOddNames(120), world: worldOf(decided) },
  );

  it.each([
    { what: 'a few others are new', fresh: 46, changed: 3, held: 0 },
    { what: 'many others are new', fresh: 47, changed: 3, held: 50 },
  ])('does not count dispositions that expired, when $what', async ({ fresh, changed, held }) => {
    const site = await beginDecided();
    const { sandbox, database, run } = site;
    const { received, at } = await equip(site);
    // A match that is absent when its disposition expires, matches with other facts, and new ones.
    const known = decided
      .slice(0, -1)
      .map((one, index) => (index >= 10 && index < 10 + changed ? { ...one, topics: ['sanction', 'crime'] } : one));
    const others = makeOddNames(120).slice(60, 60 + fresh);
    sandbox.setWorld(worldOf([...known, ...others.map((name, index) => listed(`n${index}`, name))]));
    const night = await run(await at(5));
    expect(night).toMatchObject(held === 0 ? { state: 'complete', reasons: [] } : { state: 'incomplete', exitCode: 3 });
    if (held > 0) expect(night.reasons.join()).toMatch(/^50 of 120 customers are newly open in one run .*: 50 changes/);
    const bodies = received.map(({ body }) => body).join();
    expect(bodies.match(/"reference":"C-\d+"/g)).toHaveLength(58 + fresh - held);
    const last = `select settled_alerts -> 'expired' as expired from run order by run_id desc limit 1`;
    expect(await readRows(database, last)).toEqual([{ expired: 60 }]);
    expect(night.remarks).toContain('60 dispositions expired: their alerts are open again');
    // The next night has no news of them.
    received.splice(0);
    const next = await run(await at(4));
    expect(next).toMatchObject({ state: 'complete', openAlerts: { waiting: 60 + fresh } });
    expect(next.remarks?.join()).not.toContain('expired');
    expect(received).toEqual([]);
    expect(await readRows(database, last)).toEqual([{ expired: 0 }]);
  });
});
