import { listWords } from '../vocabulary/words.js';
import type { ColumnSettings, PartyColumnSettings } from './settings.js';
/** Common headers in some forty languages by the fact that they name, and words within them. The order of words does not matter. */
import words from './words/headers.json' with { type: 'json' };

type ColumnRole = keyof typeof words.roles;

/** Abbreviations and what they mean. */
const spellings: ReadonlyMap<string, string> = new Map(
  listWords(words.spellings).map((pair) => {
    const [short = '', long = ''] = pair.split(':');
    return [short, long.replace('_', ' ')];
  }),
);

/** Articles and prepositions; a header means the same without them. */
const joints = new Set(listWords(words.joints));

/** The words of phrases that may be written without blanks, such as DATEOFBIRTH. */
const glued = new Map<string, readonly string[]>();

const roles: ReadonlyMap<string, ColumnRole> = new Map(
  Object.entries(words.roles).flatMap(([role, rows]) =>
    isRole(role) ? listWords(rows).map((phrase) => [toKey(toTokens(phrase)), role] as const) : [],
  ),
);

for (const phrase of Object.values(words.roles).flatMap(listWords)) {
  const folded = foldHeader(phrase);
  if (folded.includes(' ')) glued.set(folded.replaceAll(' ', ''), toTokens(phrase));
}

function isRole(role: string): role is ColumnRole {
  return Object.hasOwn(words.roles, role);
}

/** Gives the fact that a header names; null when it names none. */
export const readHeaderRole = (header: string): ColumnRole | null => readTokens(toTokens(header));

const readTokens = (tokens: readonly string[]): ColumnRole | null => roles.get(toKey(tokens)) ?? null;

function toKey(tokens: readonly string[]): string {
  return [...tokens].sort().join(' ');
}

/** The folded words of a header without abbreviations. */
function toTokens(header: string): readonly string[] {
  const folded = foldHeader(header);
  const known = glued.get(folded);
  if (known !== undefined) return known;
  const tokens = folded.split(' ').flatMap((token) => (spellings.get(token) ?? token).split(' '));
  const significant = tokens.filter((token) => !joints.has(token));
  return significant.length > 0 ? significant : tokens;
}

/** `Kunde-Nr.`, `kunde_nr` and `KundeNr` fold to one header, as do `Geschäft` and `Geschaeft`. */
export function foldHeader(header: string): string {
  return header
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{L})(\p{Nd})/gu, '$1 $2')
    .toLowerCase()
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'a')
    .replace(/ß/g, 'ss')
    .replace(/ł/g, 'l')
    .replace(/ı/g, 'i')
    .replace(/đ/g, 'd')
    .replace(/[º°]/g, 'o ')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/ς/g, 'σ')
    .replace(/([aou])e/g, '$1')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** The headers of a roster that need no mapping. */
export const standardHeaders = {
  id: 'customer_id',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
  riskTier: 'risk_tier',
} as const;

/** The headers of a source of related parties that need no mapping. */
export const standardPartyHeaders = {
  customerId: 'customer_id',
  role: 'role',
  name: 'name',
  type: 'type',
  birthDate: 'birth_date',
  countries: 'countries',
} as const;

/** Gives the predicate whether a mapping reads a header. */
export function createIsMapped(
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const { realNames: _, ...headers } = columns;
  const parties = 'parties' in columns ? columns.parties : [];
  const related = parties?.flatMap(({ separator: _, ...facts }) => Object.values(facts)) ?? [];
  const settings: unknown[] = [...Object.values({ ...standard, ...headers }), ...related];
  const names = new Set(settings.flatMap(listNames).map((name) => name.normalize('NFC')));
  return (header) => names.has(header.trim().normalize('NFC'));
}

function listNames(setting: unknown): readonly string[] {
  if (setting === 'all') return [];
  if (typeof setting === 'string') return [setting];
  if (Array.isArray(setting)) return setting.flatMap(listNames);
  if (typeof setting !== 'object' || setting === null) return [];
  if ('columns' in setting) return listNames(setting.columns);
  return 'column' in setting ? listNames(setting.column) : [];
}

