import { createRequire } from 'node:module';
import countries from 'i18n-iso-countries/index.js';
import { listWords } from '../vocabulary/words.js';
import type { DoubtReason } from '../vocabulary.js';
import { saysUnknown } from './doubts.js';
import words from './words/countries.json' with { type: 'json' };

// The package's main entry loads the names of every language; here only English is loaded.

const require = createRequire(import.meta.url);

/** The words of a table by their country. */
const listByCountry = (table: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(table).flatMap(([code, rows]) => listWords(rows).map((word) => [word, code] as const));

/** Common English names that the ISO list lacks, each with its alpha-2 code. */
const shortForms = listByCountry(words.shortForms);

const codes = collectCodes();

/** Gives the lower-case alpha-2 code of an ISO 3166-1 code or an English name; null for any other text. */
export function toCountryCode(text: string): string | null {
  const plain = codes.get(text.trim().toLowerCase());
  if (plain !== undefined) return plain;
  const folded = foldCountry(text);
  // A name that looks like a code after folding is not a code: Belgium is B\u1ec9 in Vietnamese, and BI is Burundi.
  if (/^[a-z]{2,3}$/.test(folded)) return null;
  return codes.get(folded) ?? codes.get(foldCountry(reverseName(text))) ?? null;
}

function collectCodes(): ReadonlyMap<string, string> {
  countries.registerLocale(require('i18n-iso-countries/langs/en.json'));
  const found = new Map<string, string>();
  const names = countries.getNames('en', { select: 'all' });
  for (const [alpha2, all] of Object.entries(names)) {
    for (const name of [...all.map(reverseName), ...all]) found.set(foldCountry(name), alpha2.toLowerCase());
  }
  for (const [name, alpha2] of shortForms) found.set(foldCountry(name), alpha2);
  for (const [alpha2, alpha3] of [...Object.entries(countries.getAlpha2Codes()), ['XK', 'XKX'] as const]) {
    found.set(alpha2.toLowerCase(), alpha2.toLowerCase());
    found.set(alpha3.toLowerCase(), alpha2.toLowerCase());
  }
  return found;
}

/** Gives "Islamic Republic of Iran" for "Iran, Islamic Republic of" and "Iran (Islamic Republic of)". */
function reverseName(name: string): string {
  const text = name.trim();
  const at = text.slice(1).search(/[,(]/) + 1;
  const behind = text.slice(at + 1).trim();
  const first = behind.length > 1 && behind.endsWith(')') ? behind.slice(0, -1).trimEnd() : behind;
  return at === 0 || first === '' ? name : `${first} ${text.slice(0, at).trimEnd()}`;
}

/** Folds the name of a country: no case, accents, punctuation and articles; Indic vowel signs are kept. */
function foldCountry(text: string): string {
  const bare = text
    .normalize('NFKD')
    .replace(/\p{Script=Inherited}/gu, '')
    .toLowerCase()
    .replace(/&/g, ' and ');
  return bare
    .replace(/['’`]/g, '')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^the /, '')
    .replace(/^st /, 'saint ');
}

/** The country codes of a text, or why it names no country. */
type ReadCountry = { codes: readonly string[] } | { why: DoubtReason };

/**
 * Reads an ISO code of two or three letters (four for former countries), a name in any known language, or the English
 * adjective of a nationality. Names of `language` come first. Without a language, a name that languages read
 * differently is ambiguous.
 */
export function readCountry(text: string, language: string | null): ReadCountry {
  const given = text.trim();
  if (/^[A-Za-z]{2,3}$/.test(given)) {
    const code = toCountryCode(given);
    const isWord = code !== null && /^[A-Z][a-z]+$/.test(given);
    if (code !== null) return isWord ? readWord(given, code, language) : { codes: [code] };
  }
  const folded = foldCountry(given);
  if (stateless.has(folded)) return { why: 'stateless' };
  if (saysUnknown(given) || folded === '' || folded === 'xx' || folded === 'zz') return { why: 'says_unknown' };
  const inLanguage = language === null ? undefined : readNames(language).get(folded);
  if (inLanguage !== undefined) return toCountry(inLanguage);
  if (sharedNames.has(folded)) return { why: 'ambiguous_country' };
  const code = toCountryCode(given);
  if (code !== null) return { codes: [code] };
  const former = formerCountries.get(folded);
  if (former !== undefined) return { codes: former };
  const nationality = readNationality(folded);
  if (nationality !== null) return nationality;
  const found = readAllNames().get(folded) ?? readFurtherNames().get(folded);
  return found === undefined ? { why: 'unknown_country' } : toCountry(found);
}

const toCountry = (found: string): ReadCountry =>
  found === 'ambiguous' ? { why: 'ambiguous_country' } : { codes: [found] };

/** A code written like a word may be a name: Russia is Nga in Vietnamese, and NGA is Nigeria. */
function readWord(given: string, code: string, language: string | null): ReadCountry {
  const names = language === null ? readAllNames() : readNames(language);
  const name = names.get(foldCountry(given)) ?? code;
  if (name === code) return { codes: [code] };
  return language === null ? { why: 'ambiguous_country' } : toCountry(name);
}

const sharedNames = new Set(['congo']);

/** The languages in which country names are read. */
export function listLanguages(): readonly string[] {
  const locales: readonly string[] = require('i18n-iso-countries/supportedLocales.json');
  return locales;
}

const stateless = new Set(listWords(words.stateless));

/** ISO 3166-3: former codes and names by the code of four letters. A country with one successor gets its code. */
const formerCountries: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...Object.keys(words.former).map((code) => [code, code] as const), ...listByCountry(words.former)].map(
    ([text, code]): [string, string[]] => [text, [toSuccessor(code)]],
  ),
  // Czechoslovakia, and Serbia and Montenegro after it.
  ['cs', ['cshh', 'csxx']],
  // Greece, as the European Union writes it.
  ['el', ['gr']],
]);

/** A country that changed its name or joined another one maps to its successor; a divided one does not. */
function toSuccessor(code: string): string {
  if (code === 'byaa') return 'by';
  return /(?:hh|xx|cs)$/.test(code) ? code : code.slice(2);
}

const sharedAdjectives = new Set(['korean', 'congolese', 'dominican', 'samoan', 'micronesian']);

const nationalities: ReadonlyMap<string, string> = new Map(listByCountry(words.adjectives));

function readNationality(folded: string): ReadCountry | null {
  const word = folded.replace(/ (?:national|nationality|citizen|subject)$/, '');
  if (sharedAdjectives.has(word)) return { why: 'ambiguous_country' };
  const code = nationalities.get(word);
  return code === undefined ? null : { codes: [code] };
}

const namesByLanguage = new Map<string, ReadonlyMap<string, string>>();
let allNames: ReadonlyMap<string, string> | undefined;

/** The names of all languages with their codes. Loaded only when nothing else reads a text: it takes 0.2 s. */
function readAllNames(): ReadonlyMap<string, string> {
  if (allNames !== undefined) return allNames;
  const all = new Map<string, string>();
  for (const language of listLanguages()) {
    for (const [name, code] of readNames(language))
      all.set(name, (all.get(name) ?? code) === code ? code : 'ambiguous');
  }
  allNames = all;
  return all;
}

function readNames(language: string): ReadonlyMap<string, string> {
  const known = namesByLanguage.get(language);
  if (known !== undefined) return known;
  const { countries }: { countries: Readonly<Record<string, string | readonly string[]>> } = require(
    `i18n-iso-countries/langs/${language}.json`,
  );
  const names = new Map<string, string>();
  for (const [alpha2, each] of Object.entries(countries)) {
    for (const name of [each].flat()) {
      const folded = foldCountry(name);
      const code = alpha2.toLowerCase();
      names.set(folded, (names.get(folded) ?? code) === code ? code : 'ambiguous');
    }
  }
  namesByLanguage.set(language, names);
  return names;
}

const furtherLanguages = ['fr', 'de', 'it', 'es', 'nl', 'pl', 'pt'] as const;

let furtherNames: ReadonlyMap<string, string> | undefined;

/** The names of CLDR and our own ones in some languages. They are read last, so they change no other reading. */
function readFurtherNames(): ReadonlyMap<string, string> {
  if (furtherNames !== undefined) return furtherNames;
  const found = new Map<string, string>();
  const add = (name: string, code: string): void => {
    const folded = foldCountry(name);
    found.set(folded, (found.get(folded) ?? code) === code ? code : 'ambiguous');
  };
  for (const language of furtherLanguages) {
    const display = new Intl.DisplayNames([language], { type: 'region' });
    for (const alpha2 of [...Object.keys(countries.getAlpha2Codes()), 'XK'])
      add(display.of(alpha2) ?? alpha2, alpha2.toLowerCase());
  }
  // Common and official names, most of which neither `i18n-iso-countries` nor CLDR has.
  for (const [name, code] of listByCountry(words.furtherForms)) add(name, code);
  furtherNames = found;
  return found;
}
