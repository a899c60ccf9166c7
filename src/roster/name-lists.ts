import { listWords } from '../vocabulary/words.js';
import type { PartyType } from '../vocabulary.js';
import words from './words/names.json' with { type: 'json' };

/** Reads a list of names in one text: `{"Ada Berg",Bo}` of Postgres, or JSON. Null for any other text. */
export function readListText(text: string): readonly string[] | null {
  if (/^(?:\[.*\]|".*")$/s.test(text)) return readJsonList(text);
  return text.startsWith('{') ? readArrayText(text) : null;
}

function readJsonList(text: string): readonly string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.every((item) => item === null || typeof item === 'string')
      ? items.filter((item) => typeof item === 'string')
      : null;
  } catch {
    return null;
  }
}

const arrayItem = /(?:\s*"((?:[^"\\]|\\.)*)"\s*|([^",{}\\]*))(,|$)/sy;

/** Reads the text form of a one-dimensional array of Postgres; an unquoted NULL is no item. */
function readArrayText(text: string): readonly string[] | null {
  if (!text.endsWith('}')) return null;
  const inner = text.slice(1, -1);
  const items: string[] = [];
  if (inner.trim() === '') return items;
  for (let at = 0; ; ) {
    arrayItem.lastIndex = at;
    const found = arrayItem.exec(inner);
    if (found === null) return null;
    const [whole, quoted, plain = ''] = found;
    if (quoted !== undefined) items.push(quoted.replace(/\\(.)/gs, '$1'));
    // {"a": 1} is an object.
    else if (plain.includes(':')) return null;
    else if (!/^(?:null)?$/i.test(plain.trim())) items.push(plain.trim());
    if (found[3] === '') return items;
    at += whole.length;
  }
}

