import type { SeatedParty } from '../../store/roster-cases.js';

/** Everybody who ever had a place in a customer's record, by place. */
export type Seats = ReadonlyMap<number, SeatedParty>;

/** Gives the same text for the same party: its facts, those in doubt included, in a fixed order. */
export const toPartyKey = ({ role, type, sentName, name, birthDate, countries, doubts }: SeatedParty): string =>
  JSON.stringify([
    ...[role, type, sentName, name, birthDate ?? '', countries],
    ...(doubts === undefined ? [] : [Object.entries(doubts).toSorted()]),
  ]);

const toNameKey = ({ role, type, sentName }: SeatedParty): string => JSON.stringify([role, type, sentName]);

/**
 * Gives each party its place in the record: the customer itself the first; who is known, by all facts or else by role, type and the name
 * that is sent, the place they have always had; everybody else one that nobody ever had. Places of those who are gone hold null.
 */
export function seatParties(seats: Seats, parties: readonly SeatedParty[]): (SeatedParty | null)[] {
  const seated = new Map<number, SeatedParty>();
  const others: SeatedParty[] = [];
  for (const party of parties) {
    if (party.role === 'customer') seated.set(0, party);
    else others.push(party);
  }
  const known = [...seats].filter(([place]) => place > 0).toSorted(([one], [other]) => one - other);
  let waiting: readonly SeatedParty[] = others;
  for (const toKey of [toPartyKey, toNameKey]) {
    const free = new Map<string, number[]>();
    for (const [place, party] of known) {
      if (!seated.has(place)) free.set(toKey(party), [...(free.get(toKey(party)) ?? []), place]);
    }
    waiting = waiting.filter((party) => {
      const place = free.get(toKey(party))?.shift();
      if (place === undefined) return true;
      seated.set(place, party);
      return false;
    });
  }
  let next = Math.max(0, ...seats.keys()) + 1;
  for (const party of waiting) {
    seated.set(next, party);
    next += 1;
  }
  const length = Math.max(...seated.keys()) + 1;
  return Array.from({ length }, (_, place) => seated.get(place) ?? null);
}
