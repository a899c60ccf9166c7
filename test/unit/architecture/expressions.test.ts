import { expect, it, vi } from 'vitest';
import { isFullSize } from '../../helpers/figures.js';
import { listFiles, readExpressions } from './read-imports.js';

/** Characters of all the kinds that expressions tell apart. */
const kinds = [...'a0 \t\n,;.:-_/\\\'"<>()[]{}=+&%@#!?*|$^~`AzZfé\u0085\u00a0я中ß\u0301\u200d\u2028\ue000\u0000', '😀'];
/** A part of an expression that fits one character: an escape, a class or the character itself. */
const part =
  /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[\]^$|()?*+{}]/gs;
const word = /(?<![\\{<\p{L}\p{N}_])[\p{L}\p{N}_]{2,}/gu;
/** No expression expects it: what comes before has to be given up. */
const stranger = '\ufffe';

/** What an expression may repeat: a character of each class, each escape and each literal that it names, and some of its words. */
function listRepeated({ source, flags }: RegExp): readonly string[] {
  const found = new Set<string>();
  for (const [text] of source.matchAll(part)) {
    const one = compile(`^(?:${text})$`, flags.replace(/[gmy]/g, ''));
    const fitting = [...kinds, text].filter((kind) => one?.test(kind));
    for (const kind of [fitting[0], fitting.at(-1)]) if (kind !== undefined) found.add(kind);
  }
  return [...found, ...new Set((source.match(word) ?? []).slice(0, 4))];
}

function compile(source: string, flags: string): RegExp | null {
  try {
    return new RegExp(source, flags);
  } catch {
    return null;
  }
}

type Text = (size: number) => string;

/** How many parts are also tried two by two: most of the time. */
const paired = isFullSize ? 8 : 3;

/** Texts of a size on which an expression may take long: each part repeated, and two of them in turn, or one before the other. */
function* listTexts(expression: RegExp): Generator<Text> {
  const repeated = listRepeated(expression);
  for (const one of repeated) yield (size) => one.repeat(Math.ceil(size / one.length));
  for (const one of repeated.slice(0, paired)) {
    for (const other of repeated.slice(0, paired)) {
      if (one === other) continue;
      yield (size) => `${one}${other}`.repeat(Math.ceil(size / (one.length + other.length)));
      yield (size) => one + other.repeat(size);
    }
  }
}

function measure(expression: RegExp, text: string): number {
  const startedAt = performance.now();
  if (expression.sticky) {
    expression.lastIndex = 0;
    expression.exec(text);
  } else text.replace(expression, '');
  return performance.now() - startedAt;
}

const measureBest = (expression: RegExp, text: string): number =>
  Math.min(measure(expression, text), measure(expression, text));

/** Milliseconds that are worth another look at these sizes: an exponential expression would take years for the largest. */
const suspicious = [
  [22, 10],
  [300, 20],
  [1_000, 20],
  [2_000, 2],
] as const;

/** Whether the time grows with the square of the text, or faster. A linear expression takes 4 times as long for 4 times the text, others 16 times. */
function isSlow(expression: RegExp, toText: Text): boolean {
  for (const [size, limitMs] of suspicious) {
    const text = toText(size);
    if (measure(expression, text) < limitMs) continue;
    const ms = measureBest(expression, text);
    if (ms < limitMs) continue;
    if (size < 2_000) return true;
    const longMs = measureBest(expression, toText(8_000));
    if (longMs > 20 && longMs > 8 * ms) return true;
  }
  return false;
}

/** The first text on which an expression is slow; null without one. */
function findSlowText({ source, flags, sticky }: RegExp): string | null {
  const expression = new RegExp(source, sticky ? flags : `${flags.replace('g', '')}g`);
  for (const toText of listTexts(expression)) {
    for (const end of ['', stranger]) {
      const toWhole: Text = (size) => toText(size) + end;
      // Other work on the machine makes an expression slow once, but not three times.
      if ([1, 2, 3].every(() => isSlow(expression, toWhole))) return toWhole(4);
    }
  }
  return null;
}

const files = [...listFiles('src'), ...listFiles('jobs')].map((file) => ({ file, ...readExpressions(file) }));

/** Files whose functions compose expressions of what they are given: short names, a format of dates, patterns of a configuration, and a copy. */
const composedLater = [
  'src/roster/csv/find-files.ts',
  'src/roster/read-date.ts',
  'src/roster/settings.ts',
  'src/store/database/values.ts',
  'src/xml.ts',
];

/** The expressions that a file composes of constant parts when it is loaded. */
async function loadComposed(file: string): Promise<readonly RegExp[]> {
  const path = `../../../${file}`;
  // First with all that it imports, which then is not loaded again.
  await import(path);
  const made: RegExp[] = [];
  const construct = (target: RegExpConstructor, [source, flags]: [string, string | undefined]): RegExp => {
    const expression = new target(source, flags);
    made.push(expression);
    return expression;
  };
  vi.stubGlobal('RegExp', new Proxy(RegExp, { construct }));
  await import(`${path}?composed`).finally(() => vi.unstubAllGlobals());
  return made;
}

it('no expression of ours takes a time that grows with the square of a text', async () => {
  const slow: string[] = [];
  const tried = new Set<string>();
  const composedAtOnce: string[] = [];
  for (const { file, literals, constructed } of files) {
    const composed = constructed === 0 ? [] : await loadComposed(file);
    if (composed.length > 0) composedAtOnce.push(file);
    for (const expression of [...literals, ...composed]) {
      if (tried.has(String(expression))) continue;
      tried.add(String(expression));
      const text = findSlowText(expression);
      if (text !== null) slow.push(`${file}: ${expression} on ${JSON.stringify(text)}`);
    }
  }
  expect(slow).toEqual([]);
  const composing = files.flatMap(({ file, constructed }) => (constructed > 0 ? [file] : []));
  expect(composing.toSorted()).toEqual([...composedAtOnce, ...composedLater].toSorted());
});

it('an expression that does is found', () => {
  expect([/\s+$/, /^(a+)+$/].map(findSlowText)).toEqual([expect.stringMatching(/^\s{4}/), `aaaa${stranger}`]);
});
