import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildGroupMessage } from '../../../src/mail/group-message.js';
import { toGroupReport } from '../../../src/reports/assess-group.js';
import type { GroupFacts, GroupRosterFacts } from '../../../src/reports/group.js';
import { renderGroupPage } from '../../../src/reports/html-group.js';
import { renderGroupJson } from '../../../src/reports/write-group.js';
import { buildGroupFacts, buildNightRun, buildRoster, buildTroubledFacts, night } from '../../helpers/group-facts.js';
import { joinChunks } from '../../helpers/report-files.js';
import { schemasFolder } from '../../helpers/shipped-files.js';

const assess = (rosters: readonly GroupRosterFacts[], changes: Partial<GroupFacts> = {}) =>
  toGroupReport(buildGroupFacts(rosters, changes));

describe('the report over all rosters', () => {
  it('of complete nights without an alert is complete, and says how many rosters and customers that is', () => {
    const { verdict, total } = assess([buildRoster('retail'), buildRoster('cards')]);
    expect(verdict).toMatchObject({
      level: 'complete',
      short: 'all 2 rosters complete; no open alert',
      waiting: '2,000 customers in scope: 2,000 clear.',
      remarks: [],
    });
    expect(total.customers?.inScope).toBe(2_000);
  });

  it('begins with the roster that did not run, however many others are complete', () => {
    const others = Array.from({ length: 39 }, (_, index) => buildRoster(`a-${index}`));
    const { rosters, verdict } = assess([...others, buildRoster('savings', { runs: [] })]);
    expect(rosters).toHaveLength(40);
    expect(rosters[0]).toMatchObject({
      roster: 'savings',
      outcome: 'did_not_run',
      level: 'red',
      trouble:
        'No screening of it has begun since it was due at 2026-03-02 02:00; the last one is 2026-03-01-rescreen-3 of 2026-03-01 02:00 (complete).',
    });
    expect(verdict.level).toBe('red');
    expect(verdict.short).toMatch(/^1 roster did not run: savings; no open alert$/);
  });

  it('without any roster is red: no customer was screened', () => {
    const { verdict } = assess([]);
    expect(verdict).toMatchObject({ level: 'red', waiting: 'No customer is known.' });
    expect(verdict.short).toBe('no roster is configured or imported; open alerts are not known');
  });

  it('names each trouble, the worst first', () => {
    const { rosters, verdict } = toGroupReport(buildTroubledFacts());
    expect(rosters.map(({ roster, outcome, level }) => `${roster} ${outcome} ${level}`)).toEqual([
      'brokerage not_begun red',
      'pensions not_begun red',
      'cards refused red',
      'loans incomplete red',
      'leasing stopped partial',
      'savings running partial',
      'insurance not_configured partial',
      'retail complete complete',
      'wealth complete complete',
    ]);
    expect(verdict.short).toBe(
      '2 rosters not begun: brokerage, pensions; 1 roster refused: cards; 1 roster not to be relied on: loans; 1 roster still running: savings; ' +
        '1 roster not complete: leasing; 1 roster no longer configured: insurance; 4 new alerts, 10 open alerts, 6 critical, 2 overdue',
    );
    expect(verdict.remarks).toContain('cards: Run refused: retail.csv: there is no such file.');
    expect(verdict.remarks).toContain('leasing: Run not finished: the budget of the month is used up.');
    expect(verdict.waiting).toContain('8,000 customers in scope, without those of brokerage');
  });

  it('of a roster that was never imported, and of one whose night is over, says so', () => {
    const brokerage = buildRoster('brokerage', {
      runs: [],
      isImported: false,
      before: null,
      customers: null,
      alerts: null,
    });
    const { rosters } = assess([buildRoster('retail'), brokerage]);
    expect(rosters[0]).toMatchObject({ outcome: 'never_imported', level: 'red', customers: null, alerts: null });
  });

  it('is not complete while a customer lacks a valid screening, a former roster has alerts, or the night before is missing', () => {
    const uncovered = buildRoster('retail', { uncovered: '2 customers without a valid screening now' });
    expect(assess([uncovered]).rosters[0]).toMatchObject({ outcome: 'complete', level: 'partial' });
    const old = buildNightRun({ startedAt: new Date(night.getTime() - 5 * 86_400_000) });
    const span = { from: new Date(night.getTime() - 6 * 86_400_000), dueAt: null };
    expect(assess([buildRoster('retail', { runs: [old] })], span).rosters[0]?.trouble).toMatch(/screenings missing/);
    // Nothing is left to say about a former roster without customers and alerts.
    const former = buildRoster('gone', { runs: [], isConfigured: false, customers: null, alerts: null });
    expect(assess([buildRoster('retail'), former]).rosters.map(({ roster }) => roster)).toEqual(['retail']);
  });

  it('counts the last run of a night that was repaired, and all runs of a chosen span', () => {
    const first = buildNightRun({ runId: '2026-03-02-rescreen-6', state: 'refused', exitCode: 2 });
    const mended = buildRoster('retail', { runs: [first, buildNightRun()] });
    expect(assess([mended]).rosters[0]).toMatchObject({ level: 'complete', trouble: null, runs: 2 });
    expect(assess([mended], { isNight: false, dueAt: null }).rosters[0]).toMatchObject({
      level: 'partial',
      trouble: '1 other run of the span not complete.',
    });
  });

  it('is not complete while a roster is held, or the answers of a night before', () => {
    const hold = {
      runId: '2026-03-01-rescreen-3',
      reasons: ['12 of 20 customers are missing'],
      command: 'nightscreen rescreen',
    };
    const held = (kind: 'roster' | 'answers', runs = [buildNightRun()]) =>
      assess([buildRoster('retail', { runs, held: [{ ...hold, kind }] })]).rosters[0];
    expect(held('roster')).toMatchObject({ level: 'partial', trouble: 'Roster held.' });
    expect(held('answers', [])).toMatchObject({ level: 'red', trouble: expect.stringContaining('; answers held.') });
  });

  it('takes an onboarding of the whole roster as its run, and an import alone as none', () => {
    const { counts } = buildNightRun();
    const onboarding = buildNightRun({ kind: 'onboard', wantsAll: false, counts: counts && { ...counts, skipped: 0 } });
    expect(assess([buildRoster('new', { runs: [onboarding] })]).rosters[0]).toMatchObject({ outcome: 'complete' });
    const imported = buildNightRun({ kind: 'import', wantsAll: false });
    expect(assess([buildRoster('new', { runs: [imported] })]).rosters[0]).toMatchObject({ outcome: 'did_not_run' });
  });

  it('says why a job of the night ended badly, and that the schedule is paused', () => {
    const job = { job: 'rescreen', dueAt: night, begunAt: null, endedAt: night, exitCode: null } as const;
    const { verdict } = assess([buildRoster('retail', { runs: [] })], {
      jobs: [{ ...job, state: 'missed', because: 'no scheduler was there to start it when it was due' }],
      pause: { until: new Date('2026-03-03T00:00:00Z'), by: 'ada@host' },
    });
    expect(verdict.remarks).toEqual([
      'The schedule is paused until 2026-03-03 00:00 by ada@host: no job starts.',
      expect.stringMatching(/^retail: No screening/),
      'The job rescreen of 2026-03-02 02:00 was missed: no scheduler was there to start it when it was due.',
    ]);
  });

  it('names customers by reference only, links to the report of the roster, and marks a test key', async () => {
    const facts = buildTroubledFacts();
    const page = await joinChunks(renderGroupPage(toGroupReport(facts)));
    expect(page).toContain('C-77');
    expect(page).not.toContain('Nobody');
    expect(page).toContain('href="../2026-03-02-rescreen-7/report.html#changes"');
    expect(page.replaceAll(/<[^>]+>/g, '')).toContain(
      'nightscreen runs accept 2026-03-02-rescreen-7 --by NAME --reason TEXT',
    );
    expect(page).toContain('<body class="red">');
    expect(page).not.toContain('<script');
    expect(page).not.toContain('TEST: not evidence');
    const test = assess([buildRoster('retail', { mode: 'test' })]);
    expect(test.mode).toBe('test');
    expect(await joinChunks(renderGroupPage(test))).toContain('TEST: not evidence');
  });

  it('shows hidden characters and markup in the name of a roster as text', async () => {
    const page = await joinChunks(renderGroupPage(assess([buildRoster('<b>a\u202e', { runs: [] })])));
    expect(page).not.toContain('<b>a');
    expect(page).not.toContain('\u202e');
  });

  it('is a document of its published schema', async () => {
    const published = await readFile(new URL('group-report.schema.json', schemasFolder), 'utf8');
    const schema = z.fromJSONSchema(JSON.parse(published));
    const document: unknown = JSON.parse(renderGroupJson(toGroupReport(buildTroubledFacts())));
    expect(schema.safeParse(document).error).toBeUndefined();
    expect(schema.safeParse({ ...Object(document), more: 1 }).success).toBe(false);
  });
});

