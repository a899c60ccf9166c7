import type { PartyType } from '../vocabulary.js';
import { foldName, isSameInConsonants, type NameToken, toBareSkeleton, toToken } from './folded-name.js';
import type { ListedParty } from './listed-party.js';
import {
  type Agreement,
  type AskedPiece,
  assessNames,
  isWithinEdits,
  type ListedPiece,
  type NamePiece,
  type WeighedName,
} from './name-agreement.js';

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

/** How alike two words are, by what they have in common; short words that merely sound alike are many. */
const likenesses = {
  text: 1,
  sound: 0.95,
  shortSound: 0.8,
  oneEdit: 0.85,
  shortEdit: 0.7,
  vowelless: 0.95,
  shortVowelless: 0.85,
  bareVowelless: 0.8,
  skeleton: 0.75,
  twoEdits: 0.7,
};
const shortestSound = 4;
const shortestEdited = 4;
const shortestEditedSurely = 5;
const shortestEditedTwice = 8;
const shortestVowelless = 2;
const vowels = /[aeiou]/;
const shortestBare = 3;
const shortestSkeleton = 4;
const shortestJoinedSkeleton = 5;
const maxRemembered = 100_000;

/** The words of a list, found again by letters, sound, consonants, and small slips. */
class TokenIndex {
  readonly #tokens: NameToken[] = [];
  readonly #byText = new Map<string, number>();
  readonly #bySound = new Map<string, number[]>();
  readonly #bySkeleton = new Map<string, number[]>();
  /** Sounds with one letter taken out: two words that share one are at most two edits apart. */
  readonly #byShortened = new Map<string, number[]>();
  /** Consonants without b, p, f and v: all words, and those of scripts without vowels. */
  readonly #byBare = new Map<string, number[]>();
  readonly #byBareVowelless = new Map<string, number[]>();
  readonly #isSingle = new Set<number>();
  readonly #remembered = new Map<string, ReadonlyMap<number, number>>();

