import { describe, expect, it } from 'vitest';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { describeRule } from '../../../src/reports/html-card.js';
import { renderHtml } from '../../../src/reports/html-page.js';
import { toWaitingCases } from '../../../src/reports/html-waiting.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts, ToReviewFacts } from '../../../src/reports/run-facts.js';
import { describeChange } from '../../../src/reports/words.js';
import { joinChunks } from '../../helpers/report-files.js';
import {
  buildChange,
  buildCounts,
  buildHistory,
  buildMatch,
  buildParty,
  buildRedFacts,
  buildRunFacts,
  buildToReview,
  buildWaitingAlert,
} from '../../helpers/run-facts.js';

/** 103 alerts, all overdue, beside 26 changes of which ten are for information. */
const alerts = Array.from({ length: 103 }, (_, index) =>
  buildWaitingAlert({
    mark: `N${index}-ABCDEFGHJK-0`,
    severity: index < 12 ? 'critical' : 'high',
    party: buildParty({ reference: `C-${index % 41}`, name: `Customer ${index % 41}` }),
    listed: buildMatch({ id: `m-${index}`, name: `Listed ${index}` }),
    openedAt: new Date('2026-11-02T02:00:00Z'),
    dueAt: new Date('2026-11-03T02:00:00Z'),
  }),
);
const changes = Array.from({ length: 26 }, (_, changeId) =>
  buildChange({ changeId, severity: changeId < 10 ? 'info' : 'high', fields: ['score'], matchId: `x-${changeId}` }),
);
const openAlerts: NonNullable<RunFacts['openAlerts']> = {
  waiting: 103,
  customers: 41,
  absent: 0,
  overdue: 103,
  unassigned: 103,
  proposed: 0,
  news: { alerts: 0, sanctionHits: 0, expired: 0 },
  oldestAt: new Date('2026-11-02T02:00:00Z'),
  bySeverity: [
    { severity: 'critical', waiting: 12, overdue: 12 },
    { severity: 'high', waiting: 91, overdue: 91 },
  ],
  byAssignee: [],
  byAge: { upToOneDay: 0, upToOneWeek: 0, upToThirtyDays: 103, older: 0 },
};
const busy = buildRunFacts({ openAlerts, changes, counts: buildCounts({ changes: 26 }) });
const toPage = (facts: RunFacts, toReview: ToReviewFacts | null): Promise<string> =>
  joinChunks(renderHtml(toReport(facts, toReview)));
const toSection = (page: string, id: string): string => {
  const start = page.indexOf(`<section id="${id}"`);
  return page.slice(start, page.indexOf('<section id="', start + 1));
};

