import type { PartyType } from './customer.js';

/** What exports and people write where there is no name, folded. Some are names of real people (Null, Na): only a whole name counts. */
const words = `null, \\n, n/a, n.a., n.a, n a, na, n/k, nan, none, undefined, unknown, unnamed, untitled, test, test test, testing, test name, test user,
  test customer, test person, dummy, tba, tbd, tbc, xxx, xxxx, xxxxx, no name, noname, no data, not available, not applicable, not known,
  not provided, not specified, not set, object object, asdf, qwerty, unbekannt, keine angabe, k.a., k. a., nicht angegeben, inconnu, inconnue,
  non renseigne, non renseigné, desconocido, desconocida, desconhecido, sin nombre, sconosciuto, onbekend, n.v.t., nvt, ukendt, ukjent, okänd,
  nieznany, brak danych`;
const placeholders: ReadonlySet<string> = new Set(words.split(',').map((word) => word.trim().replace(/\s+/g, ' ')));
const openings: ReadonlySet<string> = new Set([...placeholders].map((word) => word.slice(0, 2)));
const startsWithLetter = /^[A-Za-z]/;
/** Quotes and brackets around a word, and the marks of spreadsheets and databases before it, as in `<NULL>` and `#N/A`. */
const wrapping = /^[\s"'`<>()[\]#-]+|[\s"'`<>()[\]-]+$/g;
const isObject = /^\s*\{.*\}\s*$/s;
const isDigits = /^\d+$/;

/** Gives the form in which names are compared with placeholders. */
export const foldPlaceholder = (name: string): string =>
  name.normalize('NFKC').replace(wrapping, '').replace(/\s+/g, ' ').toLowerCase();

/**
 * Tells whether a whole name is what is written where there is none: `NULL`, `N/A`, `none`, `test`, a JSON object, or a number; an entity may
 * be called by a number, but not 0, 1, 12, 123 and so on. `parts` are the fields that the name is joined from, `realNames` the
 * folded names that are real in this roster.
 */
export function isPlaceholderName(
  name: string,
  type: PartyType,
  parts: readonly string[],
  realNames: ReadonlySet<string>,
): boolean {
  // Most names end here, after a tenth of the time.
  if (startsWithLetter.test(name) && !openings.has(name.slice(0, 2).toLowerCase())) return false;
  const folded = foldPlaceholder(name);
  if (realNames.has(folded)) return false;
  if (isObject.test(name) || isWord(folded, type)) return true;
  const words = parts.filter((part) => part !== '').map(foldPlaceholder);
  // Na Na is a name; NA in both columns of an export is none, but only its words could say so.
  return words.length > 1 && words.every((word) => isWord(word, type)) && words.some((word) => word !== 'na');
}

function isWord(folded: string, type: PartyType): boolean {
  if (placeholders.has(folded)) return true;
  if (!isDigits.test(folded)) return false;
  return type === 'person' || '1234567890'.startsWith(folded) || /^0+$/.test(folded);
}
