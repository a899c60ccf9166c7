import { RosterError } from '../../errors.js';
import { formatCount } from '../../reports/format-count.js';
import { maxParties } from '../../roster/max-parties.js';
import type { RosterCase, SeatedParty, SeatedRecord, SettledCase } from '../../store/roster-cases.js';
import { saysTheSame } from './says-the-same.js';
import { seatParties, toPartyKey } from './seat-parties.js';
import { digestRecord } from './to-staged-row.js';

const ownRoles = new Set(['customer', 'alias']);
const conflictRole = 'conflicting_row';

/**
 * Puts a customer together from all that a snapshot says of them and what was known: the accepted row, else the last accepted record; the
 * related parties; and of rows that contradict each other everybody they name, so that each of the names is searched for. Throws RosterError
 * `too_many_parties`.
 */
export function settleCase(given: RosterCase): SettledCase {
  const known = given.knownRecord?.parties.filter((party) => party !== null) ?? [];
  const isConflict = given.conflicts.length > 0;
  const keepsRest = given.ownRecord === null && !isConflict;
  const base = given.ownRecord?.parties.filter((party) => party !== null) ?? known;
  const own = base.filter(({ role }) => ownRoles.has(role));
  const related = [
    ...given.related,
    ...(given.keepsRelated ? known.filter(({ role }) => !ownRoles.has(role) && role !== conflictRole) : []),
  ];
  const conflicting = isConflict
    ? given.conflicts.flat().map((party) => ({ ...party, role: conflictRole }))
    : keepsRest
      ? known.filter(({ role }) => role === conflictRole)
      : [];
  const extras = [...toDistinct(related), ...toDistinct(conflicting)];
  if (own.length + extras.length > maxParties) throw refuseParties(given.reference, own.length + extras.length);
  const ownDigest = given.ownDigest ?? toKnownOwnDigest(given, known);
  const recordDigest =
    extras.length === 0 && ownDigest !== null
      ? ownDigest
      : digestRecord(JSON.stringify([ownDigest, ...extras.map(toPartyKey)]));
  const { reference, customerId, version, leaves, isShown } = given;
  const hasRecord = given.ownRecord !== null || isConflict;
  const where = { reference, customerId, version, leaves, isShown, hasRecord };
  const rest = given.ownRecord ?? given.knownRecord ?? { riskTier: null };
  const digests = { recordDigest, ownDigest: extras.length === 0 ? null : ownDigest };
  if (recordDigest === given.knownDigest) {
    return { ...where, kind: 'same', record: null, recordDigest: null, ownDigest: null };
  }
  if (saysTheSame(given.knownRecord, { ...rest, parties: [...own, ...extras] })) {
    return { ...where, kind: 'same', record: null, ...digests };
  }
  const seats = new Map(Object.entries(given.seats ?? {}).map(([place, party]) => [Number(place), party]));
  const record: SeatedRecord = {
    ...rest,
    parties: seatParties(seats, [...own, ...extras]),
  };
  const kind = customerId === null ? 'new' : 'changed';
  return { ...where, kind, record, ...digests };
}

/** What a source is refused with that gives one customer more parties than anybody has: most likely the wrong column stands for its id. */
export function refuseParties(reference: string, parties: number): RosterError {
  return new RosterError(
    'too_many_parties',
    `customer ${JSON.stringify(reference)} would have ${formatCount(parties)} parties, and a customer has at most ${formatCount(maxParties)}. ` +
      'Nothing was changed. Check which column of the source of related parties holds the customer id, and the rows of this customer.',
  );
}

/** The digest of what the customer's own row last said; null for one that no accepted row has ever described. */
function toKnownOwnDigest({ knownDigest, knownOwnDigest }: RosterCase, known: readonly SeatedParty[]): string | null {
  return known.some(({ role }) => role === 'customer') ? (knownOwnDigest ?? knownDigest) : null;
}

/** Each party once, in an order that does not depend on that of the rows. */
function toDistinct(parties: readonly SeatedParty[]): readonly SeatedParty[] {
  const byKey = new Map(parties.map((party) => [toPartyKey(party), party]));
  return [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, party]) => party);
}
