import anyAscii from 'any-ascii';

// Applied in this order; each brings the usual transliterations of one sound to one spelling.
const RULES: readonly (readonly [RegExp, string])[] = [
  [/ph/g, 'f'],
  [/t?sch|sh|ch|cz|sz|tch/g, 's'],
  [/dzh|dj|zh/g, 'j'],
  [/([kgdt])h/g, '$1'],
  [/ck|q|x/g, 'k'],
  [/c(?=[eiy])/g, 's'],
  [/c/g, 'k'],
  [/z/g, 's'],
  [/w/g, 'v'],
  [/ou|oo/g, 'u'],
  [/ee|ii|iy|yi|ij|yy|ie|ey/g, 'i'],
  [/[yj]/g, 'i'],
  [/o/g, 'u'],
  [/e/g, 'a'],
  [/(.)\1+/g, '$1'],
];

/** Reduces a lower-case ASCII word to how it sounds, so that common transliterations of one name become equal. */
const soundOf = (text: string): string =>
  RULES.reduce((sound, [pattern, replacement]) => sound.replace(pattern, replacement), text);

/** One word of a folded name: lower-case ASCII `text`, how it sounds, and its consonants. */
export interface NameToken {
  text: string;
  /** The text with spellings of one sound made equal. */
  sound: string;
  /** The consonants of `sound`; empty when there are fewer than two. */
  skeleton: string;
  /** Written in a script that leaves out vowels (Arabic, Hebrew). */
  isVowelless: boolean;
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const QUOTES = /['’‘`´ʻʼʹʺ"“”]/gu;
const DOTTED_LETTERS = /(?<=(?:^|[^\p{L}])\p{L})\.(?=\p{L}(?:[^\p{L}]|$))/gu;
const SYLLABIC = /[\p{Script=Han}\p{Script=Hangul}]/u;
const VOWELLESS = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const ARABIC_ARTICLE = /^ال(?=.{3})/u;

const toToken = (text: string, isVowelless: boolean): NameToken => {
  const sound = soundOf(text);
  const consonants = sound.replace(/[aeiouv0-9]/g, '');
  return { text, sound, skeleton: consonants.length >= 2 ? consonants : '', isVowelless };
};

/** Two neighbouring words read as one. */
const joinTokens = (left: NameToken, right: NameToken): NameToken =>
  toToken(left.text + right.text, left.isVowelless || right.isVowelless);

const toAscii = (word: string): string =>
  anyAscii(word)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

// The transliteration writes Han and Hangul as one capitalised syllable per character and no space,
// so "김정은" and "김 정은" both become three tokens.
const splitWord = (word: string): NameToken[] => {
  if (SYLLABIC.test(word)) {
    const syllables = anyAscii(word).match(/[A-Z]?[a-z]+|[A-Z]|[0-9]+/g) ?? [];
    return syllables.map((syllable) => toToken(syllable.toLowerCase(), false));
  }
  if (!VOWELLESS.test(word)) return [toToken(toAscii(word), false)];
  const stem = word.replace(ARABIC_ARTICLE, '');
  const rest = toToken(toAscii(stem), true);
  return stem === word ? [rest] : [toToken('al', false), rest];
};

/** Splits a name into comparable words: case, accents, scripts and punctuation are folded, order is kept. */
const foldName = (name: string): NameToken[] => {
  const plain = name.normalize('NFKC').replace(QUOTES, '').replace(DOTTED_LETTERS, '');
  return (plain.match(WORD) ?? []).flatMap(splitWord).filter((token) => token.text !== '');
};

const PREFIX_WEIGHT = 0.1;
const PREFIX_LENGTH = 4;

const commonPrefixLength = (left: string, right: string): number => {
  let length = 0;
  while (length < PREFIX_LENGTH && length < left.length && left[length] === right[length]) length += 1;
  return length;
};

const jaro = (left: string, right: string): number => {
  const reach = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1);
  const isTaken = new Uint8Array(right.length);
  let matchedLeft = '';
  for (let index = 0; index < left.length; index += 1) {
    const end = Math.min(right.length, index + reach + 1);
    for (let other = Math.max(0, index - reach); other < end; other += 1) {
      if (isTaken[other] === 1 || left.charCodeAt(index) !== right.charCodeAt(other)) continue;
      isTaken[other] = 1;
      matchedLeft += left.charAt(index);
      break;
    }
  }
  const common = matchedLeft.length;
  if (common === 0) return 0;
  let outOfPlace = 0;
  for (let other = 0, place = 0; other < right.length; other += 1) {
    if (isTaken[other] !== 1) continue;
    if (right.charCodeAt(other) !== matchedLeft.charCodeAt(place)) outOfPlace += 1;
    place += 1;
  }
  return (common / left.length + common / right.length + (common - outOfPlace / 2) / common) / 3;
};

/** Jaro-Winkler similarity of two strings, 0 (nothing in common) to 1 (equal). */
const jaroWinkler = (left: string, right: string): number => {
  if (left === right) return 1;
  const similarity = jaro(left, right);
  return similarity + commonPrefixLength(left, right) * PREFIX_WEIGHT * (1 - similarity);
};

/** Two words closer than this may stand for one another; below it they are different words. */
export const MIN_TOKEN_SIMILARITY = 0.82;

const SAME_SOUND = 0.97;
const SAME_SKELETON = 0.9;
const SAME_SKELETON_VOWELLESS = 0.94;
/** How alike a word and its initial are taken to be. */
export const INITIAL_SIMILARITY = 0.9;

/** Whether `short` is the first letter of `long`, and no more. */
export const isInitialOf = (short: string, long: string): boolean =>
  short.length === 1 && long.length > 1 && long.startsWith(short);

/** How likely two words are the same word, 0 to 1: spelling, sound and consonants are tried and the best one counts. */
export const tokenSimilarity = (left: NameToken, right: NameToken): number => {
  if (left.text === right.text) return 1;
  if (isInitialOf(left.text, right.text) || isInitialOf(right.text, left.text)) return INITIAL_SIMILARITY;
  // A word of three letters or less has no room for a slip.
  if (Math.min(left.text.length, right.text.length) < 3) return 0;
  if (left.sound === right.sound) return SAME_SOUND;
  const sameSkeleton = left.skeleton !== '' && left.skeleton === right.skeleton;
  if (left.isVowelless !== right.isVowelless) return sameSkeleton ? SAME_SKELETON_VOWELLESS : 0;
  const spelled = jaroWinkler(left.text, right.text);
  const heard = jaroWinkler(left.sound, right.sound) - 0.03;
  const best = Math.max(spelled, heard);
  return sameSkeleton && left.skeleton.length >= 3 ? Math.max(best, SAME_SKELETON) : best;
};

/** Which kind of name is compared; people and organisations use different small words. */
export type NameKind = 'person' | 'entity';

const words = (list: string): readonly string[] => list.trim().split(/\s+/);

const PARTICLES = new Set(
  words(
    'al el ul ad as ash at an ar bin ben ibn bint de del della di da dos do du van von der den la le y e of the abu',
  ),
);
const TITLES = new Set(words('mr mrs ms dr prof sir haji hajji mullah maulavi mawlawi sheikh shaykh jr sr ii iii'));

const LEGAL_FORMS = new Map<string, string>(
  [
    'ltd limited ltda limitada',
    'llc ooo',
    'inc incorporated corp corporation co company',
    'sa sab ag ao oao pao zao jsc ojsc pjsc cjsc as asa ab oy oyj spa plc',
    'gmbh sarl srl sl bv nv kft doo',
    'lp llp kg cv',
  ].flatMap((group) => {
    const forms = words(group);
    return forms.map((form): [string, string] => [form, forms[0] ?? form]);
  }),
);

const GENERIC = new Set(
  words(`the and of for de la et und y e group holding holdings international intl trading trade bank banco banque
  industries industry industrial services service general national enterprise enterprises import export commercial
  investment investments management shipping technology technologies engineering construction global solutions capital
  partners consulting foundation organization organisation association institute center centre`),
);

/** Brings spellings of one legal form together ("Limited", "Ltda" and "Ltd"); other words stay as they are. */
const unifyLegalForm = (text: string): string => LEGAL_FORMS.get(text) ?? text;

/** How much a word tells names apart: 1 for a distinctive word, less for initials, particles and legal forms. */
const wordWeight = (text: string, kind: NameKind): number => {
  if (kind === 'entity') {
    if (LEGAL_FORMS.has(text)) return 0.1;
    if (GENERIC.has(text)) return text.length <= 3 ? 0.1 : 0.5;
    return text.length === 1 ? 0.4 : 1;
  }
  if (PARTICLES.has(text) || TITLES.has(text)) return 0.2;
  return text.length === 1 ? 0.4 : text.length === 2 ? 0.8 : 1;
};

/** A name ready to be compared: its words with their weights, and neighbouring words read as one. */
export interface ScorableName {
  tokens: readonly NameToken[];
  /** `joined[i]` is word i and word i+1 read as one. */
  joined: readonly NameToken[];
  /** The weight of each word. */
  weights: readonly number[];
  /** The sum of the weights. */
  weight: number;
}

/** How alike two words are, 0 to 1. */
type CompareTokens = (left: NameToken, right: NameToken) => number;

interface Pairing {
  left: number;
  leftLength: 1 | 2;
  right: number;
  rightLength: 1 | 2;
  similarity: number;
}

const MIN_JOINED_SIMILARITY = 0.93;
/** What a word costs that both names have in different form, and one that only one of them has. */
const REPLACED_COST = 1.15;
const EXTRA_COST: Record<NameKind, number> = { person: 0.26, entity: 0.6 };
/** With less than this matched, an extra word is as bad as another word: "Ali" is not "Ali Hassan". */
const MIN_MATCHED_WEIGHT = 1.6;

/** Prepares a name for comparison. */
export const toScorableName = (name: string, kind: NameKind): ScorableName => {
  const folded = foldName(name);
  const tokens = kind === 'entity' ? folded.map((token) => ({ ...token, text: unifyLegalForm(token.text) })) : folded;
  const joined = tokens.slice(1).flatMap((token, index) => {
    const before = tokens[index];
    return before ? [joinTokens(before, token)] : [];
  });
  const weights = tokens.map((token) => wordWeight(token.text, kind));
  return { tokens, joined, weights, weight: weights.reduce((sum, weight) => sum + weight, 0) };
};

const findPairings = (left: ScorableName, right: ScorableName, compare: CompareTokens): Pairing[] => {
  const pairings: Pairing[] = [];
  const compareAll = (leftLength: 1 | 2, rightLength: 1 | 2): void => {
    const least = leftLength === rightLength ? MIN_TOKEN_SIMILARITY : MIN_JOINED_SIMILARITY;
    const lefts = leftLength === 1 ? left.tokens : left.joined;
    const rights = rightLength === 1 ? right.tokens : right.joined;
    for (const [i, token] of lefts.entries()) {
      for (const [j, other] of rights.entries()) {
        const similarity = compare(token, other);
        if (similarity >= least) pairings.push({ left: i, leftLength, right: j, rightLength, similarity });
      }
    }
  };
  compareAll(1, 1);
  compareAll(1, 2);
  compareAll(2, 1);
  return pairings.sort((a, b) => b.similarity - a.similarity || b.leftLength - a.leftLength);
};

/** The weight of the words of one side of a pairing; undefined when one of them is used already. */
const weighUnused = (
  name: ScorableName,
  used: ReadonlySet<number>,
  start: number,
  length: 1 | 2,
): number | undefined => {
  if (used.has(start) || (length === 2 && used.has(start + 1))) return undefined;
  return (name.weights[start] ?? 0) + (length === 2 ? (name.weights[start + 1] ?? 0) : 0);
};

/** The score of names whose paired words weigh `matched` and agree as much as `agreed` of it, with the given words left over. */
export const combineScore = (
  matched: number,
  agreed: number,
  leftOver: number,
  rightOver: number,
  kind: NameKind,
): number => {
  if (matched === 0) return 0;
  const replaced = Math.min(leftOver, rightOver);
  const extra = Math.abs(leftOver - rightOver);
  const extraCost = matched >= MIN_MATCHED_WEIGHT ? EXTRA_COST[kind] : 1;
  return agreed / (matched + replaced * REPLACED_COST + extra * extraCost);
};

/** How alike two names are, 0 to 1, whatever the order of their words. */
export const scoreNames = (
  left: ScorableName,
  right: ScorableName,
  kind: NameKind,
  compare: CompareTokens = tokenSimilarity,
): number => {
  const usedLeft = new Set<number>();
  const usedRight = new Set<number>();
  let agreed = 0;
  let matchedLeft = 0;
  let matchedRight = 0;
  for (const pairing of findPairings(left, right, compare)) {
    const leftWeight = weighUnused(left, usedLeft, pairing.left, pairing.leftLength);
    const rightWeight = weighUnused(right, usedRight, pairing.right, pairing.rightLength);
    if (leftWeight === undefined || rightWeight === undefined) continue;
    for (let place = 0; place < pairing.leftLength; place += 1) usedLeft.add(pairing.left + place);
    for (let place = 0; place < pairing.rightLength; place += 1) usedRight.add(pairing.right + place);
    matchedLeft += leftWeight;
    matchedRight += rightWeight;
    agreed += ((leftWeight + rightWeight) / 2) * pairing.similarity;
  }
  const matched = (matchedLeft + matchedRight) / 2;
  return combineScore(matched, agreed, left.weight - matchedLeft, right.weight - matchedRight, kind);
};
