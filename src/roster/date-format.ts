const tokens = /yyyy|MM?|dd?/g;
const patterns: Readonly<Record<string, string>> = {
  yyyy: '(?<year>\\d{4})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  dd: '(?<day>\\d{2})',
  d: '(?<day>\\d{1,2})',
};

/** Tells whether a text is a date format: `yyyy` once, then at most one month, and a day only beside a month; no other letters or digits. */
export function isDateFormat(format: string): boolean {
  const found = (format.match(tokens) ?? []).map((token) => token.charAt(0)).sort();
  const rest = format.replace(tokens, '');
  return ['y', 'My', 'Mdy'].includes(found.join('')) && !/[\p{L}\p{N}]/u.test(rest);
}

/** Gives the expression that a text in the format matches whole, with the groups `year`, `month` and `day`. */
export function compileDateFormat(format: string): RegExp {
  const source = format.replace(/yyyy|MM?|dd?|[^\p{L}\p{N}]/gu, (part) => patterns[part] ?? escapeLiteral(part));
  return new RegExp(`^${source}$`, 'u');
}

function escapeLiteral(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