/** The facts that a source may omit, and the consequence. A differently spelt header would lose one silently. */
const facts = [
  { key: 'type', role: 'type', otherwise: 'every party counts as a person' },
  { key: 'birthDate', role: 'birth_date', otherwise: 'no birth date is known' },
  { key: 'countries', role: 'countries', otherwise: 'no country is known' },
  { key: 'riskTier', role: 'risk_tier', otherwise: 'every customer counts as high risk' },
] as const satisfies readonly { key: string; role: ColumnRole; otherwise: string }[];

function listUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (typeof facts)[number][] {
  const settings: Readonly<Record<string, unknown>> = columns;
  const given = new Set(headers.map((header) => header.normalize('NFC')));
  return facts.filter(({ key }) => {
    const header = standard[key];
    return header !== undefined && settings[key] === undefined && !given.has(header);
  });
}

/**
 * Gives the predicate whether a new or missing column matters: the mapping reads it, or its header names an unmapped
 * fact. `headers` are the current ones.
 */
export function createIsRead(
  headers: readonly string[],
  { ignore = [], ...columns }: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  const isMapped = createIsMapped(columns, standard);
  const roles = new Set<ColumnRole | null>(listUnmapped(headers, columns, standard).map(({ role }) => role));
  const ignored = new Set(ignore.map((header) => header.normalize('NFC')));
  return (header) => !ignored.has(header) && (isMapped(header) || roles.has(readHeaderRole(header)));
}

/**
 * Describes the headers that name an unmapped fact, with the setting to write. Headers in any setting, also in
 * `attributes` or `ignore`, are excluded.
 */
export function describeUnmapped(
  headers: readonly string[],
  columns: ColumnSettings | PartyColumnSettings,
  standard: Readonly<Record<string, string>>,
): readonly string[] {
  const isMapped = createIsMapped(columns, standard);
  return listUnmapped(headers, columns, standard).flatMap(({ key, role, otherwise }) => {
    const found = headers.filter((one) => !isMapped(one) && readHeaderRole(one) === role);
    const [first] = found;
    if (first === undefined) return [];
    const quoted = found.map((one) => JSON.stringify(one));
    const all = `[${quoted.join(', ')}]`;
    const value = key === 'countries' && found.length > 1 ? all : quoted[0];
    const where = 'customerId' in standard ? 'this source of related parties' : 'this roster';
    const reads = found.length === 1 ? `column ${quoted[0]} reads` : `columns ${quoted.join(', ')} read`;
    return [
      `${reads} like ${key}, but no column is mapped for it, so ${otherwise}: write ${key}: ${value} under columns of ${where}, or ignore: ${all} if ${found.length === 1 ? 'it is' : 'they are'} something else`,
    ];
  });
}

/** A column of the source by its position, with its header for messages. */
export interface BoundColumn {
  header: string;
  index: number;
}

/** Headers in NFC; a blank one is named by its position, because several would otherwise be one. */
export const nameHeaders = (headers: readonly string[]): readonly string[] =>
  headers.map((header, index) => header.trim().normalize('NFC') || `column ${index + 1}`);

/** Words for the customer: the rest of such a header is about the customer. */
const ownWords = toFolded(words.ownWords);

/** Final words that do not change the meaning of a header. */
const endings = new Set(listWords(words.endings));

/** Words for another person or thing: a header with one of them is not about the customer. */
const otherWords = toFolded(words.otherWords);

const otherDays = toFolded(words.otherDays);

const birthWords = toFolded(words.birthWords);
const countryWords = toFolded(words.countryWords);
const idWords = toFolded(words.idWords);

/** Things whose numbers are not the customer's id. */
const things = toFolded(words.things);

/** Possible headers of the customer's id; the second list applies only when nothing better exists. */
const plain = toKeys(words.plainIds);
const weak = toKeys(words.weakIds);

/** Reads a header, also one with a prefix or with more words than needed, such as `c_dob` or `Insured Country Code`. */
export function readHeader(header: string) {
  const tokens = toTokens(header);
  const found = findRole(header, tokens);
  return {
    role: found?.role ?? null,
    /** 3: an exact header; 2: with omitted words, or one of several possible ids; 1: a last resort; 0: unknown. */
    strength: found?.strength ?? 0,
    isOther: found === null && tokens.some((token) => otherWords.has(token)),
    isOtherDay: tokens.some(
      (token) => otherDays.has(token) || otherDays.has(token.replace(/(datum|dato|date|tarihi)$/, '')),
    ),
    /** Whether it ends like an id, even of another person: agents may be the customers. */
    endsLikeId: idWords.has(tokens.at(-1) ?? ''),
    isOfThings: tokens.some(
      (token) => things.has(token) || [...things].some((thing) => thing.length > 3 && token.startsWith(thing)),
    ),
  };
}

