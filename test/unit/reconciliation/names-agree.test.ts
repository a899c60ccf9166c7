import { expect, it } from 'vitest';
import { namesAgree } from '../../../src/reconciliation/applicant.js';

it.each([
  ['Jörg Møller', 'JORG MOLLER'],
  ['Møller, Jörg', 'Jörg Møller'],
  ['Николай Петров', 'Nikolai Petrov'],
  ['محمد علي', 'Muhammad Ali'],
  ['Maria del Carmen Ruiz', 'Maria Carmen Ruiz'],
  ['Anne Louise Lind', 'Anne Lind'],
  ['J. Smith', 'John Smith'],
  ['Müller Bau GmbH', 'Mueller Bau'],
  ['Jean-Luc Picard', 'Jean Luc Picard'],
  ["O'Neill Shipping Ltd.", 'ONeill Shipping Limited'],
  ['王小明', 'Wang Xiaoming'],
])('%s may be %s', (one, other) => {
  expect(namesAgree(one, other)).toBe(true);
  expect(namesAgree(other, one)).toBe(true);
});

it.each([
  ['Jörg Møller', 'Jens Møller'],
  ['Anne Lind', 'Lind'],
  ['J. S.', 'John Smith'],
  ['Somebody Else', 'Bertil Kvarnström'],
  ['North Sea Trading Ltd', 'South Sea Trading Ltd'],
  ['Николай Петров', 'Nikolai Pavlov'],
  ['कमल शर्मा', 'कमला शर्मा'],
  ['Anne Lind', ''],
  ['Limited', 'Company'],
])('%s is not %s', (one, other) => {
  expect(namesAgree(one, other)).toBe(false);
  expect(namesAgree(other, one)).toBe(false);
});
