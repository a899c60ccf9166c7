import { describe, expect, it } from 'vitest';
import { buildReportMessage } from '../../../src/mail/build-message.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
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
const build = (facts: RunFacts, recipient = 'mlro@bank.example'): ReturnType<typeof buildReportMessage> =>
  buildReportMessage(toReport(facts), written, recipient, settings);

describe('the subject begins with the state and its counts', () => {
  const changes = Array.from({ length: 12 }, (_, changeId) => buildChange({ changeId }));
  it.each([
    ['[COMPLETE] 12 to review - retail, 2026-11-21', buildRunFacts({ changes, counts: buildCounts({ changes: 12 }) })],
    ['[COMPLETE] nothing to review - retail, 2026-11-21', buildRunFacts()],
    ['[PARTIAL] 2 not screened - TEST key, retail, 2026-11-21', buildEventfulFacts()],
    ['[RED] canary failed - retail, 2026-11-21', buildRedFacts()],
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
      expect(body).toContain('6 roster rows were rejected: customers known before are screened by their last record');
      expect(body).toContain('not evidence');
    }
  });

  it('keeps its Message-ID for ever, one per recipient and contents', () => {
    const facts = buildRunFacts();
    const first = build(facts);
    expect(build(buildRunFacts())).toEqual(first);
    expect(build(facts, 'MLRO@bank.example').messageId).toBe(first.messageId);
    expect(build(facts, 'other@bank.example').messageId).not.toBe(first.messageId);
    const relisted = written.files.map((file) => (file.name === 'manifest.json' ? { ...file, sha256: 'ee' } : file));
    const toId = (files: WrittenReport['files']): string =>
      buildReportMessage(toReport(facts), { ...written, files }, 'mlro@bank.example', settings).messageId;
    expect(toId(relisted)).toBe(first.messageId);
    expect(toId(written.files.slice(1))).not.toBe(first.messageId);
    expect(first.messageId).toMatch(/^<nightscreen\.[0-9a-f]{40}@bank\.example>$/);
  });

  it('escapes what comes from outside', () => {
    const { html, subject } = build(buildRunFacts({ roster: '<b>x</b>\r\nBcc: thief@evil.example' }));
    expect(html).not.toContain('<b>x');
    expect(subject).not.toMatch(/[\r\n]/);
  });

  it('attaches the page only when asked to, and says that it holds personal data', () => {
    const message = buildReportMessage(toReport(buildRunFacts()), written, 'mlro@bank.example', {
      ...settings,
      attach: 'full',
    });
    expect(message.attachments).toMatchObject([{ path: '/var/reports/run-1/report.html', sha256: 'aa' }]);
    expect(message.text).toContain('personal data');
    expect(build(buildRunFacts()).attachments).toEqual([]);
  });
});
