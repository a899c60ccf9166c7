import type { PartyType } from '../vocabulary.js';
import type { ListedParty } from './listed-party.js';
import type { Agreement } from './name-agreement.js';
import { isOtherType, NameIndex, WordCounts } from './name-index.js';

/** The listed spelling on account of which a name has to be searched for. */
export interface ListedName {
  /** The name of the list's entry. */
  name: string;
  /** The spelling of it, itself or an alias, that the name looks like. */
  spelling: string;
}

/** A roster of fewer names says little about which words are rare: of 2,000 clean people it took 1.5 % for namesakes of rare names. */
const fewestConclusive = 25_000;

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
  const isRarityKnown = counts.names >= fewestConclusive;
  return (name, type) => {
    let best: { party: ListedParty; spelling: string; likeness: number } | null = null;
    for (const { party, spelling, isOneWord, ...agreement } of index.find(name, type)) {
      const likeness = agreement.ofListed + agreement.ofAsked;
      if (likeness <= (best?.likeness ?? 0)) continue;
      const facts = {
        isOtherType: isOtherType(party, type),
        isAlias: spelling !== party.name,
        isOneWord,
        isRarityKnown,
      };
      if (isAlike(agreement, facts)) best = { party, spelling, likeness };
    }
    return best === null ? null : { name: best.party.name, spelling: best.spelling };
  };
}

/** What is known of a listed spelling and of the name that is compared with it. */
interface MatchFacts {
  /** The list says that the party is of another type than the customer. */
  isOtherType: boolean;
  isAlias: boolean;
  /** The listed spelling has one word at most that is no particle, title or legal form. */
  isOneWord: boolean;
  /** The roster is large enough to tell a rare word from one that it merely does not have twice. */
  isRarityKnown: boolean;
}

/**
 * Whether two names may well mean the same party. It would rather say yes once too often: names that agree in most of both; two words in
 * common that are nearly all of one name, or half of both and written almost alike; a name that stands wholly in the other; a rare word
 * in common. Two names that share one word of a listed nickname (`Israel`, `George`) share nothing: such an alias has to be the whole
 * name, or to stand in it with its particle (`Abu Hamza`). Names of different types have to agree almost wholly.
 *
 * The bounds come from the OFAC and UN lists and 50,000 clean people: with them 2.6 % of the people are alike a name of either list, with
 * any two words in common it was 13.9 % (test/long/listed-names.test.ts).
 */
function isAlike(agreement: Agreement, facts: MatchFacts): boolean {
  const { isOtherType, isAlias, isOneWord, isRarityKnown } = facts;
  const { ofListed, ofAsked, words, likeness, strongest, initials } = agreement;
  const least = Math.min(ofListed, ofAsked);
  const most = Math.max(ofListed, ofAsked);
  if (isAlias && isOneWord && agreement.hasOthers) {
    return !isOtherType && agreement.found > 1 && agreement.isWhole && likeness >= 0.95 && least >= 0.35;
  }
  if (isOtherType) return least >= 0.8;
  if (least >= 0.65) return true;
  // Two slips are too many where most of the other name is missing.
  const bound = least >= 0.5 ? 0.84 : 0.86;
  if (words >= 2 && most >= bound && least >= 0.3 && likeness >= bound) return true;
  if (words >= 2 && least >= 0.5 && likeness >= 0.9 && strongest >= 0.65) return true;
  const isAskedWithin = ofAsked >= 0.9 && (strongest >= 0.8 || (strongest >= 0.5 && least >= 0.4));
  const isListedWithin = ofListed >= 0.9 && strongest >= 0.5 && least >= 0.4 && !isAlias;
  if (isAskedWithin || isListedWithin) return true;
  if (initials > 0 && ofAsked >= 0.85 && least >= 0.4) return true;
  return isRarityKnown && strongest >= 0.9 && least >= 0.4;
}
