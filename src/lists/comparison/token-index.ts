import { isWithinEdits } from './edit-distance.js';
import type { NameToken } from './fold-name.js';
import { isSameInConsonants, toBareSkeleton } from './token-sound.js';

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
export class TokenIndex {
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
