import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts, undoDecision } from '../../../src/runs/review/decide.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { assignAlerts, findReviewer } from '../../../src/runs/review/people.js';
import { type ReviewSettings, reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { type Database, readColumn, readValue } from '../../../src/store/database/database.js';
import { readReportChanges } from '../../../src/store/night/changes.js';
import { readRun } from '../../../src/store/runs.js';
import type { DispositionVerdict } from '../../../src/vocabulary.js';
import { describeOnPostgres, insertDispositionsSql, testDatabases, toReviewerGrants } from '../../helpers/databases.js';
import { decideByMarks, withLogins } from '../../helpers/reviewers.js';
import { openSitesAfterNight, openSmallSites } from '../../helpers/small-site.js';
import { dayMs, listed, watchlist } from '../../helpers/small-world.js';

const [first = listed('one', ''), ...others] = watchlist;
const [second = listed('two', ''), ...rest] = others;
const reviewOf = (settings: Partial<ReviewSettings>): ReviewSettings => ({
  ...reviewSettingsSchema.parse({}),
  ...settings,
});

const decide = async (app: AppContext, mark: string, verdict: DispositionVerdict) =>
  (await decideByMarks(app, [mark], verdict))[0];

const readStates = async (database: Database): Promise<Record<string, number>> => {
  const sql = "select sums -> 'states' as states from run order by run_id desc limit 1";
  const states = await readValue(database, z.record(z.string(), z.number()), sql);
  return Object.fromEntries(Object.entries(states).filter(([, count]) => count > 0));
};

const readLastRun = (database: Database): Promise<number> =>
  readValue(database, z.number(), 'select max(run_id) as run from run');

const showOne = async (app: AppContext, reference: string) => {
  const [alert] = await showAlerts(app, reference);
  if (!alert) throw new Error(`no alert of ${reference}`);
  return alert;
};

describeOnPostgres('decisions that end, and alerts that have an assignee', (_open, databases) => {
  /** Sites after a run nine days ago, which has opened an alert of C-1 and one of C-2. */
  const begin = openSitesAfterNight(databases, 9);

  it('an expired decision is re-opened by the next run though nothing changed, and a confirmed customer stays confirmed', async () => {
    const { database, work, run } = await begin();
    const review = reviewOf({ expiresAfterDays: { critical: 3 } });
    const at = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs, settings: { review } });
    const early = await at(8.9);
    await decide(early, (await showOne(early, 'C-1')).mark, 'false_positive');
    await decide(early, (await showOne(early, 'C-2')).mark, 'true_match');
    await run(await at(5));
    expect(await readStates(database)).toEqual({ clear: 4, open_alert: 1, true_match: 1 });
    const { alerts } = await exportAlerts(await at(5), { roster: null, exportedBy: 'a test' });
    expect(alerts.map(({ reopenedBecause }) => reopenedBecause)).toEqual([['expired'], ['expired']]);
    // An inconclusive decision takes no confirmation away.
    const late = await at(4.9);
    await decide(late, (await showOne(late, 'C-2')).mark, 'inconclusive');
    await run(await at(4));
    expect(await readStates(database)).toEqual({ clear: 4, open_alert: 1, true_match: 1 });
    await decide(late, (await showOne(late, 'C-2')).mark, 'false_positive');
    await run(await at(3));
    expect(await readStates(database)).toEqual({ clear: 4, false_positive: 1, open_alert: 1 });
  });

  it('undoing a decision re-opens its alert from now on, never clears a customer, and is refused for an alert changed since', async () => {
    const { sandbox, database, work, run } = await begin();
    const at = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs });
    const early = await at(8.9);
    const stale = (await showOne(early, 'C-1')).mark;
    const undo = async (app: AppContext, mark: string) =>
      undoDecision(app, { mark, reason: 'a slip', reviewer: await findReviewer(app.database, undefined) });
    expect(await undo(early, stale)).toEqual({ kind: 'refused', reason: 'nothing_to_undo' });
    expect(await undo(early, `${stale}X`)).toEqual({ kind: 'refused', reason: 'no_alert' });
    await decide(early, stale, 'false_positive');
    expect(await undo(early, stale)).toEqual({ kind: 'refused', reason: 'decided_since' });
    const later = await at(6);
    expect(await undo(later, (await showOne(later, 'C-1')).mark)).toMatchObject({ kind: 'undone', isListed: true });
    const alert = await showOne(later, 'C-1');
    expect(alert).toMatchObject({
      state: 'open',
      history: [{}, { what: 'decided false_positive' }, { what: 'undone' }],
    });
    expect(later.clock.now().getTime() - alert.openedAt.getTime()).toBeLessThan(dayMs);
    await run(await at(5));
    expect(await readStates(database)).toEqual({ clear: 4, open_alert: 2 });
    // A mark from before the decision changes nothing.
    expect(await decide(later, stale, 'false_positive')).toMatchObject({ kind: 'refused', reason: 'decided_since' });
    await decide(later, alert.mark, 'true_match');
    const confirmed = (await showOne(later, 'C-1')).mark;
    expect(await undo(later, confirmed)).toMatchObject({ kind: 'undone', keepsTrueMatch: true });
    await run(await at(4));
    expect(await readStates(database)).toEqual({ clear: 4, open_alert: 1, true_match: 1 });
    // Without its match and without a decision, the alert stays open until it is confirmed as no longer matched.
    const last = await at(3.9);
    await decide(last, (await showOne(last, 'C-1')).mark, 'false_positive');
    sandbox.setWorld({ watchlist: others, dossiers: [] });
    await run(await at(3));
    expect(await undo(last, (await showOne(last, 'C-1')).mark)).toMatchObject({ kind: 'undone', isListed: false });
    expect(await showOne(last, 'C-1')).toMatchObject({ state: 'open', absence: 'not_returned' });
    expect(await decide(last, (await showOne(last, 'C-1')).mark, 'no_longer_matched')).toMatchObject({
      kind: 'decided',
    });
    expect(await showOne(last, 'C-1')).toMatchObject({ state: 'no_longer_matched' });
  });

  it('an assigned alert shows its assignee, and a report shows the assignee of its time whenever it is made', async () => {
    const { sandbox, database, work, run } = await begin();
    const at = (daysAgo: number) => work({ offsetMs: -daysAgo * dayMs });
    const early = await at(8.9);
    const by = await findReviewer(early.database, undefined);
    const all = { marks: [], customer: null, severity: null, roster: null, by } as const;
    const mark = (await showOne(early, 'C-1')).mark;
    expect(await assignAlerts(early, { ...all, marks: [mark, 'N0'], to: 'ada' })).toMatchObject({
      assigned: 0,
      refused: [{ mark: 'N0', reason: 'no_alert' }],
    });
    expect(await assignAlerts(early, { ...all, customer: 'C-1', to: 'ada' })).toMatchObject({ assigned: 1 });
    expect(await assignAlerts(early, { ...all, marks: [mark], to: 'ada' })).toMatchObject({
      assigned: 0,
      sameAlready: 1,
    });
    const assignees = async (app: AppContext, assignee: string | null = null) => {
      const { alerts } = await exportAlerts(app, { roster: null, exportedBy: 'a test', assignee });
      return alerts.map(({ party, assignedTo }) => [party.reference, assignedTo]);
    };
    expect(await assignees(early)).toEqual(
      expect.arrayContaining([
        ['C-1', 'ada'],
        ['C-2', null],
      ]),
    );
    expect(await assignees(await at(5), 'ada')).toEqual([['C-1', 'ada']]);
    await decide(early, mark, 'false_positive');
    sandbox.setWorld({ watchlist: [{ ...first, topics: ['sanction', 'crime'] }, ...others], dossiers: [] });
    await run(await at(8));
    const runId = await readLastRun(database);
    const listed = { runIds: [runId], sweepRunIds: [], now: new Date(0) };
    const { held: reported } = (await readReportChanges(database, database, listed)).changes;
    expect(reported).toMatchObject([
      {
        alert: {
          state: 'open',
          reopenedBecause: ['listed_topics'],
          assignedTo: 'ada',
          said: [{ kind: 'decided', verdict: 'false_positive' }],
        },
      },
    ]);
    const counted = (await readRun(database, runId))?.openAlerts;
    expect(counted).toMatchObject({ waiting: 2, unassigned: 1, byAssignee: [{ name: 'ada', waiting: 1 }] });
    await assignAlerts(await at(6), { ...all, customer: 'C-1', to: null });
    await decide(await at(6), (await showOne(await at(6), 'C-1')).mark, 'true_match');
    await run(await at(5));
    expect((await readReportChanges(database, database, listed)).changes.held).toEqual(reported);
    expect((await readRun(database, runId))?.openAlerts).toEqual(counted);
    expect(await assignees(await at(5))).toEqual([['C-2', null]]);
  });
});

