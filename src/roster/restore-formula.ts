// The signs before which a `rejects.csv` has an apostrophe, as src/reports/neutralise-formula.ts sets them; a test holds both together.
const ignorable = '[\\s\\p{C}]*';
const starters = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]';
const atStart = new RegExp(`^'(?='*${ignorable}${starters})`, 'u');
const afterBreak = new RegExp(`(?<=[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]${ignorable})'(?='*${starters})`, 'gu');

/** Takes off the apostrophes that `rejects.csv` puts before what a spreadsheet could take for a formula; others stay. */
export function restoreFormula(text: string): string {
  return text.includes("'") ? text.replace(afterBreak, '').replace(atStart, '') : text;
}

// What src/reports/visible-text.ts shows as code points; the bracket is of a text that spells one itself.
const shown = /^[\p{C}\p{M}\u2028\u2029[]$/u;

/** Puts back the characters that `rejects.csv` shows as their code points (`[U+001B]`); any other text in brackets stays. */
export function restoreHidden(text: string): string {
  return text.replace(/\[U\+([0-9A-F]{4,6})\]/g, (mark, digits: string) => {
    const codePoint = Number.parseInt(digits, 16);
    const character = codePoint > 0x10_ffff ? mark : String.fromCodePoint(codePoint);
    return shown.test(character) ? character : mark;
  });
}
