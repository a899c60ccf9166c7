import { expect, test } from 'vitest';
import { isSameRecipient } from '../../../src/client/invitations.js';

test.each<['email' | 'sms', string, string, boolean]>([
  ['email', 'Plantina@Nominova.example', 'plantina@nominova.example', true],
  ['email', 'plantina@nominova.example', ' plantina@nominova.example ', true],
  ['email', 'plantina@nominova.example', 'plantina@nominova.example.org', false],
  ['email', 'plantina1@nominova.example', '1', false],
  ['email', 'plantina@nominova.example', '', false],
  ['sms', '+45 12 34 56 78', '+4512345678', true],
  ['sms', '0045 12345678', '+45 (12) 34-56-78', true],
  ['sms', '+4512345678', '+4512345679', false],
  ['sms', '+4512345678', '12345678', false],
  ['sms', 'none', '', false],
  ['sms', 'none', 'nobody', false],
])('by %s %j and %j are the same recipient: %s', (channel, one, other, expected) => {
  expect(isSameRecipient(channel, one, other)).toBe(expected);
  expect(isSameRecipient(channel, other, one)).toBe(expected);
});
