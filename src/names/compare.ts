import type { PartyType } from '../vocabulary.js';
import { foldName, isOneSlip, type NameToken, WordIndex } from './words.js';

/** An entry of a list; its type is null when the list does not state it. */
interface NamedEntry {
  type: PartyType | null;
  name: string;
  aliases: readonly string[];
}

/** In a smaller roster rarity of words proves little: with 2,000 clean people, 1.5 % matched by a seemingly rare word. */
const fewestConclusive = 25_000;

/**
 * Creates a local comparison with a published list for high recall. It ignores case, accents, scripts, word order, particles, usual
 * transliterations, small slips, initials and word division. It must never clear a customer, only trigger an earlier search. `names` are the
 * customers' names: a frequent word in them counts less. The comparison gives the name and the spelling of the matching entry, or null.
 */
export async function createComparison(parties: readonly NamedEntry[], names: AsyncIterable<readonly string[]>) {
  const counts = new WordCounts();
  for await (const batch of names) for (const name of batch) counts.add(name);
  const index = new NameIndex(parties, counts);
  const isRarityKnown = counts.names >= fewestConclusive;
  return (name: string, type: PartyType) => {
    let best: { party: NamedEntry; spelling: string; likeness: number } | null = null;
    for (const { party, spelling, isOneWord, ...agreement } of index.find(name, type)) {
      const likeness = agreement.ofListed + agreement.ofSearched;
      if (likeness <= (best?.likeness ?? 0)) continue;
      const isAlias = spelling !== party.name;
      const known = { isOtherType: isOtherType(party, type), isAlias, isOneWord, isRarityKnown };
      if (isAlike(agreement, known)) best = { party, spelling, likeness };
    }
    return best === null ? null : { name: best.party.name, spelling: best.spelling };
  };
}

/** Names of different types must agree almost completely: this share of both. */
const leastOfOtherTypes = 0.8;
/** Names that agree in this share of both are alike. */
const leastOfBoth = 0.65;
/** A one-word alias (`Israel`, `George`) is in a longer name only whole, with its particle (`Abu Hamza`). */
const aliasWithin = { likeness: 0.95, ofBoth: 0.35 };
/** Two common words are alike when they are nearly all of one name. Two slips are too many when most of the other is missing. */
const nearlyAll = { ofBoth: 0.3, share: 0.86, half: 0.5, shareBesideHalf: 0.84 };
/** Two common words are alike when they are half of both names, almost identical, and one of them is not frequent. */
const halfOfBoth = { ofBoth: 0.5, likeness: 0.9, strongest: 0.65 };
/** A name is contained in the other one by a rare word, or by a less rare word that is enough of both. */
const contained = { share: 0.9, rare: 0.8, strongest: 0.5, ofBoth: 0.4 };
/** A name that is contained with initials for words. */
const containedInitials = { share: 0.85, ofBoth: 0.4 };
/** A common word that is as good as unique. */
const rareWord = { strongest: 0.9, ofBoth: 0.4 };

/**
 * Whether two names may mean the same party; it errs towards yes. The bounds above come from the OFAC and UN lists and 50,000 clean people: 2.6 %
 * of the people match a name of either list. With any two common words it was 13.9 % (test/long/listed-names.test.ts).
 */
function isAlike(
  agreement: NameAgreement,
  known: {
    isOtherType: boolean;
    isAlias: boolean;
    isOneWord: boolean;
    /** Whether the roster is large enough to know which words are rare. */
    isRarityKnown: boolean;
  },
): boolean {
  const { isOtherType, isAlias, isOneWord, isRarityKnown } = known;
  const { ofListed, ofSearched, strongest } = agreement;
  const least = Math.min(ofListed, ofSearched);
  if (isAlias && isOneWord && agreement.hasOthers) return !isOtherType && hasWholeAlias(agreement, least);
  if (isOtherType) return least >= leastOfOtherTypes;
  if (least >= leastOfBoth) return true;
  if (agreement.words >= 2 && haveTwoWords(agreement, least)) return true;
  if (isSearchedWithin(agreement, least) || (!isAlias && isListedWithin(agreement, least))) return true;
  return isRarityKnown && strongest >= rareWord.strongest && least >= rareWord.ofBoth;
}

const hasWholeAlias = ({ found, isWhole, likeness }: NameAgreement, least: number): boolean =>
  found > 1 && isWhole && likeness >= aliasWithin.likeness && least >= aliasWithin.ofBoth;