describe('the first screen', () => {
  it('counts what waits for a person: how much is critical, overdue, how old the oldest is', async () => {
    const page = await toPage(busy, buildToReview(alerts));
    const top = page.slice(page.indexOf('<header>'), page.indexOf('<section'));
    expect(top).toContain('103 open alerts of 41 customers');
    expect(top).toMatch(
      /<b>12<\/b> <i>critical<\/i>.*<b>103<\/b> <i>overdue<\/i>.*<b>19 days<\/b> <i>age of the oldest, open since <time>2026-11-02/,
    );
    const nav = /<nav.*<\/nav>/.exec(page)?.[0] ?? '';
    expect(nav).toContain('Open alerts</a> <span class="muted">103, 12 critical, 103 overdue</span>');
    expect(nav).not.toContain('26');
  });

  it('says how many alerts are open because a disposition expired, on a night that is held too', async () => {
    const { settled } = buildHistory();
    const expired = { ...busy, settled: settled && { ...settled, expired: 82 } };
    const page = await toPage(expired, buildToReview(alerts));
    expect(page).toContain('<p class="headline">103 open alerts of 41 customers, 82 dispositions expired</p>');
    expect(page).toContain('82 dispositions expired: their alerts are open again. 26 changes');
    for (const state of ['complete', 'incomplete'] as const)
      expect(toReport({ ...expired, state }, null).verdict.short).toContain('103 overdue, 82 dispositions expired');
    expect(await toPage(busy, null)).not.toContain('expired');
    const again = buildWaitingAlert({ openedAt: busy.finishedAt, news: 'expired' });
    const waiting = toSection(await toPage(expired, buildToReview([again])), 'waiting');
    expect(waiting).toContain('<h3>Open again: the disposition expired: 1 alert</h3>');
    expect(waiting).toContain('<b>disposition expired</b>, open since');
    expect(waiting).not.toContain('<b>new</b>');
  });

  it('of a held run begins with the new alerts by its answers, apart from expired dispositions and older alerts', async () => {
    const held = { kind: 'answers', reasons: ['hits vanished'], customers: 30, states: {}, accepted: [] } as const;
    const kinds = ['opened', 'escalated', 'returned', 'expired', null] as const;
    const mixed = kinds.map((news, index) => buildWaitingAlert({ mark: `N${index}-A-0`, news }));
    const opened = { ...openAlerts, news: { alerts: 3, sanctionHits: 2, expired: 1 } };
    const quiet = { ...busy, changes: [], counts: buildCounts({ changes: 0 }) };
    const night = { ...quiet, openAlerts: opened, state: 'incomplete', held: [held] } as const;
    const { verdict } = toReport(night);
    expect(verdict.short).toMatch(/^2 new sanction hits, 1 other new alert, answers held, 103 open alerts, /);
    expect(verdict.news).toContain('By the held answers: 2 new sanction hits, 1 other new alert. They are provisional');
    expect(toReport({ ...night, openAlerts }).verdict).toMatchObject({
      short: expect.stringMatching(/^answers held, /),
      news: expect.stringContaining('The held answers show no new alert.'),
    });
    const page = await toPage(night, buildToReview(mixed));
    expect(page).toContain(
      '<p class="headline">2 new sanction hits, 1 other new alert, 103 open alerts of 41 customers</p>',
    );
    const section = toSection(page, 'waiting');
    const titles = [
      'New in this run: 3 alerts',
      'Open again: the disposition expired: 1 alert',
      'Open before: 1 alert',
    ];
    const places = titles.map((title) => section.indexOf(`<h3>${title}</h3>`));
    const marks = kinds.map((_, index) => section.indexOf(`id="alert-N${index}`));
    const order = [places[0], ...marks.slice(0, 3), places[1], marks[3], places[2], marks[4]];
    expect(order).toEqual(order.toSorted((one = 0, other = 0) => one - other));
    expect(places).not.toContain(-1);
  });

  it('of a first run calls nothing new, because all is', async () => {
    const first = {
      ...busy,
      comparedWith: null,
      openAlerts: { ...openAlerts, news: { alerts: 103, sanctionHits: 3, expired: 0 } },
    };
    const page = await toPage(first, buildToReview(alerts.map((alert) => ({ ...alert, news: 'opened' }))));
    expect(page).not.toMatch(/New in this run|Open before|new alert|new sanction/);
    expect(page).toContain('<p class="headline">103 open alerts of 41 customers</p>');
  });

  it('is followed by what waits, what changed and coverage, in this order', async () => {
    const page = await toPage(busy, buildToReview(alerts));
    const sections = [...page.matchAll(/<section id="([\w-]+)"/g)].map(([, id]) => id);
    expect(sections.slice(0, 3)).toEqual(['waiting', 'changes', 'coverage']);
  });

  it('of a run that cannot be relied on takes no list that is empty for an all clear', async () => {
    const none = { ...openAlerts, waiting: 0, customers: 0, overdue: 0, oldestAt: null, bySeverity: [] };
    const page = await toPage({ ...buildRedFacts(), openAlerts: none }, null);
    expect(page).not.toContain('No alert is open');
    expect(page).toContain('This run cannot be relied on, although no alert is open.');
  });
});

