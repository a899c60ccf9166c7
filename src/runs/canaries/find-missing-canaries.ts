import type { Canary } from '../../matches/canary.js';

/** What a set of control searches cannot show: that a listed party is found, that a name on no list gives nothing. */
export function findMissingCanaries(canaries: readonly Pick<Canary, 'expect'>[]): readonly Canary['expect'][] {
  const wanted: readonly Canary['expect'][] = ['match', 'none'];
  return wanted.filter((expect) => canaries.every((canary) => canary.expect !== expect));
}
