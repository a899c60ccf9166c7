import { type Mistake, readAt } from './describe-issue.js';
import { findNearMiss } from './near-miss.js';

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Rosters that mail is restricted to and that nobody has configured: such a mail would never come. Works on settings that are not valid as a whole. */
export function findUnknownMailRosters(settings: unknown): Mistake[] {
  const names = toList(readAt(settings, ['rosters'])).flatMap((roster) => {
    const name = readAt(roster, ['name']);
    return typeof name === 'string' ? [name] : [];
  });
  // Without any, every roster is a file that a command names.
  if (names.length === 0) return [];
  return toList(readAt(settings, ['mail', 'recipients'])).flatMap((recipient, index) =>
    toList(readAt(recipient, ['rosters'])).flatMap((roster, place) => {
      if (typeof roster !== 'string' || names.includes(roster)) return [];
      const meant = findNearMiss(roster, names);
      const message = `no roster has this name; ${meant ? `did you mean ${meant}?` : `there are: ${names.join(', ')}`}`;
      return [{ path: ['mail', 'recipients', index, 'rosters', place], isAboutKey: false, message }];
    }),
  );
}