describe('what waits', () => {
  it('is all on the page, each alert once and with its code, whether it changed or not', async () => {
    const waiting = toSection(await toPage(busy, buildToReview(alerts)), 'waiting');
    for (const { mark } of alerts) expect(waiting.split(`id="alert-${mark}"`)).toHaveLength(2);
    expect(waiting).toContain('<code>nightscreen review import report.xlsx</code>');
    const cut = toSection(await toPage(busy, buildToReview(alerts.slice(0, 50), 103)), 'waiting');
    expect(cut).toContain('Only 50 of 103 alerts are shown: the new ones first, then the most urgent.');
  });

  it('stands together by customer, most urgent first, and entries about one person side by side', () => {
    const alert = (reference: string, name: string, birthDates: string[], id: string) =>
      buildWaitingAlert({ party: buildParty({ reference }), listed: buildMatch({ id, name, birthDates }) });
    const cases = toWaitingCases([
      alert('C-2', 'IVANOV, Sergei', ['1960-02-03'], 'ofac'),
      alert('C-1', 'Amina HADDAD', [], 'one'),
      alert('C-2', 'Sergei Petrov', ['1971'], 'other'),
      alert('C-2', 'Sergei Borisovich Ivanov', ['1960'], 'un'),
      alert('C-2', 'Sergei Ivanov', ['1982-01-01'], 'younger'),
    ]);
    expect(cases.map(({ reference, alerts }) => [reference, alerts])).toEqual([
      ['C-2', 4],
      ['C-1', 1],
    ]);
    const people = cases[0]?.people.map((entries) => entries.map(({ listed }) => listed.id));
    expect(people).toEqual([['ofac', 'un'], ['other'], ['younger']]);
  });

  it('says of an alert whose match is absent why, and which decision it waits for', async () => {
    const absent = buildWaitingAlert({ absence: 'below_threshold', absentSince: new Date('2026-11-20T02:00:00Z') });
    const waiting = toSection(await toPage(busy, buildToReview([absent], 103)), 'waiting');
    expect(waiting).toContain(
      '<b>Match absent</b>: the match fell below the threshold (since <time>2026-11-20</time>). Confirm it with the disposition “no longer matched”',
    );
  });

  it('shows what was decided about the match that left when a new one came', async () => {
    const replaced = {
      verdict: 'false_positive' as const,
      reviewer: 'ada',
      reason: 'another birth date',
      decidedAt: new Date('2026-11-20T09:00:00Z'),
      name: 'Amina HADAD',
      matchId: 'm-12',
    };
    const waiting = toSection(await toPage(busy, buildToReview([buildWaitingAlert({ replaced })], 103)), 'waiting');
    expect(waiting).toContain(
      'false positive by ada on <span class="whole">2026-11-20</span> about Amina HADAD (m-12)',
    );
  });
});

