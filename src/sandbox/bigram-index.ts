/** Finds the places of words that share enough letter pairs with a given one. */
export interface BigramIndex {
  findClose(text: string): number[];
}

const MIN_SHARED = 0.42;
const MIN_LENGTH_RATIO = 0.5;

const bigramsOf = (text: string): string[] => {
  const padded = `^${text}$`;
  return Array.from({ length: padded.length - 1 }, (_, index) => padded.slice(index, index + 2));
};

/** Indexes words by their letter pairs, the ends of a word counting as letters. */
export const createBigramIndex = (words: readonly string[]): BigramIndex => {
  const growing = new Map<string, number[]>();
  words.forEach((word, place) => {
    for (const bigram of bigramsOf(word)) {
      const group = growing.get(bigram);
      if (group) group.push(place);
      else growing.set(bigram, [place]);
    }
  });
  const places = new Map([...growing].map(([bigram, group]) => [bigram, Int32Array.from(group)]));
  const lengths = Int32Array.from(words, (word) => word.length);
  const shared = new Int32Array(words.length);

  return {
    findClose: (text) => {
      const touched: number[] = [];
      const bigrams = bigramsOf(text);
      for (const bigram of bigrams) {
        const group = places.get(bigram);
        if (!group) continue;
        for (const place of group) {
          const count = shared[place] ?? 0;
          if (count === 0) touched.push(place);
          shared[place] = count + 1;
        }
      }
      const close: number[] = [];
      for (const place of touched) {
        const length = lengths[place] ?? 0;
        const share = (2 * (shared[place] ?? 0)) / (bigrams.length + length + 1);
        shared[place] = 0;
        const ratio = length < text.length ? length / text.length : text.length / length;
        if (share >= MIN_SHARED && ratio >= MIN_LENGTH_RATIO) close.push(place);
      }
      return close;
    },
  };
};
