/** Quotes a word for a POSIX shell. */
export const quoteArgument = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
