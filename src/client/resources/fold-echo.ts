/** A text as it is compared with its echo: NFKC, case and white space folded (DESIGN: Same request, one search). */
export const foldEcho = (text: string): string =>
  // Upper case first, so that letters with several lower-case forms (sharp s, long s, sigma) meet.
  text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replace(/\s+/gu, ' ').trim();
