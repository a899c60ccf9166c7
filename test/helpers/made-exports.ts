import { createRequire } from 'node:module';
import countries from 'i18n-iso-countries/index.js';
import { createSingleByteTable, csvEncodings, type EncodingLabel } from '../../src/roster/csv/encodings.js';
import type { RosterRow } from '../../src/roster/customer.js';
import type { FileInspection } from '../../src/roster/inspect/inspect-file.js';
import { readRoster } from '../../src/roster/read-roster.js';
import { makeSeededRandom } from './figures.js';

/** The parts of the name of a made person or company. */
interface MadeName {
  first: string;
  middle: string;
  last: string;
  org: string;
}

/** First and last names, what companies of the language are called, and countries, the most frequent first. */
interface NamePool {
  first: readonly string[];
  last: readonly string[];
  trades: readonly string[];
  forms: readonly string[];
  countries: readonly string[];
}

const pool = (first: string, last: string, trades: string, forms: string, countries: string): NamePool => ({
  first: first.split(' '),
  last: last.split(' '),
  trades: trades.split(' '),
  forms: forms.split('/'),
  countries: countries.split(' '),
});

/** Names by language. */
const namePools: Readonly<Record<string, NamePool>> = {
  en: pool(
    'Ann Robert Grace Oliver Sian Patrick Niamh George Priya Charlotte Hugh Ivy Owen Ruth Samuel Zoe Chad Jordan Georgia',
    'Lee Ray Hopper Marsh Whitlock Ashdown O’Neill Carver Penhaligon Sethi Bridges Osborne Thackeray Mallory Fenwick Rowe',
    'Shipping Foods Holdings Logistics Software Ceramics Trading Textiles',
    'Ltd/PLC/LLP/Limited/Inc.',
    'gb us ie fr de',
  ),
  de: pool(
    'Jörg Anna Björn Käthe Günther Ursula Jürgen Heike Sören Margarete Lukas Mia Özlem Till Änne Wolfgang',
    'Weiß Müller Ölmann Schäfer Köhler Groß Jäger Bäcker Vogt Lindner Krämer Strauß Pöschl Huber Zöllner Rühle',
    'Baustoffe Maschinenbau Möbel Großhandel Spedition Elektro Gärtnerei Verlag',
    'GmbH/AG/KG/GmbH & Co. KG/e.K.',
    'de at ch fr pl',
  ),
  fr: pool(
    'Hélène Rémi Zoé François Agnès Jérôme Maëlle Benoît Chloé Noël Inès Gaël Océane Théo Lucie Édith',
    'Lefèvre Béranger Garçon Dupré Hébert Moreau LeGoff Fournier Guérin Rousseau Barthélemy Noël Pelletier Crépin',
    'Transports Boulangerie Négoce Assurances Peinture Menuiserie',
    'SARL/SA/SAS/EURL',
    'fr be ch it es',
  ),
  es: pool(
    'José María Íñigo Begoña Álvaro Núria Sofía Ramón Lucía Jesús Inés Martín Belén Óscar Pilar Rubén',
    'García Muñoz Ibáñez Ordóñez Núñez López Peña Vázquez Sáez Gutiérrez Cortés Solís Aragón Campos',
    'Construcciones Alimentación Transportes Inversiones Pinturas',
    'S.L./S.A./S.L.U.',
    'es pt fr it de',
  ),
  it: pool(
    'Niccolò Giosuè Chiara Matteo Lucia Noè Bianca Tommaso Ilaria Dario Elena Marta Paolo Renzo',
    'Rossi Però Bellini Caffarelli Dall’Ara Moretti Zanetti Forlì Cantù Gallo Serra Pisani Conte',
    'Costruzioni Alimentari Trasporti Mobili Tessuti',
    'S.r.l./S.p.A./S.n.c.',
    'it ch fr at es',
  ),
  nordic: pool(
    'Søren Åse Jørgen Birgitta Øyvind Märta Kåre Ingrid Lærke Göran Bjørk Tove Æskil Sigrid Håkan Pia',
    'Sørensen Ångström Østergaard Håkansson Bjørnstad Nygård Lindström Kjær Frøslev Ödman Ræder Holm Skov',
    'Skibsfart Fisk Møbler Bygg Handel Energi',
    'A/S/ApS/AB/ASA',
    'dk se no de gb',
  ),
  pl: pool(
    'Łukasz Małgorzata Zbigniew Agnieszka Paweł Bożena Krzysztof Żaneta Stanisław Ewa Michał Józef',
    'Wiśniewski Dąbrowska Kamiński Łęcka Zieliński Wójcik Mazur Ślusarczyk Żuk Nowak Krawczyk Gołąb',
    'Budowa Transport Meble Odzież Piekarnia',
    'Sp. z o.o./S.A.',
    'pl de ua cz gb',
  ),
  tr: pool(
    'Ayşe Çağla Doğan Gülşah İsmail Ömer Şebnem Tuğçe Ufuk Yıldız Cem Ece',
    'Yıldırım Çelik Öztürk Şahin Güneş Doğru Kılıç Aydın Işık Demir',
    'İnşaat Tekstil Gıda Turizm',
    'A.Ş./Ltd. Şti.',
    'tr de at nl gb',
  ),
  cz: pool(
    'Jiří Zdeněk Božena Tomáš Šárka Ondřej Růžena Václav Eliška Matěj Ľubica Ján',
    'Dvořák Novotná Černý Procházka Kučera Šťastný Říha Žáková Hruška Bureš',
    'Stavby Doprava Potraviny Strojírna',
    's.r.o./a.s.',
    'cz sk de pl at',
  ),
  hu: pool(
    'Ákos Zsófia Győző Ágnes Ödön Erzsébet Béla Tünde Jenő Lívia',
    'Szabó Horváth Kőszegi Tóth Nagy Gödöllői Vörös Petőfi Kiss Fehér',
    'Építő Szállítás Bútor Élelmiszer',
    'Kft./Zrt./Bt.',
    'hu ro at de sk',
  ),
  ru: pool(
    'Иван Ольга Сергей Наталья Дмитрий Елена Юрий Светлана Андрей Мария Фёдор Алла',
    'Иванов Смирнова Кузнецов Попова Соколов Лебедева Козлов Новикова Морозов Щукин',
    'Строй Торг Транс Мебель',
    'ООО/АО/ЗАО',
    'ru by kz ua am',
  ),
  el: pool(
    'Γιώργος Μαρία Νίκος Ελένη Κώστας Άννα Δημήτρης Σοφία Πέτρος Ιωάννα',
    'Παπαδόπουλος Γεωργίου Νικολάου Οικονόμου Βασιλείου Καραγιάννη Μακρής',
    'Τεχνική Εμπορική Ναυτιλία',
    'Α.Ε./Ε.Π.Ε./Ο.Ε.',
    'gr cy de gb it',
  ),
  zh: pool(
    '伟 芳 秀英 敏 静 丽 强 磊 洋 艳 勇 军 杰 娟',
    '王 李 张 刘 陈 杨 黄 赵 周 吴 徐 孙',
    '贸易 科技 建筑 食品',
    '有限公司/股份有限公司',
    'cn hk sg tw us',
  ),
  ja: pool(
    '太郎 花子 健一 美咲 翔 さくら 大輔 由美 拓也 恵子',
    '佐藤 鈴木 高橋 田中 伊藤 渡辺 山本 中村 小林',
    '商事 建設 食品 電機',
    '株式会社/有限会社',
    'jp us kr cn gb',
  ),
  ar: pool(
    'محمد فاطمة أحمد خالد ليلى يوسف سارة عمر هدى حسن',
    'البستاني الخوري منصور العلي حداد الشامي الفارسي ناصر',
    'للتجارة للمقاولات للنقل',
    'ش.م.م/ذ.م.م',
    'lb sy eg jo ae',
  ),
};

