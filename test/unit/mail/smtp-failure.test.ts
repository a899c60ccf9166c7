import { expect, it } from 'vitest';
import { toSmtpFailure } from '../../../src/mail/delivery.js';

const fail = (message: string, facts: Record<string, unknown> = {}): Error => Object.assign(new Error(message), facts);

it.each([
  ['550 of a recipient', { command: 'RCPT TO', responseCode: 550 }, 'refused', false],
  ['554 of a message', { command: 'DATA', responseCode: 554 }, 'refused', false],
  ['451 of a recipient', { command: 'RCPT TO', responseCode: 451 }, 'failed', false],
  ['535 of a login, which is the set-up', { command: 'AUTH PLAIN', responseCode: 535 }, 'failed', true],
  ['530 of a sender, which asks for a login', { command: 'MAIL FROM', responseCode: 530 }, 'failed', true],
  ['502 of STARTTLS, which is the set-up', { command: 'STARTTLS', responseCode: 502, code: 'ETLS' }, 'failed', true],
  ['a connection that is cut', { command: 'CONN', code: 'ECONNECTION' }, 'failed', true],
  ['an abort', {}, 'failed', true],
])('%s', (_, facts, kind, isUnreachable) => {
  expect(toSmtpFailure(fail('said', facts))).toMatchObject({ kind, isUnreachable, isTooLarge: false });
});

it('tells a message that is too large from one that is refused otherwise', () => {
  expect(toSmtpFailure(fail('x', { command: 'DATA', responseCode: 552 })).isTooLarge).toBe(true);
  for (const [responseCode, said, isTooLarge] of [
    [554, '554 5.3.4 Message rejected', true],
    [550, '550 5.2.3 Requested mail action not taken', true],
    [552, '552 5.2.2 no', true],
    [550, '550 Message size exceeds fixed maximum message size', true],
    [554, '554 Message too big for system', true],
    [554, '554 Your message is TOO LARGE', true],
    [550, '550 maximum message length exceeded', true],
    [550, '550 5.7.1 Message blocked: the attachment size is suspicious', false],
    [554, '554 5.7.1 Spam score exceeds 5', false],
    [550, '550 5.4.5 Daily sending quota exceeded', false],
    [554, '554 5.7.1 refused by policy', false],
    [551, '551 message too large', false],
    [451, '451 4.3.4 message too large', false],
  ] as const) {
    const failure = toSmtpFailure(fail(`Message failed: ${said}`, { command: 'DATA', responseCode }));
    expect([said, failure.isTooLarge]).toEqual([said, isTooLarge]);
  }
  const announced = fail('Message size larger than allowed 1000', { command: 'MAIL FROM', code: 'EMESSAGE' });
  expect(toSmtpFailure(announced)).toMatchObject({ kind: 'refused', isTooLarge: true });
});
