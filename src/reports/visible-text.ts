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

/** The same for text of several lines: line breaks (LF, CRLF) and tabs are kept, a single CR is shown. */
export const toVisibleLines = (text: string): string =>
  text.replace(/(\r?\n|\t)|(?:(?!\r?\n|\t)[\s\S])+/gu, (part, kept: string | undefined) => kept ?? toVisibleText(part));

/** A JSON document or a part of one, with the same characters as escapes (`\u202e`): its values stay what they are. */
export const toVisibleJson = (json: string): string =>
  json.replace(hidden, (character) =>
    // Line breaks and tabs stand between values only.
    /[\n\r\t]/.test(character)
      ? character
      : Array.from({ length: character.length }, (_, at) => toEscape(character.charCodeAt(at))).join(''),
  );

const toEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** Visible lines of which `restoreHidden` (src/roster) makes the text again: a code point that the text itself spells gets a bracket by number. */
export const markHidden = (text: string): string =>
  toVisibleLines(text.replace(/\[(?=U\+[0-9A-F]{4,6}\])/g, '[U+005B]'));

function toCodePoint(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
}
