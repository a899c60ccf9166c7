import type { Mistake } from './describe-issue.js';

const nameOf = (roster: unknown): unknown =>
  typeof roster === 'object' && roster !== null ? Reflect.get(roster, 'name') : undefined;

/** Rosters that bear the name of an earlier one; works on settings that are not valid as a whole. */
export function findDuplicateRosters(settings: unknown): Mistake[] {
  const rosters: unknown = typeof settings === 'object' && settings !== null ? Reflect.get(settings, 'rosters') : [];
  if (!Array.isArray(rosters)) return [];
  const names = rosters.map(nameOf);
  return names.flatMap((name, index) => {
    const first = names.indexOf(name);
    if (typeof name !== 'string' || first === index) return [];
    const message = `another roster has the same name (rosters[${first}]); names must differ`;
    return [{ path: ['rosters', index, 'name'], isAboutKey: false, message }];
  });
}
