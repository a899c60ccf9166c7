// Space of every kind, control and format characters: what spreadsheets skip or drop before they look for a formula.
const ignorable = '[\\s\\p{C}]*';
// ASCII, full-width and small forms, and the true minus sign.
const starters = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]';
const atStart = new RegExp(`^${ignorable}${starters}`, 'u');
// A spreadsheet set to another delimiter cuts cells here, whatever the quotes say.
const afterBreak = new RegExp(`(?<=[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]${ignorable})${starters}`, 'gu');
// The same places, also where the text has apostrophes of its own before the sign.
const markedStart = new RegExp(`^(?='*${ignorable}${starters})`, 'u');
const markedBreak = new RegExp(`(?<=[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]${ignorable})(?='*${starters})`, 'gu');

/**
 * The text with an apostrophe before whatever a spreadsheet could take for a formula: at its start, and after a line
 * break, tab, semicolon or bar inside it; other text is returned unchanged.
 */
export function neutraliseFormula(text: string): string {
  const inside = text.replace(afterBreak, "'$&");
  return atStart.test(text) ? `'${inside}` : inside;
}

/** The same for text that is to be read in again: taking off one apostrophe at each such place gives every text back as it was. */
export function markFormula(text: string): string {
  const inside = text.replace(markedBreak, "'");
  return markedStart.test(text) ? `'${inside}` : inside;
}
