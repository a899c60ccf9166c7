import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseAlertCode, toAlertCode, toSeenVersion } from '../../../src/matches/alert-code.js';

const key = Buffer.from('the key of an organisation');
const ids = fc.integer({ min: 1, max: 2 ** 40 - 1 });
const seenVersions = fc.stringMatching(/^[0-9a-f]{64}$/).map(toSeenVersion);

it('a mark leads back to its alert and stamp, however it is typed', () => {
  fc.assert(
    fc.property(ids, seenVersions, (alertId, seenVersion) => {
      const mark = toAlertCode({ alertId, seenVersion }, key);
      expect(mark).toMatch(/^N[0-9A-Z]{8}-[0-9A-Z]{10}-[0-9A-Z]$/);
      expect(parseAlertCode(mark, key)).toEqual({ alertId, seenVersion });
      expect(parseAlertCode(` '${mark.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o')} `, key)).toEqual({
        alertId,
        seenVersion,
      });
    }),
  );
});

it('any one character that is wrong is noticed', () => {
  fc.assert(
    fc.property(
      ids,
      seenVersions,
      fc.nat(18),
      fc.integer({ min: 1, max: 31 }),
      (alertId, seenVersion, place, shift) => {
        const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
        const bare = toAlertCode({ alertId, seenVersion }, key).replaceAll('-', '');
        const at = place + 1;
        const wrong = letters[(letters.indexOf(bare.charAt(at)) + shift) % 32] ?? '';
        expect(parseAlertCode(bare.slice(0, at) + wrong + bare.slice(at + 1), key)).toBeNull();
      },
    ),
  );
});

it('neighbouring alerts have nothing in common, and another key reads another alert', () => {
  const marks = Array.from({ length: 200 }, (_, index) =>
    toAlertCode({ alertId: index + 1, seenVersion: toSeenVersion('0'.repeat(64)) }, key),
  );
  expect(new Set(marks.map((mark) => mark.slice(0, 4))).size).toBeGreaterThan(150);
  expect(parseAlertCode(marks[0] ?? '', Buffer.from('another'))?.alertId).not.toBe(1);
});

it.each(['', '7', 'N', '2026-11-22', '1.2E+15', 'NABCDEFGH', '=1+1'])('%j is no mark', (cell) => {
  expect(parseAlertCode(cell, key)).toBeNull();
});