const require = createRequire(import.meta.url);

/** One row of a made file as it is meant. */
interface MeantRow {
  id: string;
  /** The words of the name, in any order. */
  name: string;
  type: 'person' | 'entity';
  birthDate: string | null;
  /** Of each country column that a person would map. */
  countries: readonly string[];
}

/** A file as a system would export it, and how somebody who knows it would read it. */
interface MadeExport {
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
  const rowCount = Number(options.find((option) => option.startsWith('rows='))?.slice(5) ?? 60);
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
    yyyy: String(year),
    yy: two(year % 100),
    MMM: months[month - 1] ?? '',
    MM: two(month),
    M: String(month),
    dd: two(day),
    d: String(day),
  };
  return format.replace(/yyyy|yy|MMM|MM|M|dd|d/g, (token) => parts[token] ?? token);
}

const toMeantDate = (birth: Made['birth'], format: string): string =>
  /d/.test(format) ? writeDate(birth, 'yyyy-MM-dd') : String(birth[0]);

const adjectives: Readonly<Record<string, string>> = {
  gb: 'British',
  de: 'German',
  fr: 'French',
  dk: 'Danish',
  us: 'American',
  it: 'Italian',
  es: 'Spanish',
  se: 'Swedish',
  pl: 'Polish',
  tr: 'Turkish',
  at: 'Austrian',
  ch: 'Swiss',
  nl: 'Dutch',
  ie: 'Irish',
  no: 'Norwegian',
  be: 'Belgian',
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
  if (options.includes('mojibake')) return Buffer.from(Buffer.from(text).toString('latin1'));
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

/** What is wrong with an inspection of a made file: the rows as the printed mapping reads them are compared with what was meant. */
export async function assessInspection(
  { rows, isTypeKnown, damage }: MadeExport,
  { settings, guess }: FileInspection,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const doubts = guess.doubts.join('\n');
  if (damage === 'mojibake' && !/encod/i.test(doubts)) wrong.push('no doubt about letters');
  if (damage === 'half' && !/line \d+.*(UTF-8|windows-1252)/is.test(doubts)) wrong.push('no doubt about two encodings');
  if (!isTypeKnown && !/persons and entities/.test(doubts)) wrong.push('no doubt about types');
  if (settings === null) return [...wrong, 'nothing printed'];
  const read = await readAll(await readRoster(settings, () => undefined));
  const misses: Record<string, number> = {};
  for (const [index, meant] of rows.entries()) {
    const miss = findMiss(meant, read[index], { isTypeKnown, isGarbled: damage !== null });
    if (miss !== null) misses[miss] = (misses[miss] ?? 0) + 1;
  }
  for (const [miss, count] of Object.entries(misses)) {
    if (count > Math.max(1, rows.length / 50)) wrong.push(`${miss} (${count} of ${rows.length})`);
  }
  return wrong;
}

async function readAll({ rows }: Awaited<ReturnType<typeof readRoster>>): Promise<readonly RosterRow[]> {
  const all: RosterRow[] = [];
  for await (const batch of rows) all.push(...batch);
  return all;
}

function findMiss(
  meant: MeantRow,
  row: RosterRow | undefined,
  { isTypeKnown, isGarbled }: { isTypeKnown: boolean; isGarbled: boolean },
): string | null {
  if (row === undefined) return 'no row';
  // Garbled letters may be control characters.
  if (row.kind === 'rejected' && isGarbled && row.rejected.reason === 'control_character') return null;
  if (row.kind === 'rejected') return `rejected as ${row.rejected.reason}`;
  const [{ name, type, birthDate, countries }] = row.customer.parties;
  if (row.customer.reference !== meant.id) return 'another id';
  if (!isGarbled && toWords(name) !== toWords(meant.name)) return 'another name';
  if (isGarbled && toWords(name).length < 3) return 'no name';
  if (isTypeKnown && type !== meant.type) return 'another type';
  // A mark behind a date that follows from the pivot.
  if ((birthDate?.replace('?', '') ?? null) !== meant.birthDate)
    return birthDate === null ? 'no birth date' : 'another birth date';
  if (meant.countries.length > 0 && countries.length === 0) return 'no country';
  return countries.every((country) => meant.countries.includes(country)) ? null : 'another country';
}

/** The words of a name without those that some mappings leave out for good reason. */
const toWords = (name: string): string =>
  [...new Set(name.toLowerCase().split(/[\s,]+/))]
    .filter((word) => word !== '' && !/^(mr|mrs|dr\.?|prof\.?|van|de)$/.test(word))
    .sort()
    .join(' ');
