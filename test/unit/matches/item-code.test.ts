import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseItemMark, toItemMark, toStamp } from '../../../src/matches/item-code.js';

const key = Buffer.from('the key of an organisation');
const ids = fc.integer({ min: 1, max: 2 ** 40 - 1 });
const stamps = fc.stringMatching(/^[0-9a-f]{64}$/).map(toStamp);

it('a mark leads back to its item and stamp, however it is typed', () => {
  fc.assert(
    fc.property(ids, stamps, (itemId, stamp) => {
      const mark = toItemMark({ itemId, stamp }, key);
      expect(mark).toMatch(/^N[0-9A-Z]{8}-[0-9A-Z]{10}-[0-9A-Z]$/);
      expect(parseItemMark(mark, key)).toEqual({ itemId, stamp });
      expect(parseItemMark(` '${mark.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} `, key)).toEqual({
        itemId,
        stamp,
      });
    }),
  );
});

it('any one character that is wrong is noticed', () => {
  fc.assert(
    fc.property(ids, stamps, fc.nat(18), fc.integer({ min: 1, max: 31 }), (itemId, stamp, place, shift) => {
      const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
      const bare = toItemMark({ itemId, stamp }, key).replaceAll('-', '');
      const at = place + 1;
      const wrong = letters[(letters.indexOf(bare.charAt(at)) + shift) % 32] ?? '';
      expect(parseItemMark(bare.slice(0, at) + wrong + bare.slice(at + 1), key)).toBeNull();
    }),
  );
});

it('neighbouring items have nothing in common, and another key reads another item', () => {
  const marks = Array.from({ length: 200 }, (_, index) =>
    toItemMark({ itemId: index + 1, stamp: toStamp('0'.repeat(64)) }, key),
  );
  expect(new Set(marks.map((mark) => mark.slice(0, 4))).size).toBeGreaterThan(150);
  expect(parseItemMark(marks[0] ?? '', Buffer.from('another'))?.itemId).not.toBe(1);
});

it.each(['', '7', 'N', '2026-11-22', '1.2E+15', 'NABCDEFGH', '=1+1'])('%j is no mark', (cell) => {
  expect(parseItemMark(cell, key)).toBeNull();
});
