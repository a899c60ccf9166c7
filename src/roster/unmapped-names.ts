import { listWords } from '../vocabulary/words.js';
import { readCountry } from './country.js';
import { createIsMapped } from './headers.js';
import { isCompanyName } from './name-lists.js';
import { type RelatedHeader, type RelatedKind, readRelatedHeader } from './related-headers.js';
import { saysNobody, splitParties } from './row-parties.js';
import type { ColumnSettings, PartyColumnSettings } from './settings.js';
import words from './words/names.json' with { type: 'json' };

/** A column that looks like names of people or firms, and that no setting reads or ignores. */
export interface UnmappedNames extends Pick<RelatedHeader, 'kind' | 'fact' | 'party'> {
  header: string;
  /** Whether the header itself names people or firms beside the customer, not only the values. */
  isNamed: boolean;
}

interface OpenColumn {
  header: string;
  index: number;
  meaning: RelatedHeader;
  samples: Map<string, number>;
  sampled: number;
  /** Samples whose words are all in the name of their own row. */
  ownNames: number;
}

/** So many values of a column are judged. */
const mostSamples = 400;

/** Collects values of the columns that no setting reads, and finds those that look like names of people or firms. */
export class UnmappedNameTally {
  readonly #open: readonly OpenColumn[];
  #sampling: readonly OpenColumn[];
  readonly #names: readonly number[];

  /** `standard` are the headers that need no mapping. */
  constructor(
    headers: readonly string[],
    columns: ColumnSettings | PartyColumnSettings,
    standard: Readonly<Record<string, string>>,
  ) {
    // A column that is kept as an attribute is not searched for.
    const isRead = createIsMapped({ ...columns, attributes: undefined }, standard);
    const { name, aliases } = { aliases: undefined, ...columns };
    const isName = createIsMapped({ name: name ?? standard['name'], aliases }, {});
    this.#names = headers.flatMap((header, index) => (isName(header) ? [index] : []));
    this.#open = headers.flatMap((header, index) => {
      const meaning = readRelatedHeader(header);
      if (isRead(header) || meaning.says === 'things') return [];
      return [{ header, index, meaning, samples: new Map(), sampled: 0, ownNames: 0 }];
    });
    this.#sampling = this.#open;
  }

  add(fields: readonly string[]): void {
    let ownWords: readonly string[] | null = null;
    for (const column of this.#sampling) {
      const given = fields[column.index] ?? '';
      if (given === '') continue;
      const text = given.trim();
      if (saysNobody(text)) continue;
      ownWords ??= this.#names.flatMap((index) => splitWords(fields[index] ?? ''));
      const isOwn = isOwnName(splitWords(text), ownWords);
      // Who holds an account alone is often repeated among its holders.
      if (isOwn && column.meaning.says === 'related') continue;
      if (isOwn) column.ownNames += 1;
      column.samples.set(text, (column.samples.get(text) ?? 0) + 1);
      column.sampled += 1;
      if (column.sampled === mostSamples)
        this.#sampling = this.#sampling.filter(({ sampled }) => sampled < mostSamples);
    }
  }

  list(): readonly UnmappedNames[] {
    return this.#open.filter(holdsNames).map(({ header, meaning: { says, kind, fact, party } }) => {
      const isNamed = says === 'related';
      return { header, kind, fact, party, isNamed };
    });
  }
}

/** Whether a name has only words, or beginnings of words, of the row's own name, such as `LEE, ANN` and `A. Lee`. */
const isOwnName = (words: readonly string[], own: readonly string[]): boolean =>
  words.some((word) => word.length > 1) && words.every((word) => own.some((each) => each.startsWith(word)));

const splitWords = (text: string): readonly string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** From this share on, the values are the customer's own name in another form. */
const mostlyOwn = 0.9;
/** The shares of values that look like names: where the header says so, says half of it, or nothing. */
const shares = { name: 0.5, unknown: 0.5, open: 0.8 };
/** Names hardly repeat; products, cities and occupations do. */
const leastDistinct = 0.5;
const fewWords = 6;

function holdsNames({ meaning, samples, sampled, ownNames }: OpenColumn): boolean {
  if (sampled === 0 || ownNames >= mostlyOwn * sampled) return false;
  const count = (isMeant: (text: string) => boolean): number => {
    let sum = 0;
    for (const [text, rows] of samples) if (isMeant(text)) sum += rows;
    return sum / sampled;
  };
  const { says, fact } = meaning;
  if (says === 'open') {
    const isVaried = samples.size > 1 && samples.size >= leastDistinct * sampled;
    return isVaried && count(looksLikeName) >= shares.open && count(isCountry) < shares.open;
  }
  if (fact === 'unknown') return count(looksLikeName) >= shares.unknown;
  // A few single words in many rows are a code list, such as yes and no.
  const isPart = fact === 'first_name' || fact === 'last_name';
  const isCodeList = samples.size <= fewWords && sampled > 3 * samples.size && count(hasSeveralWords) < shares.name;
  return count(mayBeName) >= shares.name && (isPart || !isCodeList);
}

const isCountry = (text: string): boolean => !('why' in readCountry(text, null));

const answers = new Set([...listWords(words.no), ...listWords(words.answers)]);

const otherForms = /[@_\\<>{}=]|:\/\/|\d{4}|^\p{N}/u;

