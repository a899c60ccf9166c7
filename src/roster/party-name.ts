import { listWords } from '../vocabulary/words.js';
import type { DoubtReason, PartyType } from '../vocabulary.js';
import { isSpreadsheetError, saysUnknown, unknownWords } from './doubts.js';
import { looksLikeNames } from './name-lists.js';
import { readNameText } from './name-text.js';
import words from './words/names.json' with { type: 'json' };

/** The name of a party as it is read from its cells. */
export interface PartyName {
  name: string;
  /** The source text, where the name is another. */
  said: string | null;
  /** Why it may not be what the party is called; it is searched as it is. */
  why: DoubtReason | null;
  /** Placeholders that are no part of the name, each with the place of its cell. */
  leftOut: readonly { part: number; text: string }[];
}

/** Folded placeholders of a missing name. Some are real names (Null, Na), so only a whole name counts. */
const placeholders: ReadonlySet<string> = new Set([...unknownWords, ...listWords(words.placeholders)]);

/** Placeholders beside another part of a name. */
const partWords = new Set(listWords(words.partWords));
/** Real names beside another part: Na, Null and Nan are names, `NULL`, `None` and `nan` come from programs. */
const realParts = new Set(listWords(words.realParts));
const programWords: ReadonlySet<string> = new Set(['NULL', 'null', 'None', 'NONE', 'none', 'nan', 'NaN']);

const openings: ReadonlySet<string> = new Set([...placeholders].map((word) => word.slice(0, 2)));

const startsWithLetter = /^[A-Za-z]/;
const letterOrDigit = /[\p{L}\p{N}]/u;

