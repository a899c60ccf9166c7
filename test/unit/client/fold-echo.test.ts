import { expect, test } from 'vitest';
import { foldEcho } from '../../../src/client/aml.js';

test.each([
  ['José  Núñez', 'JOSE\u0301 NU\u0301N\u0303EZ'],
  [' Ali\tHassan ', 'ali hassan'],
  ['ＡＢＣ Ltd', 'abc ltd'],
  ['Groß GmbH', 'GROSS GMBH'],
  ['Ὀδυσσεύς', 'ὈΔΥΣΣΕΎΣ'],
  ['İstanbul', 'İSTANBUL'],
  ['Nguyễn\u00a0Văn', 'nguyễn văn'],
])('%s is taken as echoed by %s', (sent, echoed) => {
  expect(foldEcho(echoed)).toBe(foldEcho(sent));
});

test.each([
  ['Ivan Petrov', 'Ivan Petrova'],
  ['Jose', 'José'],
  ['Li Na', 'LiNa'],
  ['Петров', 'Petrov'],
])('%s is not taken as echoed by %s', (sent, echoed) => {
  expect(foldEcho(echoed)).not.toBe(foldEcho(sent));
});
