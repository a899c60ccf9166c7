// U+200C and U+200D join letters in some scripts and are kept.
const hidden =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// No script puts more marks on a letter; further ones would be drawn over other lines.
const heaped = /(?<=\p{M}{5})\p{M}/gu;

/**
 * Text in which characters that cannot be seen but could mislead (controls, direction overrides, zero-width spaces, lone surrogates, heaped
 * marks) are shown as their code point, `[U+202E]`; joiners that scripts need are kept.
 */
export function toVisibleText(text: string): string {
  return text.replace(hidden, toCodePoint).replace(heaped, toCodePoint);
}

function toCodePoint(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
}
