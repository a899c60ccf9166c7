import { describe, expect, it } from 'vitest';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { mailSettingsSchema, type Recipient } from '../../../src/mail/settings.js';
import { toReport } from '../../../src/reports/report.js';
import type { RunFacts } from '../../../src/reports/run-facts.js';
import type { WrittenReport } from '../../../src/reports/write-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { buildChange, buildCounts, buildRedFacts, buildRunFacts } from '../../helpers/run-facts.js';

const settings = mailSettingsSchema.parse({ from: 'screening@bank.example', to: ['mlro@bank.example'] });
const written: WrittenReport = {
  directory: '/var/reports/run-1',
  files: [
    { name: 'report.html', bytes: 10, sha256: 'aa' },
    { name: 'changes.csv', bytes: 10, sha256: 'bb' },
    { name: 'SHA256SUMS', bytes: 10, sha256: 'cc' },
    { name: 'manifest.json', bytes: 10, sha256: 'dd' },
  ],
};
const reader: Recipient = { address: 'mlro@bank.example', shows: 'report', attach: 'none' };
const build = (facts: RunFacts, changes: Partial<Recipient> = {}, files = written.files) =>
  buildReportMessage(toReport(facts), { ...written, files }, { ...reader, ...changes }, settings);

describe('the subject begins with the state and its counts', () => {
  const changes = Array.from({ length: 12 }, (_, changeId) => buildChange({ changeId }));
  it.each([
    ['[COMPLETE] 12 changes - retail, 2026-11-21', buildRunFacts({ changes, counts: buildCounts({ changes: 12 }) })],
    ['[COMPLETE] nothing to review - retail, 2026-11-21', buildRunFacts()],
    ['[PARTIAL] 2 not screened - TEST key, retail, 2026-11-21', buildEventfulFacts()],
    ['[RED] control search failed - retail, 2026-11-21', buildRedFacts()],
  ])('%s', (subject, facts) => {
    expect(build(facts).subject).toBe(subject);
  });
});

describe('a message', () => {
  it('holds no name, reference or birth date of anybody', () => {
    const facts = buildEventfulFacts();
    const { subject, text, html } = build(facts);
    const people = [...facts.changes, ...facts.notScreened].map((line) => line.party);
    const listed = facts.changes.flatMap((change) => [change.before, change.after]).filter((match) => match !== null);
    for (const secret of [
      ...people.flatMap((party) => [party.name, party.reference, party.birthDate ?? party.name]),
      ...listed.flatMap((match) => [match.name, match.id]),
      ...facts.rejects.flatMap((row) => Object.values(row.fields).filter((value) => value.length > 6)),
      ...facts.dossierChanges.map((change) => change.dossierId),
    ]) {
      expect(`${subject}\n${text}\n${html}`).not.toContain(secret);
    }
  });

  it('names the rejected rows and marks a test key', () => {
    const { text, html } = build(buildEventfulFacts());
    for (const body of [text, html]) {
      expect(body).toContain(
        '6 roster rows were rejected: known customers are screened with their last accepted record',
      );
      expect(body).toContain('not evidence');
    }
  });

  it('keeps its Message-ID for ever, one per recipient and contents', () => {
    const facts = buildRunFacts();
    const first = build(facts);
    expect(build(buildRunFacts())).toEqual(first);
    expect(build(facts, { address: 'MLRO@bank.example' }).messageId).toBe(first.messageId);
    expect(build(facts, { address: 'other@bank.example' }).messageId).not.toBe(first.messageId);
    const relisted = written.files.map((file) => (file.name === 'manifest.json' ? { ...file, sha256: 'ee' } : file));
    expect(build(facts, {}, relisted).messageId).toBe(first.messageId);
    expect(build(facts, {}, written.files.slice(1)).messageId).not.toBe(first.messageId);
    expect(first.messageId).toMatch(/^<nightscreen\.[0-9a-f]{40}@bank\.example>$/);
  });

  it('escapes what comes from outside', () => {
    const { html, subject } = build(buildRunFacts({ roster: '<b>x</b>\r\nBcc: thief@evil.example' }));
    expect(html).not.toContain('<b>x');
    expect(subject).not.toMatch(/[\r\n]/);
  });

  it('attaches the page only when asked to, and says that it holds personal data', () => {
    const message = build(buildRunFacts(), { attach: 'full' });
    expect(message.attachments).toMatchObject([{ path: '/var/reports/run-1/report.html', sha256: 'aa' }]);
    expect(message.text).toContain('personal data');
    expect(build(buildRunFacts()).attachments).toEqual([]);
  });
});

