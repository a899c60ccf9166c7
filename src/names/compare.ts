import type { PartyType } from '../vocabulary.js';
import { foldName, isOneSlip, type NameToken, toPieces, WordIndex } from './words.js';

/** An entry of a list; its type is null where the list does not say. */
interface ListedParty {
  type: PartyType | null;
  name: string;
  aliases: readonly string[];
}

/** A roster of fewer names says little about which words are rare: of 2,000 clean people it took 1.5 % for namesakes of rare names. */
const fewestConclusive = 25_000;

/**
 * Makes a local comparison with a published list that is out for recall: case, accents, scripts, order, particles, usual
 * transliterations, small slips, initials, and words written together are overlooked. It must never be used to clear anybody, only to
 * ask the service sooner. `names` are the customers' own: a word that many of them have says little. The comparison gives the name of the
 * entry that a customer's may be, and the spelling of it that looks like it; or null.
 */
export async function createComparison(parties: readonly ListedParty[], names: AsyncIterable<readonly string[]>) {
  const counts = new WordCounts();
  for await (const batch of names) for (const name of batch) counts.add(name);
  const index = new NameIndex(parties, counts);
  const isRarityKnown = counts.names >= fewestConclusive;
  return (name: string, type: PartyType) => {
    let best: { party: ListedParty; spelling: string; likeness: number } | null = null;
    for (const { party, spelling, isOneWord, ...agreement } of index.find(name, type)) {
      const likeness = agreement.ofListed + agreement.ofAsked;
      if (likeness <= (best?.likeness ?? 0)) continue;
      const isAlias = spelling !== party.name;
      const known = { isOtherType: isOtherType(party, type), isAlias, isOneWord, isRarityKnown };
      if (isAlike(agreement, known)) best = { party, spelling, likeness };
    }
    return best === null ? null : { name: best.party.name, spelling: best.spelling };
  };
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
function isAlike(
  agreement: Agreement,
  known: {
    isOtherType: boolean;
    isAlias: boolean;
    isOneWord: boolean;
    /** The roster is large enough to distinguish a rare word from one that it merely does not have twice. */
    isRarityKnown: boolean;
  },
): boolean {
  const { isOtherType, isAlias, isOneWord, isRarityKnown } = known;
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

const slots = 1 << 21;

/** In how many names of a roster each word stands, in memory that does not grow with the roster; at times too many, never too few. */
export class WordCounts {
  /** How many names were counted. */
  names = 0;
  readonly #first = new Uint32Array(slots);
  readonly #second = new Uint32Array(slots);

  /** Counts the words of one more name. */
  add(name: string): void {
    this.names += 1;
    for (const text of new Set(foldName(name).map((token) => token.text))) {
      const [first, second] = toSlots(text);
      this.#first[first] = (this.#first[first] ?? 0) + 1;
      this.#second[second] = (this.#second[second] ?? 0) + 1;
    }
  }

  /** In how many names this word stands. */
  of(text: string): number {
    const [first, second] = toSlots(text);
    return Math.min(this.#first[first] ?? 0, this.#second[second] ?? 0);
  }
}

/** Two independent places of a word. */
function toSlots(text: string): readonly [number, number] {
  let first = 0x811c9dc5;
  let second = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    first = Math.imul(first ^ code, 0x01000193);
    second = (Math.imul(second, 31) + code + (second >>> 15)) | 0;
  }
  return [(first >>> 0) % slots, (Math.imul(second, 0x9e3779b1) >>> 0) % slots];
}

/** One spelling of an entry; `isOneWord`: it has one word at most that is no particle, title or legal form. */
interface ListedSpelling {
  party: ListedParty;
  spelling: string;
  isOneWord: boolean;
  name: WeighedName<ListedPiece>;
  weight: number;
}

const leastWeight = 0.15;
/** What a spelling must share with a name, of its own weight or of the name's, before it is looked at closely. */
const leastShare = 0.34;
/** Names of different types have to agree almost wholly, so both must share this much. */
const leastShareOfOtherType = 0.5;

/** A published list made ready for comparison with many names; a word counts for less the more often list and roster have it. */
class NameIndex {
  readonly #tokens = new WordIndex();
  readonly #spellings: ListedSpelling[] = [];
  /** The spellings in which each word stands, by the word's number. */
  readonly #standsIn: number[][] = [];
  readonly #weights: number[] = [];
  readonly #counts: WordCounts;
  readonly #names: number;
  /** How much of each spelling was found in the name that is being looked up; zero between two names. */
  readonly #found: Float64Array;

  constructor(parties: readonly ListedParty[], counts: WordCounts) {
    this.#counts = counts;
    const folded = parties.flatMap((party) =>
      [party.name, ...party.aliases].map((spelling) => {
        const tokens = foldName(spelling);
        return { party, spelling, tokens, pieces: this.#addPieces(tokens) };
      }),
    );
    this.#names = folded.length + counts.names;
    this.#found = new Float64Array(folded.length);
    for (const [at, { pieces }] of folded.entries()) {
      for (const id of new Set(pieces.map((piece) => piece.id))) this.#standsIn[id]?.push(at);
    }
    for (const { party, spelling, tokens, pieces } of folded) {
      const name = { ...this.#weigh(tokens), pieces };
      const isOneWord = tokens.filter((token) => !token.isFiller).length <= 1;
      this.#spellings.push({ party, spelling, isOneWord, name, weight: sum(name.weights) });
    }
  }

  /** The listed spellings that share enough with this name to be looked at, with how far they agree. */
  *find(name: string, type: PartyType) {
    const tokens = foldName(name);
    const pieces = toPieces(tokens).flatMap(({ token, ...piece }): AskedPiece[] => {
      const likeIds = this.#tokens.find(token, piece.places.length > 1);
      return likeIds.size === 0 ? [] : [{ ...piece, likeIds }];
    });
    if (pieces.length === 0) return;
    const asked = { ...this.#weigh(tokens), pieces };
    for (const { party, spelling, isOneWord, name: listed } of this.#findCandidates(asked, type)) {
      yield { party, spelling, isOneWord, ...compareWords(asked, listed) };
    }
  }

  #addPieces(tokens: readonly NameToken[]): readonly ListedPiece[] {
    return toPieces(tokens).map(({ token, ...piece }) => {
      const id = this.#tokens.add(token, piece.places.length > 1);
      this.#standsIn[id] ??= [];
      return { ...piece, id };
    });
  }

  #findCandidates(asked: WeighedName<AskedPiece>, type: PartyType): readonly ListedSpelling[] {
    const touched: number[] = [];
    // Common words too: a name may have no others, and what else of it is on the list may be somebody else's.
    for (const { likeIds } of asked.pieces) {
      for (const [id, likeness] of likeIds) {
        const share = likeness * this.#weighId(id);
        for (const at of this.#standsIn[id] ?? []) {
          if (this.#found[at] === 0) touched.push(at);
          this.#found[at] = (this.#found[at] ?? 0) + share;
        }
      }
    }
    const own = sum(asked.weights);
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

  #weigh(tokens: readonly NameToken[]): { weights: readonly number[]; texts: readonly string[] } {
    return {
      weights: tokens.map((token) => (token.isFiller ? fillerWeight : this.#weighWord(token.text))),
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
    // Once in both is no more than once: that is whom the comparison is for.
    const counted = this.#counts.of(token?.text ?? '');
    const weight = this.#toWeight((this.#standsIn[id]?.length ?? 0) + Math.max(0, counted - 1));
    this.#weights[id] = weight;
    return weight;
  }

  /** How much a word says about who is meant: 1 for one that stands in a single name. */
  #toWeight(count: number): number {
    return Math.max(leastWeight, 1 - Math.log(Math.max(count, 1)) / Math.log(Math.max(this.#names, 2)));
  }
}

/** Whether the list says that the party is of another type. */
const isOtherType = (party: ListedParty, type: PartyType): boolean => party.type !== null && party.type !== type;

const sum = (weights: readonly number[]): number => weights.reduce((total, weight) => total + weight, 0);

/** A piece of a listed spelling: the places of its words, from 0, and the number of the word that they make. */
interface ListedPiece {
  places: readonly number[];
  id: number;
}

/** A piece of a name that is looked up, with the listed words that it may be and how alike they are. */
interface AskedPiece {
  places: readonly number[];
  likeIds: ReadonlyMap<number, number>;
}

/** A name ready to be compared: how much each of its words says about who is meant (0 to 1), the words, and its pieces. */
interface WeighedName<Piece> {
  weights: readonly number[];
  texts: readonly string[];
  pieces: readonly Piece[];
}

/** How far two names agree, each share up to 1. */
interface Agreement {
  /** How much of the listed spelling stands in the name that was asked for. */
  ofListed: number;
  /** How much of that name stands in the listed spelling. */
  ofAsked: number;
  /** How many words both have, apart from particles and legal forms; words that only one of them writes together are one. */
  words: number;
  /** How alike those words are on average, by their weight. */
  likeness: number;
  /** How much the most distinctive of the words that are the same to the letter says. */
  strongest: number;
  /** How many letters that stand alone were taken for words. */
  initials: number;
  /** How many words of the listed spelling were found, particles included. */
  found: number;
  /** Every word of the listed spelling was found. */
  isWhole: boolean;
  /** The name has words that the listed spelling has not, apart from particles and legal forms. */
  hasOthers: boolean;
}

interface Pair {
  asked: readonly number[];
  listed: readonly number[];
  likeness: number;
  /** How much the listed words say. */
  weight: number;
}

const fillerWeight = 0.1;
const initial = { weight: 0.3, likeness: 0.7 };
/** A slip in a word that is too short, or too unlike, for the index to find it. */
const slipLikeness = 0.75;

/** Compares two names word by word, in any order, each word used once; words that were written together or apart agree as well. */
function compareWords(asked: WeighedName<AskedPiece>, listed: WeighedName<ListedPiece>): Agreement {
  const usedAsked: boolean[] = [];
  const usedListed: boolean[] = [];
  const [agreedListed, agreedAsked, content] = [new Share(), new Share(), new Share()];
  let words = 0;
  let strongest = 0;
  const take = ({ likeness, weight, ...pair }: Pair): void => {
    for (const place of pair.asked) usedAsked[place] = true;
    for (const place of pair.listed) usedListed[place] = true;
    const ownWeight = sumAt(asked.weights, pair.asked);
    // Each side by its own weights: a common word is no more of a name for being like two rare ones.
    agreedListed.add(weight, likeness);
    agreedAsked.add(ownWeight, likeness);
    if (weight <= fillerWeight || ownWeight <= fillerWeight) return;
    content.add(weight, likeness);
    words += 1;
    if (likeness === 1 && pair.asked.length === 1 && pair.listed.length === 1) strongest = Math.max(strongest, weight);
  };
  for (const pair of findPairs(asked, listed)) {
    if (!isUsed(pair.asked, usedAsked) && !isUsed(pair.listed, usedListed)) take(pair);
  }
  pairSlips(asked.texts, listed, usedAsked, usedListed, take);
  const initials = pairInitials(asked.texts, listed.texts, usedAsked, usedListed);
  agreedListed.add(initials * initial.weight, initial.likeness);
  agreedAsked.add(initials * initial.weight, initial.likeness);
  const found = usedListed.filter(Boolean).length;
  return {
    ofListed: agreedListed.of(sumUnused(listed.weights, usedListed)),
    ofAsked: agreedAsked.of(sumUnused(asked.weights, usedAsked)),
    words,
    likeness: content.of(0),
    strongest,
    initials,
    found,
    isWhole: found === listed.texts.length,
    hasOthers: asked.weights.some((weight, place) => weight > fillerWeight && !usedAsked[place]),
  };
}

/** What was found to agree of a name, by weight. */
class Share {
  #agreed = 0;
  #paired = 0;

  add(weight: number, likeness: number): void {
    this.#agreed += weight * likeness;
    this.#paired += weight;
  }

  /** The part of the whole name, with the weight of what was not found. */
  of(unused: number): number {
    return this.#paired + unused === 0 ? 0 : this.#agreed / (this.#paired + unused);
  }
}

/** Every piece of one that may be a piece of the other, the most alike first, and of those the most distinctive. */
function findPairs(asked: WeighedName<AskedPiece>, listed: WeighedName<ListedPiece>): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const ours of asked.pieces) {
    for (const theirs of listed.pieces) {
      // Words that both write apart are compared one by one.
      if (isJoined(ours) && isJoined(theirs)) continue;
      const likeness = ours.likeIds.get(theirs.id);
      if (likeness === undefined) continue;
      const weight = sumAt(listed.weights, theirs.places);
      pairs.push({ asked: ours.places, listed: theirs.places, likeness, weight });
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

/** Pairs words that are left on both sides and one slip apart. */
function pairSlips(
  asked: readonly string[],
  listed: WeighedName<ListedPiece>,
  usedAsked: readonly boolean[],
  usedListed: readonly boolean[],
  take: (pair: Pair) => void,
): void {
  // This runs for each candidate, so without iterators.
  for (let ours = 0; ours < asked.length; ours += 1) {
    const text = asked[ours] ?? '';
    for (let theirs = 0; theirs < listed.texts.length && !usedAsked[ours]; theirs += 1) {
      if (usedListed[theirs] || !isOneSlip(text, listed.texts[theirs] ?? '')) continue;
      take({ asked: [ours], listed: [theirs], likeness: slipLikeness, weight: listed.weights[theirs] ?? 0 });
    }
  }
}

/** Pairs a letter that stands alone with a word that begins with it; gives how many, and takes them from what is left. */
function pairInitials(
  asked: readonly string[],
  listed: readonly string[],
  usedAsked: boolean[],
  usedListed: boolean[],
): number {
  let count = 0;
  for (const [ours, text] of asked.entries()) {
    if (usedAsked[ours]) continue;
    for (const [theirs, other] of listed.entries()) {
      if (usedListed[theirs] || text[0] !== other[0] || (text.length > 1 && other.length > 1)) continue;
      usedAsked[ours] = true;
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
