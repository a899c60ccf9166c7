import type { RosterSettings } from '../../roster/settings.js';

/** The file that a roster is read from in place of its configured source, or null where it is read as configured. */
export function findGivenFile(configured: readonly RosterSettings[], roster: RosterSettings): string | null {
  const path = roster.csv?.path;
  if (typeof path !== 'string' || path === '') return null;
  return configured.find(({ name }) => name === roster.name)?.csv?.path === path ? null : path;
}