describe('a decision that takes two people', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);

  /** Calls `work` with the workplaces of two reviewers, each with its own login. */
  const withReviewers = (
    base: AppContext,
    owner: Database,
    work: (atAdas: AppContext, atBoris: AppContext) => Promise<void>,
  ): Promise<void> =>
    withLogins(owner, ['ada', 'boris'], toReviewerGrants, (ada = owner, boris = owner) =>
      work({ ...base, database: ada }, { ...base, database: boris }),
    );

  it('is proposed by one and confirmed by another who has seen the proposal; the database refuses everything else', async () => {
    const { database: owner, work, run } = await begin();
    const review = reviewOf({ fourEyes: ['critical'] });
    const base = await work({ settings: { review } });
    await run(base);
    await withReviewers(base, owner, async (atAdas, atBoris) => {
      await proposeAndRestrict(atAdas, atBoris);
      await run(await work({ settings: { review } }), { selection: 'all' });
      expect(await readStates(owner)).toEqual({ clear: 4, open_alert: 1, true_match: 1 });
      expect((await readRun(owner, await readLastRun(owner)))?.openAlerts).toMatchObject({ waiting: 1, proposed: 0 });
      await undoAlone(atAdas, atBoris);
      await run(await work({ settings: { review } }), { selection: 'all' });
      expect(await readStates(owner)).toEqual({ clear: 4, open_alert: 1, false_positive: 1 });
    });
  });

  it('is, when four eyes are set for any severity, the release of what is no longer matched, of a sanctions alert and of a true match', async () => {
    const { sandbox, database: owner, work, run } = await begin();
    const exposed = { ...second, topics: ['role.pep'] };
    const removed = listed('three', 'Tamsin Oyelaran');
    sandbox.setWorld({ watchlist: [first, exposed, removed, ...rest], dossiers: [] });
    const review = reviewOf({ fourEyes: ['info'] });
    const base = await work({ settings: { review } });
    await run(base);
    sandbox.setWorld({ watchlist: [first, exposed, ...rest], dossiers: [] });
    await run(await work({ settings: { review } }), { selection: 'all' });
    await withReviewers(base, owner, async (atAdas, atBoris) => {
      const say = async (at: AppContext, reference: string, verdict: DispositionVerdict) =>
        (await decide(at, (await showOne(at, reference)).mark, verdict))?.kind;
      const forge = (reference: string, verdict: string) =>
        atAdas.database.execute(
          insertDispositionsSql(
            `select alert_id, 'decided' as kind, '${verdict}' as verdict, session_user as reviewer, false as is_attested,
               'forged' as reason, seen
             from disposition_with_text join alert using (alert_id) join party using (party_id) join customer using (customer_id)
             where reference = '${reference}' order by disposition_with_text.disposition_id limit 1`,
          ),
        );
      expect(await say(atAdas, 'C-3', 'no_longer_matched')).toBe('proposed');
      expect(await readPartyStates(owner)).toEqual(['open_alert', 'open_alert', 'open_alert']);
      expect(await say(atAdas, 'C-3', 'no_longer_matched')).toBe('same_already');
      expect(await say(atBoris, 'C-3', 'no_longer_matched')).toBe('approved');
      expect(await readPartyStates(owner)).toEqual(['open_alert', 'open_alert']);

      expect(await say(atAdas, 'C-1', 'false_positive')).toBe('proposed');
      await expect(forge('C-1', 'false_positive')).rejects.toThrow(/the release of alert \d+ is decided by two people/);
      expect(await say(atAdas, 'C-2', 'false_positive')).toBe('decided');
      expect(await say(atAdas, 'C-2', 'true_match')).toBe('decided');
      expect(await showOne(atAdas, 'C-2')).toMatchObject({ state: 'true_match' });
      await expect(forge('C-2', 'false_positive')).rejects.toThrow(/decided by two people/);
      expect(await say(atAdas, 'C-2', 'false_positive')).toBe('proposed');
      expect(await readPartyStates(owner)).toEqual(['open_alert', 'true_match']);
      // One person may restrict a customer whom a proposal would release.
      expect(await forge('C-1', 'true_match')).toBe(1);
      expect(await readPartyStates(owner)).toEqual(['true_match', 'true_match']);
      expect(await say(atBoris, 'C-2', 'false_positive')).toBe('approved');
      expect(await readPartyStates(owner)).toEqual(['false_positive', 'true_match']);
    });
  });

  async function proposeAndRestrict(atAdas: AppContext, atBoris: AppContext): Promise<void> {
    const unseen = (await showOne(atBoris, 'C-1')).mark;
    // The settings of a reviewer's own process do not lift the four eyes that the organisation's runs have recorded.
    const careless = { ...atAdas, settings: { ...atAdas.settings, review: reviewOf({}) } };
    expect(await decide(careless, unseen, 'false_positive')).toMatchObject({ kind: 'proposed' });
    const alert = await showOne(atBoris, 'C-1');
    expect(alert).toMatchObject({ state: 'pending_approval', history: [{}, { what: 'proposed false_positive' }] });
    expect(await decide(atAdas, alert.mark, 'false_positive')).toMatchObject({ kind: 'same_already' });
    expect(await decide(atAdas, unseen, 'false_positive')).toMatchObject({ kind: 'same_already' });
    expect(await decide(atBoris, unseen, 'false_positive')).toMatchObject({ kind: 'refused', reason: 'decided_since' });
    await expectForgeriesRefused(atAdas.database);
    const { name: adasLogin } = await findReviewer(atAdas.database, undefined);
    const list = async (request: { onlyProposals?: boolean; notProposedBy?: string }) =>
      (await exportAlerts(atBoris, { roster: null, exportedBy: 'a test', ...request })).alerts;
    expect(await list({ onlyProposals: true })).toMatchObject([
      { proposal: { verdict: 'false_positive', reviewer: adasLogin } },
    ]);
    expect(await list({ notProposedBy: adasLogin })).toMatchObject([{ proposal: null }]);
    // One person may restrict a customer.
    expect(await decide(atBoris, alert.mark, 'true_match')).toMatchObject({
      kind: 'decided',
      instead: { verdict: 'false_positive', reviewer: adasLogin },
    });
    const other = await showOne(atBoris, 'C-1');
    expect(other).toMatchObject({ state: 'true_match' });
    expect(await decide(atBoris, other.mark, 'true_match')).toMatchObject({ kind: 'same_already' });
  }

  /** Statements that a reviewer could send with a Postgres client. */
  async function expectForgeriesRefused(database: Database): Promise<void> {
    const forge = (kind: string, verdict: string, proposalId: string) =>
      database.execute(
        insertDispositionsSql(
          `select alert_id, '${kind}' as kind, '${verdict}' as verdict, session_user as reviewer, false as is_attested,
             'forged' as reason, seen, disposition_id
           from disposition_with_text`,
          proposalId,
        ),
      );
    await expect(forge('approved', 'false_positive', 'disposition_id')).rejects.toThrow(/confirmed by another person/);
    await expect(forge('approved', 'true_match', 'disposition_id')).rejects.toThrow(/proposes something else/);
    await expect(forge('decided', 'false_positive', 'null::bigint')).rejects.toThrow(/decided by two people/);
    await expect(database.execute(`update alert set severity = 'low'`)).rejects.toThrow(/permission denied/);
    await expect(database.execute(`update alert set state = 'no_longer_matched'`)).rejects.toThrow(/permission denied/);
    const clear = `update party_state set state = 'clear' where state = 'open_alert'`;
    await expect(database.execute(clear)).rejects.toThrow(/permission denied/);
    // Who takes part in a decision goes by the settings of the last run.
    await expect(database.execute('update run set settings_id = null')).rejects.toThrow(/permission denied/);
    const settings = `insert into acceptance (kind, organisation_id, settings, digest, accepted_by, is_attested, reason, accepted_at)
      values ('settings', 1, '{}', '', session_user, false, 'alone', now())`;
    await expect(database.execute(settings)).rejects.toThrow(/permission denied/);
  }

  async function undoAlone(atAdas: AppContext, atBoris: AppContext): Promise<void> {
    const { mark } = await showOne(atAdas, 'C-1');
    const reviewer = await findReviewer(atAdas.database, undefined);
    const by = {
      marks: [],
      customer: null,
      severity: 'critical',
      roster: null,
      to: reviewer.name,
      by: reviewer,
    } as const;
    expect(await undoDecision(atAdas, { mark, reviewer, reason: 'a slip' })).toMatchObject({ keepsTrueMatch: true });
    expect(await readPartyStates(atAdas.database)).toEqual(['open_alert', 'true_match']);
    expect(await assignAlerts(atAdas, by)).toMatchObject({ assigned: 2 });
    expect(await decide(atAdas, (await showOne(atAdas, 'C-1')).mark, 'false_positive')).toMatchObject({
      kind: 'proposed',
    });
    expect(await readPartyStates(atAdas.database)).toEqual(['open_alert', 'true_match']);
    expect(await decide(atBoris, (await showOne(atBoris, 'C-1')).mark, 'false_positive')).toMatchObject({
      kind: 'approved',
    });
    expect(await readPartyStates(atAdas.database)).toEqual(['false_positive', 'open_alert']);
  }
});

const readPartyStates = (database: Database): Promise<readonly string[]> =>
  readColumn(
    database,
    z.string(),
    `select state from customer_screening_status where state not in ('clear', 'not_screened') order by 1`,
  );