function haveTwoWords({ ofListed, ofSearched, likeness, strongest }: NameAgreement, least: number): boolean {
  const most = Math.max(ofListed, ofSearched);
  const share = least >= nearlyAll.half ? nearlyAll.shareBesideHalf : nearlyAll.share;
  if (most >= share && likeness >= share && least >= nearlyAll.ofBoth) return true;
  return least >= halfOfBoth.ofBoth && likeness >= halfOfBoth.likeness && strongest >= halfOfBoth.strongest;
}

function isSearchedWithin({ ofSearched, strongest, initials }: NameAgreement, least: number): boolean {
  if (initials > 0 && ofSearched >= containedInitials.share && least >= containedInitials.ofBoth) return true;
  if (ofSearched < contained.share) return false;
  return strongest >= contained.rare || (strongest >= contained.strongest && least >= contained.ofBoth);
}

const isListedWithin = ({ ofListed, strongest }: NameAgreement, least: number): boolean =>
  ofListed >= contained.share && strongest >= contained.strongest && least >= contained.ofBoth;

/** Counts the names that contain each word. */
class WordCounts {
  /** The number of counted names. */
  names = 0;
  readonly #counts = new Map<string, number>();

  add(name: string): void {
    this.names += 1;
    for (const text of new Set(foldName(name).map((token) => token.text))) {
      this.#counts.set(text, this.of(text) + 1);
    }
  }

  of(text: string): number {
    return this.#counts.get(text) ?? 0;
  }
}

/** One spelling of an entry; `isOneWord`: at most one of its words is no particle, title or legal form. */
interface ListedSpelling {
  party: NamedEntry;
  spelling: string;
  isOneWord: boolean;
  name: WeighedName<ListedPiece>;
  weight: number;
}

const leastWeight = 0.15;
/** The least common weight, relative to the lighter of spelling and name, for a full comparison. */
const leastShare = 0.34;
/** The same for different types, relative to the heavier of both. */
const leastShareOfOtherType = 0.5;

/** An index of a published list; a word weighs less the more often list and roster have it. */
class NameIndex {
  readonly #tokens = new WordIndex();
  readonly #spellings: ListedSpelling[] = [];
  /** The spellings with each word, by the word's number. */
  readonly #standsIn: number[][] = [];
  readonly #weights: number[] = [];
  readonly #counts: WordCounts;
  readonly #names: number;
  /** The common weight of each spelling with the current name; zero between two lookups. */
  readonly #found: Float64Array;

