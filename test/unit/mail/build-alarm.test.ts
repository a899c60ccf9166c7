import { expect, it } from 'vitest';
import { type Alarm, buildAlarmMessage } from '../../../src/mail/failure-message.js';

const alarm: Alarm = {
  phase: 'begun',
  title: 'retail: did not run',
  reason: 'no screening of it has begun',
  openedAt: new Date('2026-11-21T04:00:00Z'),
  at: new Date('2026-11-22T07:30:00Z'),
  actions: ['See the coverage of the rosters: nightscreen coverage'],
};
const settings = { from: 'night@bank.example' };
const build = (changes: Partial<Alarm>, key = ['7', changes.phase ?? 'begun'], to = 'ops@bank.example') =>
  buildAlarmMessage({ ...alarm, ...changes }, key, to, settings);

it('the mail that an incident is over says what it was, from when to when, and that work may still be missing', () => {
  const { subject, text, html, attachments } = build({ phase: 'over' });
  expect(subject).toBe('[RECOVERED] retail: did not run - 2026-11-22');
  expect(text).toContain('RECOVERED: retail: did not run');
  expect(text).toContain('Reason of the alarm: no screening of it has begun');
  expect(text).toMatch(/Since:? +2026-11-21 04:00/);
  expect(text).toMatch(/Over:? +2026-11-22 07:30/);
  expect(text).toContain('nightscreen coverage');
  expect(text).toContain('Some work may still be missing');
  expect(html).toContain('Reason of the alarm: no screening of it has begun');
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
