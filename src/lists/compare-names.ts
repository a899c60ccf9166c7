import type { PartyType } from '../roster/customer.js';
import { isAlike } from './comparison/is-alike.js';
import { isOtherType, NameIndex } from './comparison/name-index.js';
import { WordCounts } from './comparison/word-counts.js';
import type { ListedParty } from './listed-party.js';

/** The listed spelling on account of which a name has to be searched for. */
export interface ListedName {
  /** The name of the list's entry. */
  name: string;
  /** The spelling of it, itself or an alias, that the name looks like. */
  spelling: string;
}

/** A roster of fewer names says little about which words are rare: of 2,000 clean people it took 1.5 % for namesakes of rare names. */
const fewestTelling = 25_000;

/** Finds the listed name that a customer's may be, or null. */
export type FindListed = (name: string, type: PartyType) => ListedName | null;

/**
 * Makes a local comparison with a published list that is out for recall: case, accents, scripts, order, particles, usual
 * transliterations, small slips, initials, and words written together are overlooked. It must never be used to clear anybody, only to
 * ask the service sooner. `names` are the customers' own: a word that many of them have says little.
 */
export async function createComparison(
  parties: readonly ListedParty[],
  names: AsyncIterable<readonly string[]>,
): Promise<FindListed> {
  const counts = new WordCounts();
  for await (const batch of names) for (const name of batch) counts.add(name);
  const index = new NameIndex(parties, counts);
  const isRarityKnown = counts.names >= fewestTelling;
  return (name, type) => {
    let best: { party: ListedParty; spelling: string; likeness: number } | null = null;
    for (const { party, spelling, isOneWord, ...agreement } of index.find(name, type)) {
      const likeness = agreement.ofListed + agreement.ofAsked;
      if (likeness <= (best?.likeness ?? 0)) continue;
      const standing = {
        isOtherType: isOtherType(party, type),
        isAlias: spelling !== party.name,
        isOneWord,
        isRarityKnown,
      };
      if (isAlike(agreement, standing)) best = { party, spelling, likeness };
    }
    return best === null ? null : { name: best.party.name, spelling: best.spelling };
  };
}
