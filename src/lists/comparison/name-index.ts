import type { PartyType } from '../../roster/customer.js';
import type { ListedParty } from '../listed-party.js';
import { foldName, type NameToken, toToken } from './fold-name.js';
import { type Agreement, judgeNames } from './judge-names.js';
import { TokenIndex } from './token-index.js';
import type { AskedPiece, ListedPiece, NamePiece, WeighedName } from './weighed-name.js';
import { WordCounts } from './word-counts.js';

/** A listed spelling and how far a name agrees with it. */
export interface Resemblance extends Agreement {
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
      yield { party, spelling, isOneWord, ...judgeNames(asked, listed) };
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
