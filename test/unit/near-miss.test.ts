import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countEdits, findNearMiss } from '../../src/near-miss.js';

test('no word is an edit away from itself, and the order of two words does not matter', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (left, right) => {
      expect(countEdits(left, left)).toBe(0);
      expect(countEdits(left, right)).toBe(countEdits(right, left));
    }),
  );
});

test('swapped neighbours and other spellings are near, other words are not', () => {
  expect(findNearMiss('persno', ['person', 'entity'])).toBe('person');
  expect(findNearMiss('base_url', ['baseUrl', 'mode'])).toBe('baseUrl');
  expect(findNearMiss('colour', ['mode', 'rate'])).toBeNull();
});