  /** The number of a word of the list, which is new when nothing else was spelled so. */
  add(token: NameToken, isJoined: boolean): number {
    const known = this.#byText.get(token.text);
    const id = known ?? this.#tokens.push(token) - 1;
    if (known === undefined) {
      this.#byText.set(token.text, id);
      push(this.#bySound, token.sound, id);
      if (token.skeleton !== '') push(this.#bySkeleton, token.skeleton, id);
      const bare = toBareSkeleton(token.sound);
      push(this.#byBare, bare, id);
      if (token.isVowelless) push(this.#byBareVowelless, bare, id);
    }
    if (!isJoined && !this.#isSingle.has(id)) {
      this.#isSingle.add(id);
      if (token.sound.length >= shortestEdited)
        for (const shortened of shorten(token.sound)) push(this.#byShortened, shortened, id);
    }
    return id;
  }

  /** The number of the word that is spelled so; undefined when the list does not have it. */
  idOf(text: string): number | undefined {
    return this.#byText.get(text);
  }

  /** The word of this number. */
  at(id: number): NameToken | undefined {
    return this.#tokens[id];
  }

  /** The numbers of the words that may be this one, each with how alike they are: 1 for the same letters. Slips are looked for in single words only. */
  find(token: NameToken, isJoined: boolean): ReadonlyMap<number, number> {
    if (isJoined) return this.#search(token, isJoined);
    const key = token.isVowelless ? `${token.text}~` : token.text;
    const known = this.#remembered.get(key);
    if (known) return known;
    const found = this.#search(token, isJoined);
    if (this.#remembered.size >= maxRemembered) this.#remembered.clear();
    this.#remembered.set(key, found);
    return found;
  }

  #search(token: NameToken, isJoined: boolean): ReadonlyMap<number, number> {
    const found = new Map<number, number>();
    const note = (id: number, likeness: number): void => {
      if (likeness > (found.get(id) ?? 0)) found.set(id, likeness);
    };
    const same = this.#byText.get(token.text);
    if (same !== undefined) note(same, likenesses.text);
    if (/\d/.test(token.text) || token.text.length === 1) return found;
    const soundLikeness = token.sound.length < shortestSound ? likenesses.shortSound : likenesses.sound;
    for (const id of this.#bySound.get(token.sound) ?? []) note(id, soundLikeness);
    for (const id of this.#bySkeleton.get(token.skeleton) ?? []) note(id, this.#judgeSkeleton(token, id, isJoined));
    const alsoBare = token.isVowelless ? this.#byBare : this.#byBareVowelless;
    if (alsoBare.size > 0) {
      for (const id of alsoBare.get(toBareSkeleton(token.sound)) ?? []) note(id, this.#judgeBare(token, id));
    }
    if (!isJoined) for (const id of this.#findEdited(token)) note(id, this.#judgeEdits(token, id));
    return found;
  }

  #judgeSkeleton(token: NameToken, id: number, isJoined: boolean): number {
    const { skeleton } = token;
    const other = this.#tokens[id];
    if (token.isVowelless || other?.isVowelless) {
      if (skeleton.length > shortestVowelless) return likenesses.vowelless;
      if (skeleton.length === shortestVowelless) return likenesses.shortVowelless;
      // A single consonant is not enough: the long vowels, which are written, have to be there as well.
      const [written, whole] = token.isVowelless ? [token.sound, other?.sound] : [other?.sound, token.sound];
      return written !== undefined && isWithoutVowels(written, whole ?? '') ? likenesses.shortVowelless : 0;
    }
    return skeleton.length >= (isJoined || !this.#isSingle.has(id) ? shortestJoinedSkeleton : shortestSkeleton)
      ? likenesses.skeleton
      : 0;
  }

  #judgeBare({ sound }: NameToken, id: number): number {
    const other = this.#tokens[id]?.sound ?? '';
    const consonants = Math.min(countConsonants(sound), countConsonants(other));
    return consonants >= shortestBare && isSameInConsonants(sound, other) ? likenesses.bareVowelless : 0;
  }

  #findEdited({ sound }: NameToken): ReadonlySet<number> {
    const ids = new Set<number>();
    if (sound.length < shortestEdited) return ids;
    for (const id of this.#byShortened.get(sound) ?? []) ids.add(id);
    for (const key of shorten(sound)) {
      for (const id of this.#byShortened.get(key) ?? []) ids.add(id);
      for (const id of this.#bySound.get(key) ?? []) ids.add(id);
    }
    return ids;
  }

  #judgeEdits({ sound }: NameToken, id: number): number {
    const other = this.#tokens[id]?.sound ?? '';
    const shortest = Math.min(sound.length, other.length);
    if (shortest < shortestEdited) return 0;
    if (isWithinEdits(sound, other, 1))
      return shortest < shortestEditedSurely ? likenesses.shortEdit : likenesses.oneEdit;
    return shortest >= shortestEditedTwice && isWithinEdits(sound, other, 2) ? likenesses.twoEdits : 0;
  }
}

function push(map: Map<string, number[]>, key: string, id: number): void {
  const ids = map.get(key);
  if (ids) ids.push(id);
  else map.set(key, [id]);
}

const countConsonants = (sound: string): number => sound.replace(/[aeiou]/g, '').length;

/** Whether a word of two letters at least is another one with nothing but vowels left out. */
function isWithoutVowels(written: string, whole: string): boolean {
  let at = 0;
  for (const letter of whole) {
    if (letter === written[at]) at += 1;
    else if (!vowels.test(letter)) return false;
  }
  return at === written.length && written.length > 1;
}

function shorten(sound: string): ReadonlySet<string> {
  const shortened = new Set<string>();
  for (let at = 0; at < sound.length; at += 1) shortened.add(sound.slice(0, at) + sound.slice(at + 1));
  return shortened;
}

/** A listed spelling and how far a name agrees with it. */
interface Resemblance extends Agreement {
  party: ListedParty;
  spelling: string;
  /** The spelling has one word at most that is no particle, title or legal form. */
  isOneWord: boolean;
}

interface ListedSpelling {
  party: ListedParty;
  spelling: string;
  isOneWord: boolean;
  name: WeighedName<ListedPiece>;
  weight: number;
}

const fillerWeight = 0.1;
const leastWeight = 0.15;
/** What a spelling must share with a name, of its own weight or of the name's, before it is looked at closely. */
const leastShare = 0.34;
/** Names of different types have to agree almost wholly, so both must share this much. */
const leastShareOfOtherType = 0.5;
const mostNeighbours = 3;
const longestJoined = 24;

/** A published list made ready for comparison with many names; a word counts for less the more often list and roster have it. */
export class NameIndex {
  readonly #tokens = new TokenIndex();
  readonly #spellings: ListedSpelling[] = [];
  /** The spellings in which each word stands, by the word's number. */
  readonly #standsIn: number[][] = [];
  readonly #weights: number[] = [];
  readonly #counts: WordCounts;
  readonly #names: number;
  /** How much of each spelling was found in the name that is being looked up; zero between two names. */
  readonly #found: Float64Array;

  constructor(parties: readonly ListedParty[], counts: WordCounts = new WordCounts()) {
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
  *find(name: string, type: PartyType): Generator<Resemblance> {
    const tokens = foldName(name);
    const pieces = toPieces(tokens).flatMap(({ token, ...piece }): AskedPiece[] => {
      const likeIds = this.#tokens.find(token, piece.places.length > 1);
      return likeIds.size === 0 ? [] : [{ ...piece, likeIds }];
    });
    if (pieces.length === 0) return;
    const asked = { ...this.#weigh(tokens), pieces };
    for (const { party, spelling, isOneWord, name: listed } of this.#findCandidates(asked, type)) {
      yield { party, spelling, isOneWord, ...assessNames(asked, listed) };
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
export const isOtherType = (party: ListedParty, type: PartyType): boolean => party.type !== null && party.type !== type;

const sum = (weights: readonly number[]): number => weights.reduce((total, weight) => total + weight, 0);

/** The words of a name, and up to three neighbours read as one. */
function toPieces(tokens: readonly NameToken[]): readonly (NamePiece & { token: NameToken })[] {
  const pieces: (NamePiece & { token: NameToken })[] = [];
  for (const [from, token] of tokens.entries()) {
    const places = [from];
    pieces.push({ places: [from], token });
    let { text, isVowelless } = token;
    for (const [offset, next] of tokens.slice(from + 1, from + mostNeighbours).entries()) {
      text += next.text;
      isVowelless ||= next.isVowelless;
      if (text.length > longestJoined) break;
      places.push(from + 1 + offset);
      pieces.push({ places: [...places], token: toToken(text, isVowelless) });
    }
  }
  return pieces;
}
