const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });
/** What belongs to one letter of any script; more is a way to write a name into one grapheme. */
const mostCodePoints = 3;

/**
 * A name as its initials, in any script: `Amina al-Haddad` is `A. a. H.`, `王秀英` is `王.`. A word that is no more than one letter of a
 * script without capitals is left out, because the letter would be all of it; `*` stands for a name of which nothing is left.
 */
export function toInitials(name: string): string {
  const initials = name.split(/[\s\p{P}\p{S}\p{C}]+/u).flatMap(toInitial);
  return initials.length === 0 ? '*' : initials.join(' ');
}

function toInitial(word: string): readonly string[] {
  const [first, ...others] = [...graphemes.segment(word)].map(({ segment }) => segment);
  if (first === undefined || (others.length === 0 && !/^[\p{Lu}\p{Ll}]$/u.test(first))) return [];
  return [`${[...first].slice(0, mostCodePoints).join('')}.`];
}