function findRole(header: string, tokens: readonly string[]) {
  const key = toKey(tokens);
  const exact = readTokens(tokens);
  if (exact !== null) return { role: exact, strength: weak.has(key) ? 1 : plain.has(key) ? 2 : 3 };
  if (tokens.some((token) => otherWords.has(token))) return null;
  const both = readBothNames(tokens);
  if (both !== null) return { role: both, strength: 2 };
  for (const rest of [...dropOwnWords(tokens), ...splitCompound(header)]) {
    const role = readTokens(rest) ?? readTokens(dropEndings(rest));
    if (role === null) continue;
    return { role, strength: role === 'id' ? 3 : weak.has(toKey(rest)) ? 1 : 2 };
  }
  const role = readKeyWord(tokens);
  return role === null ? null : { role, strength: 1 };
}

/** Reads the end or one word of a longer header, as a last resort. */
function readKeyWord(tokens: readonly string[]): ColumnRole | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const role = readTokens(tokens.slice(at));
    const isPart = role === 'first_name' || role === 'middle_name' || role === 'last_name' || role === 'birth_date';
    if (isPart && tokens.length - at > 1) return role;
  }
  const has = (list: ReadonlySet<string>): boolean => tokens.some((token) => list.has(token));
  if (tokens.length > 1 && readTokens(tokens.slice(-1)) === 'name' && !has(things)) return 'name';
  if (has(birthWords) && !tokens.some((token) => token === 'name' || countryWords.has(token))) return 'birth_date';
  if (has(countryWords)) return 'countries';
  const isId = idWords.has(tokens.at(-1) ?? '') || idWords.has(tokens[0] ?? '');
  return isId && tokens.length > 1 && !has(things) ? 'id' : null;
}

/** A column for the names of persons and companies, such as `Nom / Raison sociale`. */
function readBothNames(tokens: readonly string[]): ColumnRole | null {
  for (let at = 1; at < tokens.length; at += 1) {
    const [one, other] = [readTokens(tokens.slice(0, at)), readTokens(tokens.slice(at))];
    const pair = [one, other];
    if (
      pair.includes('company') &&
      pair.some((role) => role === 'name' || role === 'last_name' || role === 'first_name')
    ) {
      return pair.includes('first_name') ? 'name' : 'last_name';
    }
  }
  return null;
}

function dropOwnWords(tokens: readonly string[]): (readonly string[])[] {
  const rests = [tokens];
  for (let rest = tokens; rest.length > 1 && ownWords.has(rest[0] ?? ''); ) {
    rest = rest.slice(1);
    rests.push(rest);
  }
  if (tokens.length > 1 && ownWords.has(tokens.at(-1) ?? '')) rests.push(tokens.slice(0, -1));
  return rests;
}

function dropEndings(tokens: readonly string[]): readonly string[] {
  let end = tokens.length;
  while (end > 1 && endings.has(tokens[end - 1] ?? '')) end -= 1;
  return tokens.slice(0, end);
}

/** Splits compounds such as `CUSTNAME` and `Partnernummer`. */
function splitCompound(header: string): (readonly string[])[] {
  const [first = '', ...others] = foldHeader(header).split(' ');
  return [...ownWords, 'cust', 'cli', 'clnt', 'kunden', 'kd', 'acct', 'mbr']
    .filter((own) => own.length > (/[a-z]/.test(own) ? 2 : 1) && first.startsWith(own) && first.length > own.length + 1)
    .map((own) => toTokens([first.slice(own.length), ...others].join(' ')));
}

function toKeys(rows: readonly string[]): ReadonlySet<string> {
  return new Set(listWords(rows).map((phrase) => toKey(toTokens(phrase))));
}

function toFolded(rows: readonly string[]): ReadonlySet<string> {
  return new Set(listWords(rows).map(foldHeader));
}
