import { createRequire } from 'node:module';
import countries from 'i18n-iso-countries/index.js';
import {
  createSingleByteTable,
  csvEncodings,
  decodeSingleBytes,
  type EncodingLabel,
} from '../../src/roster/csv/encodings.js';
import { makeSeededRandom } from '../campaign/seeded-random.js';
import { type MadeName, namePools } from './name-pools.js';

const require = createRequire(import.meta.url);

/** One row of a made file as it is meant. */
export interface MeantRow {
  id: string;
  /** The words of the name, in any order. */
  name: string;
  type: 'person' | 'entity';
  birthDate: string | null;
  /** Of each country column that a person would map. */
  countries: readonly string[];
}

/** A file as a system would export it, and how somebody who knows it would read it. */
export interface MadeExport {
  title: string;
  bytes: Buffer;
  rows: readonly MeantRow[];
  /** Whether a column tells persons from entities, or all rows are of one type. */
  isTypeKnown: boolean;
  /** What the file is damaged by, which has to be a doubt. */
  damage: 'mojibake' | 'half' | null;
}

interface Made extends MadeName {
  row: number;
  isCompany: boolean;
  code: string;
  birth: readonly [number, number, number];
  nationality: string;
  residence: string;
}

interface Column {
  header: string;
  kind: string;
  argument: string;
}

type Random = () => number;

/**
 * Makes the file of one line `title :: options :: columns`, always the same for the same line. Options are a pool of names; persons,
 * companies or mixed; a delimiter; an encoding; noheader, rows=N. Columns are `header=kind:argument` between bars.
 */
export function makeExport(line: string): MadeExport {
  const [title = '', optionText = '', columnText = ''] = line.split(' :: ');
  const random = makeSeededRandom(
    [...line].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1e9, 7),
  );
  const options = optionText.split(' ');
  const has = (option: string): boolean => options.includes(option);
  const columns = columnText.split(' | ').map((text): Column => {
    const [header = '', rest = ''] = text.split('=');
    const [kind = '', ...argument] = rest.split(':');
    return { header, kind, argument: argument.join(':') };
  });
  const rowCount = Number(options.find((option) => option.startsWith('rows='))?.slice(5) ?? 120);
  const mix = has('companies') ? 1 : has('mixed') ? 0.35 : 0;
  const pool = options.find((option) => option in namePools) ?? 'en';
  const people = Array.from({ length: rowCount }, (_, row) => makePerson(row, pool, mix, random));
  const table = people.map((made) => columns.map(({ kind, argument }) => writeCell(kind, argument, made, random)));
  const delimiter = has('semi') ? ';' : has('tab') ? '\t' : has('bar') ? '|' : ',';
  const lines = (has('noheader') ? table : [columns.map(({ header }) => header), ...table]).map((cells) =>
    cells.map((cell) => quote(cell, delimiter, has('quoted'))).join(delimiter),
  );
  const isMeant = (kind: string): boolean => columns.some((column) => column.kind === kind);
  const idPlace = columns.findIndex(({ kind }) => kind === 'id');
  return {
    title,
    bytes: encode(lines, options),
    rows: people.map((made, row) => {
      const birth = columns.find(({ kind }) => kind === 'birth')?.argument;
      return {
        id: table[row]?.[idPlace] ?? '',
        name:
          table[row]
            ?.filter((_, at) => /^(first|middle|last|org|full|name[12]|lastfirst)$/.test(columns[at]?.kind ?? ''))
            .join(' ') ?? '',
        type: made.isCompany ? 'entity' : 'person',
        birthDate: birth === undefined || made.isCompany ? null : toMeantDate(made.birth, birth),
        countries: [...(isMeant('nat') ? [made.nationality] : []), ...(isMeant('res') ? [made.residence] : [])],
      };
    }),
    isTypeKnown: isMeant('type') || isMeant('salutation') || mix === 0 || mix === 1,
    damage: has('mojibake') ? 'mojibake' : has('half') ? 'half' : null,
  };
}

