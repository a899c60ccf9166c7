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

it('reports a message that is too large from one that is refused otherwise', () => {
  expect(toSmtpFailure(fail('x', { command: 'DATA', responseCode: 552 })).isTooLarge).toBe(true);
  const announced = fail('Message size larger than allowed 1000', { command: 'MAIL FROM', code: 'EMESSAGE' });
  expect(toSmtpFailure(announced)).toMatchObject({ kind: 'refused', isTooLarge: true });
});
