/** How a name that is sent differs from the listed one. */
export type NameVariant =
  | 'as_listed'
  | 'reordered'
  | 'shortened'
  | 'letter_swapped'
  | 'letter_dropped'
  | 'letter_doubled';

/** A name as somebody else may have written it. */
export interface VariedName {
  variant: NameVariant;
  name: string;
}

const onlyLetters = /^\p{L}{4,}$/u;

/** Writes a name as people write it who know it by ear or from a form: words in another order, one left out, one letter wrong. */
export function varyName(name: string, random: () => number): VariedName {
  const words = name.split(' ');
  const ways: (() => VariedName | null)[] = [
    () => reorder(words),
    () => shorten(words, random),
    () => changeLetter(words, random, 'letter_swapped'),
    () => changeLetter(words, random, 'letter_dropped'),
    () => changeLetter(words, random, 'letter_doubled'),
  ];
  const first = Math.floor(random() * ways.length);
  for (let turn = 0; turn < ways.length; turn += 1) {
    const varied = ways[(first + turn) % ways.length]?.();
    if (varied && varied.name !== name) return varied;
  }
  return { variant: 'as_listed', name };
}

function reorder(words: readonly string[]): VariedName | null {
  const last = words.at(-1);
  if (words.length < 2 || last === undefined) return null;
  return { variant: 'reordered', name: [last, ...words.slice(0, -1)].join(' ') };
}

/** Leaves out a word in the middle: first and last name stay. */
function shorten(words: readonly string[], random: () => number): VariedName | null {
  if (words.length < 3) return null;
  const left = 1 + Math.floor(random() * (words.length - 2));
  return { variant: 'shortened', name: words.filter((_, at) => at !== left).join(' ') };
}

function changeLetter(
  words: readonly string[],
  random: () => number,
  variant: 'letter_swapped' | 'letter_dropped' | 'letter_doubled',
): VariedName | null {
  const places = words.flatMap((word, at) => (onlyLetters.test(word) ? [at] : []));
  const place = places[Math.floor(random() * places.length)];
  if (place === undefined) return null;
  const letters = [...(words[place] ?? '')];
  // Never the first letter: people seldom get it wrong.
  const at = 1 + Math.floor(random() * (letters.length - 2));
  const [letter = '', next = ''] = letters.slice(at, at + 2);
  if (variant === 'letter_swapped') letters.splice(at, 2, next, letter);
  if (variant === 'letter_dropped') letters.splice(at, 1);
  if (variant === 'letter_doubled') letters.splice(at, 0, letter);
  return { variant, name: words.map((word, index) => (index === place ? letters.join('') : word)).join(' ') };
}