function makePerson(row: number, pool: string, mix: number, random: Random): Made {
  const names = namePools[pool] ?? namePools['en'];
  const pick = (list: readonly string[] = []): string => list[Math.floor(random() * list.length)] ?? '';
  const nationality = random() < 0.6 ? (names?.countries[0] ?? 'gb') : pick(names?.countries);
  const isCompany = random() < mix;
  return {
    row,
    isCompany,
    first: isCompany ? '' : pick(names?.first),
    middle: isCompany || random() < 0.6 ? '' : pick(names?.first),
    last: isCompany ? '' : pick(names?.last),
    org: isCompany ? `${pick(names?.last)} ${pick(names?.trades)} ${pick(names?.forms)}` : '',
    code: String(10_000 + row * 37 + Math.floor(random() * 30)),
    birth: [1935 + Math.floor(random() * 70), 1 + Math.floor(random() * 12), 1 + Math.floor(random() * 28)],
    nationality,
    residence: random() < 0.85 ? nationality : pick(names?.countries),
  };
}

const two = (number: number): string => String(number).padStart(2, '0');

function writeDate([year, month, day]: readonly [number, number, number], format: string): string {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
  const parts: Readonly<Record<string, string>> = {
    ...{ yyyy: String(year), yy: two(year % 100), MMM: months[month - 1] ?? '', MM: two(month), M: String(month) },
    ...{ dd: two(day), d: String(day) },
  };
  return format.replace(/yyyy|yy|MMM|MM|M|dd|d/g, (token) => parts[token] ?? token);
}

const toMeantDate = (birth: Made['birth'], format: string): string =>
  /d/.test(format) ? writeDate(birth, 'yyyy-MM-dd') : String(birth[0]);

const adjectives: Readonly<Record<string, string>> = {
  ...{
    gb: 'British',
    de: 'German',
    fr: 'French',
    dk: 'Danish',
    us: 'American',
    it: 'Italian',
    es: 'Spanish',
    se: 'Swedish',
  },
  ...{
    pl: 'Polish',
    tr: 'Turkish',
    at: 'Austrian',
    ch: 'Swiss',
    nl: 'Dutch',
    ie: 'Irish',
    no: 'Norwegian',
    be: 'Belgian',
  },
};

function writeCountry(code: string, form: string): string {
  if (form === 'a2') return code.toUpperCase();
  if (form === 'lower') return code;
  if (form === 'a3') return countries.alpha2ToAlpha3(code.toUpperCase()) ?? '';
  if (form === 'adjective') return adjectives[code] ?? 'British';
  countries.registerLocale(require(`i18n-iso-countries/langs/${form}.json`));
  return countries.getName(code.toUpperCase(), form) ?? code;
}

const hex = (random: Random, length: number): string =>
  Array.from({ length }, () => '0123456789abcdef'[Math.floor(random() * 16)]).join('');
const digits = (random: Random, length: number): string =>
  Array.from({ length }, () => String(Math.floor(random() * 10))).join('');

