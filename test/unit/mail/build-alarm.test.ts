import { expect, it } from 'vitest';
import { type Alarm, buildAlarmMessage, buildFailureMessage } from '../../../src/mail/failure-message.js';

const alarm: Alarm = {
  phase: 'begun',
  title: 'retail: did not run',
  reason: 'no screening of it has begun',
  openedAt: new Date('2026-11-21T04:00:00Z'),
  at: new Date('2026-11-22T07:30:00Z'),
  actions: ['See the coverage of the rosters: nightscreen coverage'],
};
const settings = { from: 'night@bank.example', timezone: 'UTC', organisation: 'default' };
const build = (changes: Partial<Alarm>, key = ['7', changes.phase ?? 'begun'], to = 'ops@bank.example') =>
  buildAlarmMessage({ ...alarm, ...changes }, key, to, settings);

it('the mail that an incident is over says what it was, from when to when, and that work may still be missing', () => {
  const { subject, text, html, attachments } = build({ phase: 'over' });
  expect(subject).toBe('[RECOVERED] retail: did not run - 2026-11-22');
  expect(text).toContain('RECOVERED: retail: did not run');
  expect(text).toContain('Reason of the alarm: no screening of it has begun.');
  expect(text).toMatch(/Since:? +2026-11-21 04:00/);
  expect(text).toMatch(/Over:? +2026-11-22 07:30/);
  expect(text).toContain('nightscreen coverage');
  expect(text).toContain('Some work may still be missing');
  expect(html).toContain('Reason of the alarm: no screening of it has begun.');
  expect(attachments).toEqual([]);
});

it('begun and over are two mails, one for each recipient, and the same is told once however often it is built', () => {
  const begun = build({});
  expect(begun.subject).toBe('[ALARM] retail: did not run - 2026-11-22');
  expect(begun.text).not.toContain('Reason of the alarm');
  const over = build({ phase: 'over' });
  expect(over.messageId).not.toBe(begun.messageId);
  expect(build({ phase: 'over', at: new Date('2026-11-23T00:00:00Z') }).messageId).toBe(over.messageId);
  expect(build({}, undefined, 'mlro@bank.example').messageId).not.toBe(begun.messageId);
});

it('mails to a recipient of two organisations are two, and each names its own in the subject', () => {
  const build = (organisation: string) =>
    buildAlarmMessage(alarm, ['7'], 'ops@bank.example', { ...settings, organisation });
  expect(build('north').subject).toBe('[ALARM] retail: did not run - north, 2026-11-22');
  expect(build('north').messageId).not.toBe(build('south').messageId);
});

it('the times of an alarm and of a failure, those of their reasons included, are in the named zone of the reviewers', () => {
  const frame = { ...settings, timezone: 'Asia/Tokyo' };
  const at = new Date('2026-11-21T16:30:00Z');
  const reason = 'it was due at 2026-11-21T15:05:00.000Z (0 2 * * * UTC)';
  const sent = [
    buildAlarmMessage({ ...alarm, at, reason }, ['7'], 'ops@bank.example', frame),
    buildFailureMessage(
      {
        task: 'rescreen',
        roster: 'retail',
        outcome: 'did not run',
        reason,
        at,
        actions: ['See the runs: nightscreen runs'],
      },
      ['7'],
      'ops@bank.example',
      frame,
    ),
  ];
  for (const { subject, text, html } of sent) {
    expect(subject).toMatch(/ - 2026-11-22$/);
    for (const body of [text, html]) {
      expect(body).toContain('It was due at 2026-11-22 00:05 (0 2 * * * UTC).');
      expect(body).toContain('What to do');
      expect(body).toContain('2026-11-22 01:30');
      expect(body).toContain('Asia/Tokyo');
      expect(body).not.toMatch(/\dZ|\d UTC/);
    }
  }
});
