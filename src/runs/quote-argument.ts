/** A word as it is typed in a POSIX shell. */
export const quoteArgument = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