describe('each reader is told what they need', () => {
  const due = new Date('2026-11-24T02:00:00Z');
  const alert = {
    state: 'open' as const,
    openedAt: new Date(0),
    dueAt: due,
    assignedTo: null,
    reopenedBecause: [],
    said: [],
    replaced: null,
  };
  const facts = (): RunFacts => ({
    ...buildEventfulFacts(),
    changes: buildEventfulFacts().changes.map((change, index) => ({ ...change, alert, isSanctionHit: index === 0 })),
    openAlerts: {
      waiting: 14,
      customers: 9,
      absent: 1,
      overdue: 3,
      unassigned: 2,
      proposed: 0,
      news: { alerts: 0, sanctionHits: 0, expired: 0 },
      oldestAt: null,
      bySeverity: [{ severity: 'critical', waiting: 2, overdue: 1 }],
      byAssignee: [],
      byAge: { upToOneDay: 14, upToOneWeek: 0, upToThirtyDays: 0, older: 0 },
    },
  });
  const emit = (shows: Recipient['shows'], reported = facts()) => build(reported, { shows });

  it('reviewers: counts by severity, sanction hits, what waits and until when, and what to do', () => {
    const { text } = emit('report');
    expect(text).toContain('- 2 critical changes, 1 of them a sanction hit');
    expect(text).toContain('14 open alerts of 9 customers: 2 critical, 3 overdue, 1 with an absent match.');
    expect(text).toContain('- 2 open alerts rated critical, 1 overdue');
    expect(text).toContain('- Next due among the changes: 2026-11-24 02:00');
    expect(text).toContain('nightscreen review export');
    expect(emit('report', buildRunFacts()).text).toContain('Nothing. This mail confirms that the run took place.');
  });

  it('managers: coverage and figures, no lists and no commands', () => {
    const { text } = emit('summary');
    expect(text).toContain('498 of 500 customers in scope have a valid screening (99.6 %)');
    expect(text).not.toContain('nightscreen ');
  });

  it('operators: what failed, why, and what to type', () => {
    const { text } = emit('failure');
    expect(text).toContain('Not screened after all repeats: 1 screening temporarily unavailable, 1 no answer in time');
    expect(text).toContain('nightscreen runs show run-20261121-0200-7f3a');
    expect(emit('failure', { ...facts(), state: 'stopped' }).text).toContain('nightscreen runs resume');
  });

  it.each(['report', 'summary', 'failure'] as const)(
    '%s: the text says what the page says, and nobody is named',
    (shows) => {
      const { text, html } = emit(shows);
      const words = (part: string) => part.replace(/<[^>]*>/g, ' ').match(/[\p{L}\p{N}]+/gu);
      expect(words(html)).toEqual(words(text));
      expect(text).not.toMatch(/Haddad|C-1001|1971/);
    },
  );

  it('nobody is shown a path of the server', () => {
    for (const shows of ['report', 'summary', 'failure'] as const) {
      expect(emit(shows).text).toContain('on the server, in the folder run-1');
      expect(JSON.stringify(emit(shows))).not.toContain('/var/reports');
    }
  });

  it('different mail about one report is not the same message', () => {
    expect(new Set((['report', 'summary', 'failure'] as const).map((shows) => emit(shows).messageId)).size).toBe(3);
  });
});