/** Whether a text may be a name under a header for names: more than an answer, number, date, code or address. */
function mayBeName(text: string): boolean {
  const [first = text] = splitParties(text);
  const parts = first.split(/\s/).filter((word) => !/[\p{N}@]|:\/\//u.test(word));
  const bare = parts.join(' ').trim();
  return /\p{L}\P{N}*\p{L}|^\p{Lo}/u.test(bare) && !/[_\\<>{}=]/.test(bare) && !answers.has(bare.toLowerCase());
}

const caseless = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const withoutCase = /^[\p{Lo}\p{Script=Georgian}\p{M}\s.,'’\-־·・]+$/u;
/** Frequent family names, the first sign of a name in China and Korea. */
const familySigns =
  '王李張张刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋付方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴김이박최정강조윤장임한오서신권황안송류전홍';
const japanese =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{1,4}[\s\u3000][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{1,6}$/u;

/** Lower-case words within names. */
const particles = new Set(listWords(words.particles));

/** Words of products, occupations, places and remarks, in lower case. */
const noNames = new Set(listWords(words.noNames));

const casedWord = /^(?:\p{Lu}[\p{L}\p{M}'’ʼ.-]*|\p{Lu}\.)$/u;
const mostNameLength = 120;

/** Whether a text looks like the name of a person or firm, whatever its header says. */
function looksLikeName(text: string): boolean {
  const [first = text] = splitParties(text);
  if (first.length > mostNameLength || otherForms.test(first) || answers.has(first.toLowerCase())) return false;
  if (isCompanyName(first)) return true;
  if (/\p{N}/u.test(first)) return false;
  if (caseless.test(first)) {
    return japanese.test(first) || (/^[\p{Lo}·]{2,4}$/u.test(first) && familySigns.includes(first.charAt(0)));
  }
  const main = first.split(/[\s,]+/).filter((word) => word !== '' && !particles.has(word));
  if (main.length < 2 || main.length > 5) return false;
  if (withoutCase.test(first)) return true;
  return main.every((word) => casedWord.test(word) && !noNames.has(word.toLowerCase()));
}

/** Whether a text has several words, or signs of a script that does not divide words. */
const hasSeveralWords = (text: string): boolean => /\p{L}[^\p{L}]+\p{L}/u.test(text) || caseless.test(text);

/** An entry of `columns.parties` for the columns of one party, in the form of the configuration. */
export interface ProposedParty {
  name: string | readonly string[];
  role: { value: Exclude<RelatedKind, 'alias'> };
  birthDate?: string | { column: string; format: string };
  countries?: string;
  separator?: string;
}

/** Proposes settings for columns of names: first and last name, birth date and country form one party. */
export function proposeNames(found: readonly UnmappedNames[], headers: readonly string[]) {
  const parties = new Map<string, ProposedParty>();
  for (const { header, kind, fact, party } of found) {
    if (kind === 'alias') continue;
    const isPart = fact === 'first_name' || fact === 'last_name';
    const key = isPart ? `part ${party}` : `whole ${header}`;
    const known = parties.get(key);
    if (known === undefined) parties.set(key, { name: header, role: { value: kind }, ...findFacts(party, headers) });
    else parties.set(key, { ...known, name: [known.name, header].flat() });
  }
  const aliases = found.filter(({ kind }) => kind === 'alias').map(({ header }) => header);
  return { parties: [...parties.values()], aliases };
}

function findFacts(party: string, headers: readonly string[]): Pick<ProposedParty, 'birthDate' | 'countries'> {
  if (party === '') return {};
  const beside = headers
    .map((header) => ({ header, meaning: readRelatedHeader(header) }))
    .filter(({ meaning }) => meaning.party === party);
  const birthDate = beside.find(({ meaning }) => meaning.fact === 'birth_date')?.header;
  const countries = beside.find(({ meaning }) => meaning.fact === 'countries')?.header;
  return { ...(birthDate !== undefined && { birthDate }), ...(countries !== undefined && { countries }) };
}

const quote = (header: string): string => JSON.stringify(header);

/** Describes columns that look like names, with the settings to write. */
export function describeUnmappedNames(
  found: readonly UnmappedNames[],
  headers: readonly string[],
  where: 'roster' | 'parties',
): readonly string[] {
  if (found.length === 0) return [];
  const quoted = found.map(({ header }) => quote(header));
  const isOne = found.length === 1;
  const columns = isOne
    ? `column ${quoted.join('')} looks like names of people or firms, and no setting reads it. Nobody in it is searched for`
    : `columns ${quoted.join(', ')} look like names of people or firms, and no setting reads them. Nobody in them is searched for`;
  const ignore = `ignore: [${quoted.join(', ')}] for names that are not to be searched for`;
  const lines =
    where === 'roster'
      ? `write ${toLines(proposeNames(found, headers)).join(' and ')} under columns of this roster`
      : 'write a further source under parties: of the roster with this column as its name';
  return [`${columns}: ${lines}, or ${ignore}`];
}

/** The settings for columns of names in YAML, a line each. */
function toLines({ parties, aliases }: ReturnType<typeof proposeNames>): readonly string[] {
  return [
    ...(parties.length === 0 ? [] : [`parties: [${parties.map(toEntry).join(', ')}]`]),
    ...(aliases.length === 0 ? [] : [`aliases: [${aliases.map(quote).join(', ')}]`]),
  ];
}

const toDateEntry = (date: NonNullable<ProposedParty['birthDate']>): string =>
  typeof date === 'string' ? quote(date) : `{ column: ${quote(date.column)}, format: ${quote(date.format)} }`;

/** An entry of `columns.parties` in YAML on one line. */
export function toEntry({ name, role, birthDate, countries, separator }: ProposedParty): string {
  const facts = [
    `name: ${typeof name === 'string' ? quote(name) : `[${name.map(quote).join(', ')}]`}`,
    `role: { value: ${role.value} }`,
    ...(birthDate === undefined ? [] : [`birthDate: ${toDateEntry(birthDate)}`]),
    ...(countries === undefined ? [] : [`countries: ${quote(countries)}`]),
    ...(separator === undefined ? [] : [`separator: ${quote(separator)}`]),
  ];
  return `{ ${facts.join(', ')} }`;
}
