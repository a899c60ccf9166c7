/** Gives the form in which own words of a mapping and of a row are compared. */
export function foldWord(word: string): string {
  return word.trim().normalize('NFC').toLowerCase();
}
