// Spreadsheets skip white space, control and format characters before they look for a formula.
const ignorable = '[\\s\\p{C}]*';
// ASCII, full-width and small forms, and the true minus sign.
const starters = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]';
const atStart = new RegExp(`^${ignorable}${starters}`, 'u');
// A spreadsheet with another delimiter setting splits cells here, also inside quotes.
const breaks = '[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]';
// It looks back from a sign only: from each character, the time would grow with the square of the text.
const afterBreak = new RegExp(`${starters}(?<=${breaks}${ignorable}${starters})`, 'gu');

/**
 * The text with an apostrophe before each place where a spreadsheet could start a formula: at the start, and after a line break, tab,
 * semicolon or bar.
 */
export function neutraliseFormula(text: string): string {
  const inside = text.replace(afterBreak, "'$&");
  return atStart.test(text) ? `'${inside}` : inside;
}

// The same places, with or without apostrophes of the text before the sign.
const markedStart = new RegExp(`^(?='*${ignorable}${starters})`, 'u');
const markedBreak = new RegExp(`(?<!')'*${starters}(?<=${breaks}${ignorable}'*${starters})`, 'gu');

/** The same, reversible by `restoreFormula`. */
export function markFormula(text: string): string {
  const inside = text.replace(markedBreak, "'$&");
  return markedStart.test(text) ? `'${inside}` : inside;
}

const apostropheAtStart = new RegExp(`^'(?='*${ignorable}${starters})`, 'u');
const apostropheAfterBreak = new RegExp(`(?<!')'('*${starters})(?<=${breaks}${ignorable}'+${starters})`, 'gu');

/** Removes one apostrophe before each possible formula; others stay. */
export function restoreFormula(text: string): string {
  return text.includes("'") ? text.replace(apostropheAfterBreak, '$1').replace(apostropheAtStart, '') : text;
}