describe('the mail of the report over all rosters', () => {
  const build = (facts: GroupFacts, attach: 'none' | 'full' = 'none') =>
    buildGroupMessage(
      toGroupReport(facts),
      { directory: '/reports/group-2026-03-02', files: [{ name: 'report.html', bytes: 10, sha256: 'a'.repeat(64) }] },
      { address: 'head@bank.example', attach },
      { from: 'nightscreen@bank.example' },
    );

  it('says the worst first in its subject, and has a line for each roster and the commands that help', () => {
    const { subject, text, html } = build(buildTroubledFacts());
    expect(subject).toMatch(/^\[RED\] 2 rosters not begun: brokerage, pensions; .* - all rosters, 2026-03-02$/);
    expect(text).toContain('- brokerage: HAS NOT BEGUN.');
    expect(text).toContain(
      '- cards: REFUSED, exit code 2, 2026-03-02 02:00 to 2026-03-02 03:00. Run refused: retail.csv: there is no such file. 1,000 customers.',
    );
    expect(text).toContain('- wealth: complete, 2026-03-02 02:00 to 2026-03-02 03:00. 1,000 customers; 0 open alerts.');
    expect(text).toContain('10 open alerts: 6 critical, 4 medium, 2 overdue, 4 new, the oldest waits for 12 days.');
    expect(text).toContain('nightscreen runs accept 2026-03-02-rescreen-7 --by NAME --reason TEXT');
    expect(text).toContain('nightscreen report --all --send');
    expect(`${text}${html}`).not.toMatch(/Nobody|C-77/);
  });

  it('of a good night has nothing to do, and says when its answers are no evidence', () => {
    const { subject, text } = build(buildGroupFacts([buildRoster('retail', { mode: 'test' })]));
    expect(subject).toBe('[COMPLETE] 1 roster complete; no open alert - TEST key, all rosters, 2026-03-02');
    expect(text).toContain('TEST: not evidence.');
    expect(text).toContain('Nothing. This mail confirms that all rosters were screened.');
  });

  it('attaches the page for each who chose one, because it has no names', () => {
    expect(build(buildTroubledFacts(), 'full').attachments).toMatchObject([{ name: 'group-2026-03-02-report.html' }]);
    expect(build(buildTroubledFacts()).attachments).toEqual([]);
  });
});