describe('mail', () => {
  const reader = { address: 'mlro@bank.example', shows: 'report', attach: 'none' } as const;
  const build = (facts: RunFacts) =>
    buildReportMessage(toReport(facts), { directory: '/var/run-1', files: [] }, reader, { from: 'night@bank.example' });

  it('says in subject and body what the page says: as much waits, as much changed', async () => {
    const { subject, text } = build(busy);
    expect(subject).toBe('[COMPLETE] 103 open alerts, 12 critical, 103 overdue, 26 changes - retail, 2026-11-21');
    expect(text).toContain(
      '103 open alerts of 41 customers: 12 critical, 103 overdue, the oldest since 2026-11-02 (19 days).',
    );
    expect(text).toContain('26 changes since 2026-11-20: 16 high, 10 for information.');
    expect(toSection(await toPage(busy, null), 'changes')).toContain('26 changes since');
  });

  it('names the new alerts by their codes before all others, and nothing more of them', () => {
    const fresh = alerts.slice(0, 30).map((alert) => ({ ...alert, news: 'opened' }) as const);
    const night = { ...busy, openAlerts: { ...openAlerts, news: { alerts: 30, sanctionHits: 0, expired: 0 } } };
    const report = toReport(night, buildToReview([...fresh, ...alerts.slice(30)]));
    const { text, html } = buildReportMessage(report, { directory: '/r', files: [] }, reader, {
      from: 'n@bank.example',
    });
    const lines = text.split('\n').filter((line) => line.startsWith('- '));
    expect(lines[0]).toBe('- new: N0-ABCDEFGHJK-0, critical, Politically exposed, Sanctioned, due 2026-11-03 02:00');
    expect(lines.slice(19, 22)).toEqual([
      expect.stringContaining('N19-ABCDEFGHJK-0'),
      '- 10 further new alerts: see the report',
      expect.stringContaining('12 open alerts rated critical'),
    ]);
    expect(text).toContain('By this run: 30 new alerts.');
    expect(html).toContain('<li>new: N0-ABCDEFGHJK-0');
    expect(text).not.toMatch(/Customer \d|Listed \d|C-\d/);
  });

  it('never says that there is nothing to review above alerts that wait, and names them beside trouble', () => {
    const quiet = buildRunFacts({ openAlerts });
    expect(build(quiet).subject).toBe('[COMPLETE] 103 open alerts, 12 critical, 103 overdue - retail, 2026-11-21');
    expect(build({ ...quiet, state: 'stopped' }).subject).toContain('run not finished, 103 open alerts, 12 critical');
    expect(build(buildRunFacts()).subject).toContain('nothing to review');
  });
});

describe('a change is named for what happened', () => {
  it('a politically exposed person who is sanctioned now is an escalation to sanctions', () => {
    const [before, after] = [
      buildMatch({ topics: ['role.pep'] }),
      buildMatch({ topics: ['role.pep', 'sanction.linked'] }),
    ];
    expect(describeChange(buildChange({ kind: 'match_changed', before, after }))).toBe('Escalated to sanctions');
    const unflagged = buildMatch({ topics: ['role.pep'], isHit: false });
    expect(describeChange(buildChange({ kind: 'hit_gained', before: unflagged, after }))).toBe(
      'Escalated to sanctions, now flagged as hit',
    );
    expect(describeChange(buildChange({ kind: 'hit_gained', before: after, after }))).toBe('Now flagged as hit');
  });

  it('delisted is said only where the list changed and the answer was whole', () => {
    const gone = { before: buildMatch(), after: null, rule: 'delisted' };
    const causes = ['service_data', 'customer_record', 'settings'] as const;
    const reported = causes.flatMap((cause) =>
      (['match_removed', 'match_not_returned'] as const).map((kind) => {
        const change = buildChange({ ...gone, kind, cause });
        return /delisted/i.test(`${describeChange(change)} ${describeRule(change)}`);
      }),
    );
    expect(reported).toEqual([true, false, false, false, false, false]);
  });

  it('what the customer was before stands above what it is now', async () => {
    const formerParty = buildParty({ name: 'Amina Khoury', birthDate: '1971-09-03' });
    const facts = (severity: 'high' | 'low'): RunFacts =>
      buildRunFacts({
        changes: [buildChange({ severity, cause: 'customer_record', formerParty })],
        counts: buildCounts({ changes: 1 }),
      });
    const card = toSection(await toPage(facts('high'), null), 'changes');
    expect(card).toMatch(/Customer before<\/th>.*Amina Khoury.*1971-09-03/);
    expect(card).toMatch(/Customer now<\/th>.*Amina Haddad.*1971-03-09/);
    const line = toSection(await toPage(facts('low'), null), 'changes');
    expect(line).toMatch(/Amina Khoury<\/bdi> <span aria-label="became">→<\/span> <strong><bdi>Amina Haddad/);
    expect(line).toMatch(/1971-09-03<\/bdi> <span aria-label="became">→<\/span> <strong><bdi class="whole">1971-03-09/);
  });
});
