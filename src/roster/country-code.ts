import { createRequire } from 'node:module';
// The package's main entry loads the names of every language; only English is read here.
import countries from 'i18n-iso-countries/index.js';

const require = createRequire(import.meta.url);

/** Names in daily use that the ISO list of English names lacks, each with its alpha-2 code. */
const shortForms: Readonly<Record<string, string>> = {
  england: 'gb',
  scotland: 'gb',
  wales: 'gb',
  'northern ireland': 'gb',
  britain: 'gb',
  'u k': 'gb',
  syria: 'sy',
  burma: 'mm',
  swaziland: 'sz',
  macau: 'mo',
  'dr congo': 'cd',
  drc: 'cd',
  'congo kinshasa': 'cd',
  'democratic republic of congo': 'cd',
  'congo brazzaville': 'cg',
  congo: 'cg',
  'east timor': 'tl',
  laos: 'la',
  moldova: 'md',
  brunei: 'bn',
  micronesia: 'fm',
  vatican: 'va',
  'vatican city': 'va',
  holland: 'nl',
  macedonia: 'mk',
  'bolivarian republic of venezuela': 've',
  'democratic peoples republic of korea': 'kp',
  dprk: 'kp',
  prc: 'cn',
  'plurinational state of bolivia': 'bo',
  'palestinian territory': 'ps',
  'palestinian territories': 'ps',
  bosnia: 'ba',
  'viet nam': 'vn',
  'cabo verde': 'cv',
  'holy see': 'va',
  'hong kong sar': 'hk',
  'macao sar': 'mo',
  'slovak republic': 'sk',
  'kyrgyz republic': 'kg',
  'republic of ireland': 'ie',
  'republic of kosovo': 'xk',
  'us virgin islands': 'vi',
};

const codes = collectCodes();

/** Gives the lower-case ISO 3166-1 alpha-2 code of a country written as alpha-2, alpha-3 or English name; null when it is none. */
export function toCountryCode(text: string): string | null {
  const plain = codes.get(text.trim().toLowerCase());
  if (plain !== undefined) return plain;
  const folded = foldCountry(text);
  // Without its accents a name is no code: Belgium is B\u1ec9 in Vietnamese, and BI is Burundi.
  if (/^[a-z]{2,3}$/.test(folded)) return null;
  return codes.get(folded) ?? codes.get(foldCountry(turnRound(text))) ?? null;
}

function collectCodes(): ReadonlyMap<string, string> {
  countries.registerLocale(require('i18n-iso-countries/langs/en.json'));
  const found = new Map<string, string>();
  const names = countries.getNames('en', { select: 'all' });
  for (const [alpha2, all] of Object.entries(names)) {
    for (const name of [...all.map(turnRound), ...all]) found.set(foldCountry(name), alpha2.toLowerCase());
  }
  for (const [name, alpha2] of Object.entries(shortForms)) found.set(foldCountry(name), alpha2);
  for (const [alpha2, alpha3] of [...Object.entries(countries.getAlpha2Codes()), ['XK', 'XKX'] as const]) {
    found.set(alpha2.toLowerCase(), alpha2.toLowerCase());
    found.set(alpha3.toLowerCase(), alpha2.toLowerCase());
  }
  return found;
}

/** Gives "Islamic Republic of Iran" for "Iran, Islamic Republic of" and "Iran (Islamic Republic of)". */
function turnRound(name: string): string {
  return name.replace(/^\s*(.+?)\s*[,(]\s*(.+?)\s*\)?\s*$/, '$2 $1');
}

/** Spells the name of a country so that case, accents, punctuation and articles make no difference; vowel signs of Indic scripts stay. */
export function foldCountry(text: string): string {
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