/** Signs that separate names, the brackets of lists, and words between two names of one party. */
const several = /[|;•､、；｜]|^\{.*\}$|^\[.*\]$|[\s(](?:aka|a\.k\.a\.?|a\/k\/a|fka|f\/k\/a)[\s:]/is;
/** What joins the names of several persons. Romance words for "and" belong to many names of one. */
const betweenPersons =
  /\s(?:[/+]|and|und|et|och|og|or|oder|oraz|lub|vel|alias|ja|ve|és|και|и|та)\s|(?<=\p{L}{2})\/(?=\p{L}{2})/iu;

/**
 * Whether a cell that should hold one name holds several. A comma or slash belongs to many names of one: only whole
 * names of persons beside each other count, as in `Ada Berg / Bo Li` and `Ada Berg, Bo Li, Cy Lund`, not `Berg, Ada` or
 * `Lund Berg, Ada Maria`.
 */
export function looksLikeNames(text: string, type: PartyType): boolean {
  if (several.test(text)) return true;
  if (type !== 'person') return false;
  // John & Mary Smith, but not Meyer & Son.
  if (text.split(/\s[&@]\s/).some((part, _, parts) => parts.length > 1 && isWholeName(part))) return true;
  return areWholeNames(text.split(betweenPersons), 2) || areWholeNames(text.split(/[,،，]/), 3);
}

/**
 * Whether a name in a column that may list parties is several. Beside what shows it in any name, whole names with a
 * Romance "and" between them do, and without a configured separator those with a comma as well.
 */
export function looksLikeParties(text: string, type: PartyType, separator: string | undefined): boolean {
  if (type === 'person' && areWholeNames(text.split(/\s(?:e|ed|i|y)\s/i), 2)) return true;
  if (separator !== undefined) return false;
  const parts = text.split(/[,،，]/);
  return areWholeNames(parts, 2) || areFirms(parts);
}

/**
 * The separator that splits most cells of a column of parties; null when the default does, or none. A comma is one only
 * where most names have none: `Lund Berg, Ada Maria` is one person.
 */
export function guessPartySeparator(cells: readonly string[]): string | null {
  const counts = [' / ', '/', ',', ' + ', ' & '].map((separator) => ({
    separator,
    count: cells.filter((cell) => areWholeNames(cell.split(separator), 2)).length,
  }));
  const [best] = counts.toSorted((one, other) => other.count - one.count);
  if (best === undefined || best.count === 0 || cells.some((cell) => /[;|]/.test(cell))) return null;
  const others = cells.filter((cell) => !cell.includes(',') && isWholeName(cell)).length;
  return best.separator !== ',' || others >= best.count ? best.separator : null;
}

const areWholeNames = (parts: readonly string[], least: number): boolean =>
  parts.length >= least && parts.every(isWholeName);

/** Whether a text has two words or more, and neither the first nor the last is a particle such as `von`. */
function isWholeName(text: string): boolean {
  const words = text.split(/\s/).filter((word) => /\p{L}/u.test(word));
  return words.length > 1 && [words[0], words.at(-1)].every((word = '') => !/^\p{Ll}/u.test(word));
}

/** Legal forms in lower case and without dots. */
const legalForms = listWords(words.legalForms);

/** Further ones at the end of a name; most are no words by themselves. */
const endingForms = [...listWords(words.endingForms), ...legalForms].join('|');

const openingForms = listWords(words.openingForms).join('|');

const company = new RegExp(
  `(^|\\s)(${endingForms}|a/s|i/s|k/s|as|sp z ?o ?o|sp zoo|sp [jk]|a ş|aş|ltd şti|co|בע"מ)$|^(${openingForms}|công ty|cong ty)\\s|&\\s*co(\\s|$)|公司$|株式会社|有限会社|주식회사|\\s(شمم|ذمم)$`,
  'u',
);

/** Surnames that are written like a legal form without its dots and capitals. */
const surnames = /\s(?:Ek|EK|Sa|Se|As|Eg|Ev|Ag)$/;

/** Whether a name has a legal form, such as `Ltd` or `ООО`. */
export const isCompanyName = (name: string): boolean =>
  /\s|公司|会社|회사/.test(name) && !surnames.test(name) && company.test(name.toLowerCase().replace(/[.,]/g, ''));

/** Legal forms that may stand alone between commas; without their blanks. */
const partForms = new Set([...legalForms, ...listWords(words.partForms)]);
const suffix =
  /^(?:jr|sr|junior|senior|[ivx]{1,4}|phd|md|mba|esq|dr|prof|dds|cpa|msc|bsc|ma|ba|dipling|der jüngere|the elder|the younger)$/;
const foldForm = (word: string): string => word.toLowerCase().replace(/[.\s]/g, '');
const isForm = (part: string): boolean =>
  part
    .trim()
    .split(/\s+/)
    .every((word) => partForms.has(foldForm(word)));
const endsInForm = (part: string): boolean => partForms.has(foldForm(part.trim().split(/\s+/).at(-1) ?? ''));

/**
 * Whether a cell of aliases that no configured separator splits holds several names. `Berg, Ada` is one name, and so
 * are `Smith & Sons, Inc.`, `A/S`, `Raju A/L Samy` and `Müller / Meier GbR`.
 */
export function looksLikeAliases(text: string, type: PartyType): boolean {
  if (looksLikeNames(text, type) || /[\n\r]/.test(text)) return true;
  if (type === 'entity') return areFirms(text.split(/,|\//));
  if (/\p{L}{2}[.)]?\s*\/\s*\p{L}{2}/u.test(text)) return true;
  const [first = '', ...others] = text.split(',').map((part) => part.trim());
  const names = others.filter((part) => part !== '' && !suffix.test(foldForm(part)));
  return (
    names.length > 1 ||
    (names.length === 1 &&
      /\s/.test(first) &&
      !/^(?:al|da|de|del|den|der|di|dos|du|el|la|le|mac|st|san|ten|van|von|zu)\s/i.test(first))
  );
}

/** Whether the parts of a text are names of several firms: one before the last ends in a legal form. */
function areFirms(parts: readonly string[]): boolean {
  const names = parts.map((part) => part.trim()).filter((part) => part !== '' && !isForm(part));
  return names.length > 1 && names.slice(0, -1).some(endsInForm);
}

const separators = ['\n', '|', ' aka ', ' / ', '/', ','];

/** The separator that splits most cells of a column of aliases; null when the default does, or none. */
export function guessAliasSeparator(cells: readonly string[]): string | null {
  const splits = (separator: string): number =>
    cells.filter((cell) => cell.includes(separator) && readListText(cell) === null && looksLikeAliases(cell, 'person'))
      .length;
  const counts = separators.map((separator) => ({ separator, count: splits(separator) }));
  const [best] = counts.toSorted((one, other) => other.count - one.count);
  return best === undefined || best.count <= splits(';') ? null : best.separator;
}