/** A field of a column of the kind; what is not of the person is by chance. */
function writeCell(kind: string, argument: string, made: Made, random: Random): string {
  const { first, middle, last, org, code, isCompany, row } = made;
  const pick = (list: string): string => {
    const words = list.split('/');
    return words[Math.floor(random() * words.length)] ?? '';
  };
  const someDay = (from: number): Made['birth'] => [
    from + Math.floor(random() * 15),
    1 + Math.floor(random() * 12),
    1 + Math.floor(random() * 28),
  ];
  const someone = (): string => makeSomeone(random);
  const cells: Readonly<Record<string, () => string>> = {
    id: () => writeId(argument, code, row, random),
    first: () => first,
    middle: () => middle,
    last: () => last,
    org: () => org,
    full: () => (isCompany ? org : [first, last].join(argument === 'glued' ? '' : ' ')),
    lastfirst: () => (isCompany ? org : `${last}, ${first}`),
    // SAP: the family name or the company, then the first name or nothing.
    name1: () => (isCompany ? org : last),
    name2: () => first,
    copy: () => (isCompany ? org : `${first} ${last}`),
    upper: () => (isCompany ? org : `${last} ${first}`).toUpperCase().slice(0, 12),
    sparse: () => (row === 5 ? `${first} ${last}` : ''),
    contact: () => (isCompany ? someone() : ''),
    someone: () => (random() < Number(argument || 1) ? someone() : ''),
    type: () => argument.split('/')[isCompany ? 1 : 0] ?? '',
    salutation: () => argument.split('/')[isCompany ? 2 : random() < 0.5 ? 0 : 1] ?? '',
    birth: () => (isCompany ? '' : writeDate(made.birth, argument)),
    date: () => writeDate(someDay(2005), argument),
    founded: () => (isCompany ? writeDate(someDay(1980), argument) : ''),
    rare: () => (random() < 0.06 ? writeDate(someDay(2012), argument) : ''),
    stamp: () =>
      `${writeDate(someDay(2010), 'yyyy-MM-dd')}T0${Math.floor(random() * 9)}:15:${two(Math.floor(random() * 60))}Z`,
    nat: () => writeCountry(made.nationality, argument),
    res: () => writeCountry(made.residence, argument),
    word: () => pick(argument),
    maybe: () => (random() < 0.3 ? pick(argument) : ''),
    empty: () => '',
    number: () => digits(random, Number(argument)).replace(/^0/, '1'),
    unique: () => argument + String(700_000_000 + row * 7919),
    amount: () => `${Math.floor(random() * 90_000)}.${two(Math.floor(random() * 100))}`,
    count: () => String(row + 1),
    guid: () => [8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-'),
    iban: () => `DE${digits(random, 20)}`,
    phone: () => `+45 ${digits(random, 2)} ${digits(random, 2)} ${digits(random, 2)} ${digits(random, 2)}`,
    email: () => `u${row}.${hex(random, 4)}@mail.example`,
    street: () => `${pick('Hauptstraße/Main Street/Rue Verte/Ringvej/Calle Mayor')} ${1 + Math.floor(random() * 90)}`,
    city: () =>
      pick('Berlin/Odense/Lyon/Leeds/Sevilla/Graz/Bergen/Malmö/Gent/Torino/Kraków/Izmir/Porto/Brno/Turku/Riga'),
    note: () => (random() < 0.2 ? 'callbackrequestedseefile/'.repeat(Number(argument)) : ''),
    text: () =>
      random() < 0.4 ? `called on ${1 + Math.floor(random() * 28)}.3., asked ${someone()} to send papers` : '',
  };
  const write = cells[kind];
  if (write === undefined) throw new Error(`no kind ${kind}`);
  return write();
}

function makeSomeone(random: Random): string {
  const { first = [], last = [] } = namePools['en'] ?? {};
  return `${first[Math.floor(random() * first.length)]} ${last[Math.floor(random() * last.length)]}`;
}

function writeId(form: string, code: string, row: number, random: Random): string {
  if (form === 'row') return String(row + 1);
  if (form === 'guid') return [8, 4, 4, 4, 12].map((length) => hex(random, length)).join('-');
  if (form === 'crm') return `0015g00000${hex(random, 3).toUpperCase()}${code}`;
  if (form === 'padded') return code.padStart(10, '0');
  if (form === 'lei') return `5493${digits(random, 6)}${code}${hex(random, 3).toUpperCase()}${two(row % 100)}`;
  return form + code;
}

const quote = (cell: string, delimiter: string, isAlways: boolean): string =>
  isAlways || cell.includes(delimiter) || /["\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

function encode(lines: readonly string[], options: readonly string[]): Buffer {
  const text = `${lines.join(options.includes('crlf') ? '\r\n' : '\n')}\n`;
  if (options.includes('utf16')) return Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  if (options.includes('bom')) return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(text)]);
  if (options.includes('mojibake'))
    return Buffer.from(decodeSingleBytes(Buffer.from(text), createSingleByteTable('iso-8859-1')) ?? '');
  if (options.includes('half')) {
    const half = Math.floor(lines.length / 2);
    return Buffer.concat(
      lines.map((line, at) => (at < half ? Buffer.from(`${line}\n`) : toSingleBytes(`${line}\n`, 'windows-1252'))),
    );
  }
  const label = csvEncodings.find((encoding) => options.includes(encoding));
  return label === undefined ? Buffer.from(text) : toSingleBytes(text, label);
}

function toSingleBytes(text: string, label: EncodingLabel): Buffer {
  const bytes = new Map([...createSingleByteTable(label)].map((unit, byte) => [String.fromCharCode(unit), byte]));
  return Buffer.from([...text].map((letter) => bytes.get(letter) ?? 0x3f));
}