/** Quotes, brackets and prefixes around a word, as in `<NULL>` and `#N/A`. */
const opening = /^[\s"'`<>()[\]#-]+/;
const closing = /[\s"'`<>()[\]-]/;

const isObject = (text: string): boolean => text.startsWith('{') && text.endsWith('}') && text.includes(':');

const isDigits = /^\d+$/;

/** A text without case, wide forms, and what wraps it. */
export function foldPlaceholder(name: string): string {
  const text = name.normalize('NFKC').replace(opening, '');
  let end = text.length;
  while (end > 0 && closing.test(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end).replace(/\s+/g, ' ').toLowerCase();
}

/**
 * Reads the name of a party; null for a placeholder of a missing one. `parts` are the cells that `text` joins, if there
 * are several; `realNames` are the folded names that are real in this roster, which are read as they are.
 */
export function readPartyName(
  text: string,
  type: PartyType,
  { parts, separator, realNames }: { parts: readonly string[]; separator: string; realNames: ReadonlySet<string> },
): PartyName | null {
  const isReal = (name: string): boolean => realNames.size > 0 && realNames.has(foldPlaceholder(name));
  if (isReal(text)) return { name: text, said: null, why: null, leftOut: none };
  if (isPlaceholderName(text, type, parts)) return null;
  const { kept, leftOut } =
    parts.length > 1 ? leaveOutParts(text, parts, separator, isReal) : leaveOutWords(text, type, isReal);
  if (leftOut.length > 0 && isPlaceholderName(kept, type, none)) return null;
  const read = isReal(kept) ? { name: kept, said: null, why: null } : readNameText(leaveOutRemarks(kept, type), type);
  const why = read.why ?? (!isReal(kept) && looksLikeNames(read.name, type) ? 'list_of_names' : null);
  return { name: read.name, said: read.name === text ? null : text, why, leftOut };
}

const none: readonly never[] = [];

/** Forms of address and degrees before a name. Those that are names as well, such as Sig, have their dot. */
const titles =
  /^(?:(?:dott\.?ssa|prof\.?ssa|sig\.?ra|dr|prof|dott|avv|mgr|inż|mr|mrs|mme|mlle|herr|frau)\.?|(?:ing|rag|geom|arch|sig|mec|adw|hab|dipl|mag|lic|doc|hr|ms|sr|sra)\.)\s/iu;
/** What shows that a person has died. */
const ofDead =
  /(?<=^|\s)(?:[†✝]|\((?:†|zm\.?|deceased|dec'd|verst\.?|verstorben|décédée?|fallecid[oa]|decedut[oa]|avliden|afdød|død|zemř\.?|kuollut|overleden)\))(?=\s|$)/giu;
const estates =
  /^(?:dödsbo(?:et)? efter|dødsbo(?:et)? (?:etter|efter)|(?:the )?estate of|nachlass(?: von)?|erben (?:von|nach)|eredi di|herederos de|succession de|hoirie(?: de)?|spadkobiercy|kuolinpesä)\s/iu;
const hasTwoWords = (name: string): boolean => name.split(/\s/).filter((word) => /\p{L}{2}/u.test(word)).length > 1;

/** Leaves out what services compare like a part of the name: `Dott. Ada Berg`, `Ada Berg (†)` and `Estate of Ada Berg`. */
function leaveOutRemarks(name: string, type: PartyType): string {
  if (type !== 'person') return name;
  const living = name.replace(ofDead, '');
  let bare = (living === name ? name : living.replace(/\s+/g, ' ').trim()).replace(estates, '');
  for (let next = bare.replace(titles, ''); next !== bare && hasTwoWords(next); next = bare.replace(titles, ''))
    bare = next;
  return hasTwoWords(bare) ? bare : name;
}

/**
 * Whether a whole name is a placeholder: `NULL`, `N/A`, `none`, `test`, a JSON object, or a number. An entity may have
 * a number as its name, but not 0, 1, 12, 123 and so on.
 */
function isPlaceholderName(name: string, type: PartyType, parts: readonly string[]): boolean {
  const filled = parts.filter((part) => part !== '');
  // Most names end here, in a tenth of the time.
  if (filled.length < 2 && startsWithLetter.test(name) && !openings.has(name.slice(0, 2).toLowerCase())) return false;
  if (isObject(name) || isSpreadsheetError(name) || isWord(foldPlaceholder(name), type)) return true;
  const folded = filled.map(foldPlaceholder);
  // Na Na is a name, so NA in both columns does not count as a placeholder by its words alone.
  return (
    folded.length > 1 &&
    folded.every((word) => isWord(word, type) || isPart(word)) &&
    folded.some((word) => word !== 'na')
  );
}

function isWord(folded: string, type: PartyType): boolean {
  if (placeholders.has(folded)) return true;
  if (!isDigits.test(folded)) return false;
  return type === 'person' || '1234567890'.startsWith(folded) || /^0+$/.test(folded);
}

const isPart = (folded: string): boolean =>
  !letterOrDigit.test(folded) ||
  /^0+$/.test(folded) ||
  partWords.has(folded) ||
  placeholders.has(folded) ||
  saysUnknown(folded);

/** Leaves out the cells that are placeholders. */
function leaveOutParts(text: string, parts: readonly string[], separator: string, isReal: (name: string) => boolean) {
  const isLeftOut = (part: string): boolean => {
    if (part === '' || isReal(part)) return false;
    if (isSpreadsheetError(part)) return true;
    const folded = foldPlaceholder(part);
    const isWrapped = /^[<([].*[\])>]$/.test(part) && isPart(folded);
    return isWrapped || (realParts.has(folded) ? programWords.has(part) : isPart(folded));
  };
  if (!parts.some(isLeftOut)) return { kept: text, leftOut: none };
  const leftOut = parts.flatMap((cell, part) => (isLeftOut(cell) ? [{ part, text: cell }] : []));
  return { kept: parts.filter((part) => part !== '' && !isLeftOut(part)).join(separator), leftOut };
}

const anyWord = /^(?:#?n\/a|fnu|lnu|null)\s|\s(?:#?n\/a|fnu|lnu|null)$/i;
const hasSmall = /\p{Ll}/u;

/** Leaves out unmistakable placeholders at either end of a name in one cell. */
function leaveOutWords(text: string, type: PartyType, isReal: (name: string) => boolean) {
  if (!anyWord.test(text)) return { kept: text, leftOut: none };
  const all = text.split(/\s+/);
  const isLeftOut = (word: string | undefined): boolean => {
    if (word === undefined || isReal(word)) return false;
    if (/^#?n\/a$/i.test(word)) return true;
    if (/^(?:fnu|lnu)$/i.test(word)) return type === 'person';
    // Null is a surname, also in a name of capitals.
    return word === 'NULL' && hasSmall.test(text);
  };
  let [from, to] = [0, all.length];
  while (from < to - 1 && isLeftOut(all[from])) from += 1;
  while (to > from + 1 && isLeftOut(all[to - 1])) to -= 1;
  const leftOut = [...all.slice(0, from), ...all.slice(to)].map((word) => ({ part: 0, text: word }));
  return { kept: leftOut.length === 0 ? text : all.slice(from, to).join(' '), leftOut };
}
