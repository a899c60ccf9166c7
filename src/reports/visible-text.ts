const hidden = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/**
 * Text in which characters that cannot be seen but could mislead (controls, direction overrides, lone surrogates) are
 * shown as their code point, `[U+202E]`; joiners that scripts need are kept.
 */
export function toVisibleText(text: string): string {
  return text.replace(hidden, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
  });
}
