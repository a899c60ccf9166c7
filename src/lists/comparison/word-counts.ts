import { foldName } from './fold-name.js';

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
