import { createHash } from 'node:crypto';
import type { ListedParty } from '../../lists/list-file.js';
import { toScreeningRequest } from '../../roster/customer.js';
import type { PartyType } from '../../vocabulary.js';

interface SampledName {
  listedId: string | null;
  listedName: string;
  type: PartyType;
  script: string;
  variant: NameVariant;
  sentName: string;
}

type ListedName = Omit<SampledName, 'variant' | 'sentName'>;

/**
 * Draws names of a list at random: at least one of each type and script, the rest in proportion. Names are the main name of each entry and its
 * names in other scripts. A list with fewer names is used whole. Vessels and aircraft are left out, and entries without a type unless `type`
 * gives it. The same settings and list give the same sample.
 */
export function drawSample(
  parties: readonly ListedParty[],
  settings: { size: number; seed: string; spelling: 'as_listed' | 'variants'; type: PartyType | undefined },
): readonly SampledName[] {
  const { size, seed, spelling, type } = settings;
  const random = createSeededRandom(seed);
  const strata = [...groupNames(parties, type)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, names]) => names);
  const sizes = allot(
    strata.map((names) => names.length),
    size,
  );
  return strata.flatMap((names, at) =>
    pick(names, sizes[at] ?? 0, random).map((listed): SampledName => {
      const { variant, name } =
        spelling === 'variants'
          ? varyName(listed.listedName, random)
          : { variant: 'as_listed' as const, name: listed.listedName };
      const { name: sentName } = toScreeningRequest({
        role: 'customer',
        type: listed.type,
        name,
        birthDate: null,
        countries: [],
      });
      return { ...listed, variant, sentName };
    }),
  );
}

function groupNames(parties: readonly ListedParty[], fallback: PartyType | undefined): Map<string, ListedName[]> {
  const strata = new Map<string, ListedName[]>();
  const known = new Set<string>();
  for (const { id, name, aliases, isVehicle, ...party } of parties) {
    const type = party.type ?? fallback;
    if (type === undefined || isVehicle) continue;
    for (const spelling of [name, ...aliases.filter((alias) => isInOtherScript(alias, name))]) {
      const key = `${type} ${spelling}`;
      if (known.has(key)) continue;
      known.add(key);
      const script = scriptOf(spelling);
      const stratum = strata.get(`${type} ${script}`) ?? [];
      stratum.push({ listedId: id, listedName: spelling, type, script });
      strata.set(`${type} ${script}`, stratum);
    }
  }
  return strata;
}

const isInOtherScript = (alias: string, name: string): boolean =>
  !['Latin', 'Other', scriptOf(name)].includes(scriptOf(alias));

/** Divides a sample among strata of these sizes: one each if the sample is large enough, and the rest in proportion. */
export function allot(strata: readonly number[], size: number): readonly number[] {
  const total = strata.reduce((sum, names) => sum + names, 0);
  if (size >= total) return strata;
  const each = size >= strata.length ? 1 : 0;
  const rest = size - each * strata.length;
  const fair = strata.map((names) => ((names - each) * rest) / (total - each * strata.length));
  const sizes = fair.map((share) => each + Math.floor(share));
  const left = size - sizes.reduce((sum, names) => sum + names, 0);
  const byNeed = fair
    .map((share, at) => ({ at, need: share - Math.floor(share) }))
    .sort((one, other) => other.need - one.need || one.at - other.at);
  for (const { at } of byNeed.slice(0, left)) sizes[at] = (sizes[at] ?? 0) + 1;
  return sizes;
}

/** Draws `count` items, each at most once. */
function pick<T>(items: readonly T[], count: number, random: () => number): readonly T[] {
  const left = [...items];
  for (let at = 0; at < Math.min(count, left.length); at += 1) {
    const other = at + Math.floor(random() * (left.length - at));
    const [one, two] = [left[at], left[other]];
    if (one === undefined || two === undefined) break;
    left[at] = two;
    left[other] = one;
  }
  return left.slice(0, count);
}

/** Numbers from 0 up to 1, the same sequence for the same seed. */
export function createSeededRandom(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How a name that is sent differs from the listed one. */
type NameVariant = 'as_listed' | 'reordered' | 'shortened' | 'letter_swapped' | 'letter_dropped' | 'letter_doubled';

type VariedName = Pick<SampledName, 'variant'> & { name: string };

const onlyLetters = /^\p{L}{4,}$/u;

/** Varies a name as people misspell it: words in another order, one word left out, or one letter wrong. */
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

/** Leaves out a word in the middle. */
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
  // Never the first letter, because people seldom misspell it.
  const at = 1 + Math.floor(random() * (letters.length - 2));
  const [letter = '', next = ''] = letters.slice(at, at + 2);
  if (variant === 'letter_swapped') letters.splice(at, 2, next, letter);
  if (variant === 'letter_dropped') letters.splice(at, 1);
  if (variant === 'letter_doubled') letters.splice(at, 0, letter);
  return { variant, name: words.map((word, index) => (index === place ? letters.join('') : word)).join(' ') };
}

const scripts = [
  'Latin',
  'Arabic',
  'Cyrillic',
  'Han',
  'Hangul',
  'Hiragana',
  'Katakana',
  'Hebrew',
  'Greek',
  'Devanagari',
  'Bengali',
  'Thai',
  'Georgian',
  'Armenian',
  'Myanmar',
  'Khmer',
  'Tamil',
].map((name) => ({ name, letter: new RegExp(`\\p{Script=${name}}`, 'gu') }));

/** The script of most letters of a name; `Other` when it is none of the usual ones. */
function scriptOf(name: string): string {
  const counts = scripts.map(({ name: script, letter }) => ({ script, letters: name.match(letter)?.length ?? 0 }));
  const most = counts.reduce((best, next) => (next.letters > best.letters ? next : best), {
    script: 'Other',
    letters: 0,
  });
  return most.script;
}
