import { type Mistake, readAt } from './describe-issue.js';
import { findNearMiss } from './near-miss.js';

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Where something is restricted to rosters by name. */
const places = [['mail', 'recipients'], ['webhooks']] as const;

/**
 * Rosters that mail or a webhook is restricted to and that nobody has configured: nothing would ever be told of them. Works on settings that
 * are not valid as a whole.
 */
export function findUnknownRosters(settings: unknown): Mistake[] {
  const names = toList(readAt(settings, ['rosters'])).flatMap((roster) => {
    const name = readAt(roster, ['name']);
    return typeof name === 'string' ? [name] : [];
  });
  // Without any, every roster is a file that a command names.
  if (names.length === 0) return [];
  return places.flatMap((path) =>
    toList(readAt(settings, [...path])).flatMap((told, index) =>
      toList(readAt(told, ['rosters'])).flatMap((roster, place) => {
        if (typeof roster !== 'string' || names.includes(roster)) return [];
        const meant = findNearMiss(roster, names);
        const message = `no roster has this name; ${meant ? `did you mean ${meant}?` : `there are: ${names.join(', ')}`}`;
        return [{ path: [...path, index, 'rosters', place], isAboutKey: false, message }];
      }),
    ),
  );
}
