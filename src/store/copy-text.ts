const special = /[\\\n\r\t\0]/;
const specials = /[\\\n\r\t\0]/g;

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  // Postgres stores no NUL in any text: it is kept as its visible symbol.
  '\0': '\u2400',
};

/** A text as a column of `copy` in its text format; null is null. */
export function toCopyText(text: string | null): string {
  if (text === null) return '\\N';
  return special.test(text) ? text.replace(specials, (letter) => escapes[letter] ?? letter) : text;
}