  constructor(parties: readonly NamedEntry[], counts: WordCounts) {
    this.#counts = counts;
    const folded = parties.flatMap((party) =>
      [party.name, ...party.aliases].map((spelling) => {
        const tokens = foldName(spelling);
        return { party, spelling, tokens, pieces: this.#tokens.addPieces(tokens) };
      }),
    );
    this.#names = folded.length + counts.names;
    this.#found = new Float64Array(folded.length);
    for (const [at, { pieces }] of folded.entries()) {
      for (const id of new Set(pieces.map((piece) => piece.id))) {
        const spellings = this.#standsIn[id] ?? [];
        spellings.push(at);
        this.#standsIn[id] = spellings;
      }
    }
    for (const { party, spelling, tokens, pieces } of folded) {
      const name = { ...this.#weigh(tokens, party.type ?? 'person'), pieces };
      const isOneWord = tokens.filter((token) => !token.isFiller).length <= 1;
      this.#spellings.push({ party, spelling, isOneWord, name, weight: sum(name.costs) });
    }
  }

  /** The listed spellings with enough in common with this name, and their agreement. */
  *find(name: string, type: PartyType) {
    const tokens = foldName(name);
    const pieces = this.#tokens.findPieces(tokens);
    if (pieces.length === 0) return;
    const searched = { ...this.#weigh(tokens, type), pieces };
    for (const { party, spelling, isOneWord, name: listed } of this.#findCandidates(searched, type)) {
      yield { party, spelling, isOneWord, ...compareWords(searched, listed) };
    }
  }

  #findCandidates(searched: WeighedName<SearchedPiece>, type: PartyType): readonly ListedSpelling[] {
    const touched: number[] = [];
    // Frequent words count too: a name may have no others.
    for (const { likeIds } of searched.pieces) {
      for (const [id, likeness] of likeIds) {
        const share = likeness * this.#weighId(id);
        for (const at of this.#standsIn[id] ?? []) {
          if (this.#found[at] === 0) touched.push(at);
          this.#found[at] = (this.#found[at] ?? 0) + share;
        }
      }
    }
    const own = sum(searched.costs);
    const candidates = touched.flatMap((at) => {
      const spelling = this.#spellings[at];
      const share = this.#found[at] ?? 0;
      if (!spelling) return [];
      const needed = isOtherType(spelling.party, type)
        ? leastShareOfOtherType * Math.max(own, spelling.weight)
        : leastShare * Math.min(own, spelling.weight);
      return share >= needed ? [spelling] : [];
    });
    for (const at of touched) this.#found[at] = 0;
    return candidates;
  }

  #weigh(tokens: readonly NameToken[], type: PartyType): Omit<WeighedName<unknown>, 'pieces'> {
    const names = tokens.filter((token) => !token.isFiller && token.title === null).length;
    const isTitle = ({ title }: NameToken): boolean =>
      type === 'person' && ((title === 'certain' && names > 0) || (title === 'possible' && names >= 2));
    const weights = tokens.map((token) => (token.isFiller ? fillerWeight : this.#weighWord(token.text)));
    return {
      weights,
      costs: tokens.map((token, at) => (isTitle(token) ? 0 : (weights[at] ?? 0))),
      texts: tokens.map((token) => token.text),
    };
  }

  #weighWord(text: string): number {
    const id = this.#tokens.idOf(text);
    return id === undefined ? this.#toWeight(this.#counts.of(text)) : this.#weighId(id);
  }

  #weighId(id: number): number {
    const token = this.#tokens.at(id);
    if (token?.isFiller) return fillerWeight;
    const known = this.#weights[id];
    if (known !== undefined) return known;
    // A word that occurs once in both keeps full weight: these are the matches to find.
    const counted = this.#counts.of(token?.text ?? '');
    const weight = this.#toWeight((this.#standsIn[id]?.length ?? 0) + Math.max(0, counted - 1));
    this.#weights[id] = weight;
    return weight;
  }

  /** The weight of a word: 1 for a word of a single name. */
  #toWeight(count: number): number {
    return Math.max(leastWeight, 1 - Math.log(Math.max(count, 1)) / Math.log(Math.max(this.#names, 2)));
  }
}

const isOtherType = (party: NamedEntry, type: PartyType): boolean => party.type !== null && party.type !== type;

const sum = (weights: readonly number[]): number => weights.reduce((total, weight) => total + weight, 0);

/** A piece of a listed spelling: the positions of its words from 0, and the number of the word that they form. */
interface ListedPiece {
  places: readonly number[];
  id: number;
}

interface SearchedPiece {
  places: readonly number[];
  likeIds: ReadonlyMap<number, number>;
}

/** A prepared name: the weights of its words (0 to 1), the words, and its pieces. */
interface WeighedName<Piece> {
  weights: readonly number[];
  /** The weights where the words are unmatched: titles of people cost nothing. */
  costs: readonly number[];
  texts: readonly string[];
  pieces: readonly Piece[];
}

/** The agreement of two names; shares are up to 1. */
interface NameAgreement {
  /** The share of the listed spelling that the searched name contains. */
  ofListed: number;
  /** The share of the searched name that the listed spelling contains. */
  ofSearched: number;
  /** The number of common words without particles and legal forms; words that only one side joins count as one. */
  words: number;
  /** The weighted mean likeness of those words. */
  likeness: number;
  /** The largest weight of an identical word. */
  strongest: number;
  /** The number of initials that matched a word. */
  initials: number;
  /** The number of matched words of the listed spelling, particles included. */
  found: number;
  /** Whether every word of the listed spelling matched. */
  isWhole: boolean;
  /** Whether the name has further words, apart from particles, titles and legal forms. */
  hasOthers: boolean;
}

interface Pair {
  searched: readonly number[];
  listed: readonly number[];
  likeness: number;
  /** The weight of the listed words. */
  weight: number;
}

const fillerWeight = 0.1;
const initial = { weight: 0.3, likeness: 0.7 };
/** The likeness of a slip that the index does not find. */
const slipLikeness = 0.75;

/** Compares two names word by word, in any order, each word used once. Joined and separated words match as well. */
function compareWords(searched: WeighedName<SearchedPiece>, listed: WeighedName<ListedPiece>): NameAgreement {
  const usedSearched: boolean[] = [];
  const usedListed: boolean[] = [];
  const [agreedListed, agreedSearched, content] = [new Share(), new Share(), new Share()];
  let words = 0;
  let strongest = 0;
  const take = ({ likeness, weight, ...pair }: Pair): void => {
    for (const place of pair.searched) usedSearched[place] = true;
    for (const place of pair.listed) usedListed[place] = true;
    const ownWeight = sumAt(searched.weights, pair.searched);
    // Each side has its own weights: a frequent word stays light, even when it resembles two rare ones.
    agreedListed.add(weight, likeness);
    agreedSearched.add(ownWeight, likeness);
    if (weight <= fillerWeight || ownWeight <= fillerWeight) return;
    content.add(weight, likeness);
    words += 1;
    if (likeness === 1 && pair.searched.length === 1 && pair.listed.length === 1)
      strongest = Math.max(strongest, weight);
  };
  for (const pair of findPairs(searched, listed)) {
    if (!isUsed(pair.searched, usedSearched) && !isUsed(pair.listed, usedListed)) take(pair);
  }
  pairSlips(searched.texts, listed, usedSearched, usedListed, take);
  const initials = pairInitials(searched.texts, listed.texts, usedSearched, usedListed);
  agreedListed.add(initials * initial.weight, initial.likeness);
  agreedSearched.add(initials * initial.weight, initial.likeness);
  const found = usedListed.filter(Boolean).length;
  return {
    ofListed: agreedListed.of(sumUnused(listed.costs, usedListed)),
    ofSearched: agreedSearched.of(sumUnused(searched.costs, usedSearched)),
    words,
    // Without unmatched words the share is the mean likeness of the matched ones.
    likeness: content.of(0),
    strongest,
    initials,
    found,
    isWhole: found === listed.texts.length,
    hasOthers: searched.costs.some((cost, place) => cost > fillerWeight && !usedSearched[place]),
  };
}

class Share {
  #agreed = 0;
  #paired = 0;

  add(weight: number, likeness: number): void {
    this.#agreed += weight * likeness;
    this.#paired += weight;
  }

  /** The share of the whole name; `unused` is the weight of the unmatched words. */
  of(unused: number): number {
    return this.#paired + unused === 0 ? 0 : this.#agreed / (this.#paired + unused);
  }
}

function findPairs(searched: WeighedName<SearchedPiece>, listed: WeighedName<ListedPiece>): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const ours of searched.pieces) {
    for (const theirs of listed.pieces) {
      // Words that both sides separate are compared one by one.
      if (isJoined(ours) && isJoined(theirs)) continue;
      const likeness = ours.likeIds.get(theirs.id);
      if (likeness === undefined) continue;
      const weight = sumAt(listed.weights, theirs.places);
      pairs.push({ searched: ours.places, listed: theirs.places, likeness, weight });
    }
  }
  return pairs.length < 2
    ? pairs
    : pairs.sort((left, right) => right.likeness - left.likeness || right.weight - left.weight);
}

const isJoined = ({ places }: { places: readonly number[] }): boolean => places.length > 1;

function isUsed(places: readonly number[], used: readonly boolean[]): boolean {
  for (const place of places) if (used[place]) return true;
  return false;
}

function pairSlips(
  searched: readonly string[],
  listed: WeighedName<ListedPiece>,
  usedSearched: readonly boolean[],
  usedListed: readonly boolean[],
  take: (pair: Pair) => void,
): void {
  // It runs for each candidate, so it avoids iterators.
  for (let ours = 0; ours < searched.length; ours += 1) {
    const text = searched[ours] ?? '';
    for (let theirs = 0; theirs < listed.texts.length && !usedSearched[ours]; theirs += 1) {
      if (usedListed[theirs] || !isOneSlip(text, listed.texts[theirs] ?? '')) continue;
      take({ searched: [ours], listed: [theirs], likeness: slipLikeness, weight: listed.weights[theirs] ?? 0 });
    }
  }
}

function pairInitials(
  searched: readonly string[],
  listed: readonly string[],
  usedSearched: boolean[],
  usedListed: boolean[],
): number {
  let count = 0;
  for (const [ours, text] of searched.entries()) {
    if (usedSearched[ours]) continue;
    for (const [theirs, other] of listed.entries()) {
      if (usedListed[theirs] || text[0] !== other[0] || (text.length > 1 && other.length > 1)) continue;
      usedSearched[ours] = true;
      usedListed[theirs] = true;
      count += 1;
      break;
    }
  }
  return count;
}

function sumAt(weights: readonly number[], places: readonly number[]): number {
  let sum = 0;
  for (const place of places) sum += weights[place] ?? 0;
  return sum;
}

function sumUnused(weights: readonly number[], used: readonly boolean[]): number {
  let sum = 0;
  for (const [place, weight] of weights.entries()) if (!used[place]) sum += weight;
  return sum;
}
