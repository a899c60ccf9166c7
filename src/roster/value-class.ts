/** As much of a text says what kind it is, in UTF-16 units. */
const mostRead = 10_000;
const harmful = /[\p{Cc}\u2028\u2029\ufffd]/u;

/** Kinds of values, the first that fits; blanks between words belong to each. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['digits', /^[\p{N}\s]+$/u],
  ['letters', /^[\p{L}\p{M}\s]+$/u],
  ['letters and digits', /^[\p{L}\p{M}\p{N}\s]+$/u],
  ['punctuation', /^[\p{P}\p{S}\s]+$/u],
  ['digits and punctuation', /^[\p{N}\p{P}\p{S}\s]+$/u],
  ['letters and punctuation', /^[\p{L}\p{M}\p{P}\p{S}\s]+$/u],
];

/** Says what kind of value a text is, such as `digits, 8 characters`, without showing anything of it. */
export function classifyValue(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return 'empty';
  const seen = trimmed.slice(0, mostRead);
  const [found] = harmful.exec(seen) ?? [];
  if (found !== undefined) return describeHarmful(found);
  const kind = kinds.find(([, pattern]) => pattern.test(seen))?.[0] ?? 'mixed';
  const count = trimmed.length > mostRead ? trimmed.length : [...trimmed].length;
  return `${kind}, ${count} ${count === 1 ? 'character' : 'characters'}`;
}

function describeHarmful(character: string): string {
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (character === '\ufffd') return `replacement character ${code}`;
  return `${/[\n\r\u0085\u2028\u2029]/.test(character) ? 'line break' : 'control character'} ${code}`;
}
