import { expect, test } from 'vitest';
import {
  createTextDecoder,
  csvEncodings,
  type EncodingLabel,
  guessEncoding,
} from '../../../src/roster/csv/encodings.js';
import { failCsv, readCsv } from './open-csv.js';

const header = 'customer_id,type,name,note';

/** Bytes by hand: Node writes none of these encodings. */
const samples: readonly [EncodingLabel, string, number[]][] = [
  ['windows-874', 'ไทย€', [0xe4, 0xb7, 0xc2, 0x80]],
  ['windows-1250', 'Łódź', [0xa3, 0xf3, 0x64, 0x9f]],
  ['windows-1251', 'Иван', [0xc8, 0xe2, 0xe0, 0xed]],
  ['windows-1252', '€žŒ“é', [0x80, 0x9e, 0x8c, 0x93, 0xe9]],
  ['windows-1253', 'Άννα', [0xa2, 0xed, 0xed, 0xe1]],
  ['windows-1254', 'İşğı', [0xdd, 0xfe, 0xf0, 0xfd]],
  ['windows-1255', 'דוד', [0xe3, 0xe5, 0xe3]],
  ['windows-1256', 'علي', [0xda, 0xe1, 0xed]],
  ['windows-1257', 'Šąž', [0xd0, 0xe0, 0xfe]],
  ['windows-1258', 'Đơ', [0xd0, 0xf5]],
  ['iso-8859-1', 'Åé\x80', [0xc5, 0xe9, 0x80]],
  ['iso-8859-2', 'Łódź', [0xa3, 0xf3, 0x64, 0xbc]],
  ['iso-8859-3', 'Ħ', [0xa1]],
  ['iso-8859-4', 'Ą', [0xa1]],
  ['iso-8859-5', 'Иван', [0xb8, 0xd2, 0xd0, 0xdd]],
  ['iso-8859-6', 'علي', [0xd9, 0xe4, 0xea]],
  ['iso-8859-7', 'Άννα', [0xb6, 0xed, 0xed, 0xe1]],
  ['iso-8859-8', 'דוד', [0xe3, 0xe5, 0xe3]],
  ['iso-8859-9', 'İşğı\x8a', [0xdd, 0xfe, 0xf0, 0xfd, 0x8a]],
  ['iso-8859-10', 'Ą', [0xa1]],
  ['iso-8859-11', 'ไทย\x80', [0xe4, 0xb7, 0xc2, 0x80]],
  ['iso-8859-13', 'Šąž', [0xd0, 0xe0, 0xfe]],
  ['iso-8859-14', 'Ḃŵ', [0xa1, 0xf0]],
  ['iso-8859-15', '€ŠŒé', [0xa4, 0xa6, 0xbc, 0xe9]],
  ['iso-8859-16', 'Ș€Țț„”ŽœŸÿ', [0xaa, 0xa4, 0xde, 0xfe, 0xa5, 0xb5, 0xb4, 0xbd, 0xbe, 0xff]],
  ['koi8-r', 'Иван', [0xe9, 0xd7, 0xc1, 0xce]],
  ['koi8-u', 'Їжак', [0xb7, 0xd6, 0xc1, 0xcb]],
  ['ibm866', 'Иван\x1a\x1c\x7f', [0x88, 0xa2, 0xa0, 0xad, 0x1a, 0x1c, 0x7f]],
  ['macintosh', 'Åé€', [0x81, 0x8e, 0xdb]],
  ['x-mac-cyrillic', 'Иван', [0x88, 0xe2, 0xe0, 0xed]],
  ['shift_jis', '田ソ\x1a\x1c\x7f\\', [0x93, 0x63, 0x83, 0x5c, 0x1a, 0x1c, 0x7f, 0x5c]],
  ['euc-jp', '田中', [0xc5, 0xc4, 0xc3, 0xe6]],
  ['euc-kr', '김', [0xb1, 0xe8]],
  ['gbk', '王', [0xcd, 0xf5]],
  ['gb18030', '王€', [0xcd, 0xf5, 0xa2, 0xe3]],
  ['big5', '陳', [0xb3, 0xaf]],
];

test.each(samples)('%s is read as what it says', (label, text, bytes) => {
  expect(createTextDecoder(label)(Buffer.from(bytes))).toBe(text);
});

test('every declared encoding has a sample, and leaves ASCII as it is', () => {
  const wide = ['utf-8', 'utf-16le', 'utf-16be'];
  expect([...wide, ...samples.map(([label]) => label)].sort()).toEqual([...csvEncodings].sort());
  const ascii = Buffer.from(Array.from({ length: 128 }, (_, byte) => byte));
  for (const [label] of samples) {
    const beyond = createTextDecoder(label)(Buffer.from(samples.find(([each]) => each === label)?.[2] ?? []));
    expect(beyond, label).not.toBe(null);
    expect(createTextDecoder(label)(ascii), label).toBe(ascii.toString('latin1'));
  }
});

test.each<[EncodingLabel, number[]]>([
  ['utf-8', [0x61, 0xe9]],
  ['utf-8', [0xed, 0xa0, 0x80]],
  ['utf-16le', [0x61, 0x00, 0x3d, 0xd8]],
  ['utf-16be', [0xdc, 0x00, 0x00, 0x61]],
  ['utf-16le', [0x61, 0x00, 0x61]],
  ['windows-874', [0xdb]],
  ['windows-1253', [0xd2]],
  ['windows-1253', [0xaa]],
  ['iso-8859-6', [0xa1]],
  ['shift_jis', [0x93]],
  ['gb18030', [0x81, 0x20]],
  ['big5', [0xff]],
  ['euc-jp', [0x80, 0x30]],
  ['euc-kr', [0xb1]],
  ['gbk', [0xff, 0x41]],
])('%s never replaces bytes that it does not know (%j)', (label, bytes) => {
  expect(createTextDecoder(label)(Buffer.from(bytes))).toBe(null);
});

test('a Windows code page reads an unused byte below its signs as a control character', () => {
  for (const label of ['windows-1250', 'windows-1252', 'windows-1257'] as const) {
    expect(createTextDecoder(label)(Buffer.from([0xc3, 0x90]))?.charCodeAt(1), label).toBe(0x90);
  }
});

function encode(text: string, label: string): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return label === 'utf-16be' ? bytes.swap16() : bytes;
}

const unicode = `${header}\r\n1,person,Ünal 李 𐐷,"x\r\ny"\r\n2,person,Иван,ਊ਀\r\n`;

test.each([['utf-16le'], ['utf-16be']] as const)(
  '%s is found by its mark or zero bytes, or declared',
  async (label) => {
    for (const mark of ['\ufeff', '']) {
      for (const encoding of ['auto', label] as const) {
        const { headers, records, tally } = await readCsv(encode(mark + unicode, label), { encoding });
        expect(headers[0]).toBe('customer_id');
        expect(records.map(({ fields }) => fields.slice(2))).toEqual([
          ['Ünal 李 𐐷', 'x\r\ny'],
          ['Иван', 'ਊ਀'],
        ]);
        expect(tally).toEqual({ lines: 4, headers: 1, blanks: 0, continuations: 1, records: 2 });
      }
    }
  },
);

test.each(['utf-16le', 'utf-16be'])('lines of %s may be cut anywhere between two chunks', async (label) => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index},person,Ünal 李 𐐷 ${index},ਊ਀`);
  const { records } = await readCsv(encode(`${header}\r\n${lines.join('\r\n')}`, label));
  expect(records).toHaveLength(20_000);
  expect(records.at(-1)?.fields).toEqual(['19999', 'person', 'Ünal 李 𐐷 19999', 'ਊ਀']);
});

test('a lone surrogate in UTF-16 refuses the file with its line and byte', async () => {
  const error = await failCsv(readCsv(encode(`\ufeff${header}\n1,person,\ud83d,x\n`, 'utf-16le')));
  expect(error).toMatchObject({
    code: 'encoding',
    message: expect.stringContaining('line 2 is not utf-16le (byte 75 of'),
  });
});

test('UTF-8 with NULs is no UTF-16', async () => {
  const { records } = await readCsv(`a,b\n${'\0,x\n'.repeat(50)}`);
  expect(records).toHaveLength(50);
});

test.each<[string, EncodingLabel, number[]]>([
  ['utf-8', 'windows-1252', [0xef, 0xbb, 0xbf]],
  ['utf-16le', 'utf-8', [0xff, 0xfe]],
  ['utf-16be', 'utf-16le', [0xfe, 0xff]],
])('the mark of %s contradicts a declared %s', async (marked, encoding, mark) => {
  const error = await failCsv(readCsv(Buffer.concat([Buffer.from(mark), Buffer.from('a,b\n1,2\n')]), { encoding }));
  expect(error).toMatchObject({
    code: 'encoding',
    message: expect.stringMatching(`mark of ${marked}.*as ${encoding}`),
  });
});

test('UTF-32 is refused by name', async () => {
  const error = await failCsv(readCsv(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('UTF-32') });
});

test('a declared encoding is read over blocks and line ends', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index},person,S\u00f8ren \u0080 ${index},x`);
  const bytes = Buffer.from(`${header}\r\n${lines.join('\r\n')}`, 'latin1');
  const { records } = await readCsv(bytes, { encoding: 'windows-1252' });
  expect(records.at(-1)?.fields[2]).toBe('Søren € 29999');
});

test('a broken byte refuses the file with its line and byte, and says what to write', async () => {
  const start = `${header}\n1,person,Å,x\n2,person,M`;
  const bytes = Buffer.concat([Buffer.from(start), Buffer.from([0xfc]), Buffer.from('ller,x\n')]);
  const error = await failCsv(readCsv(bytes));
  expect(error.code).toBe('encoding');
  expect(error.message).toContain(`line 3 is not utf-8 (byte ${Buffer.byteLength(start) + 1} of the file)`);
  expect(error.message).toContain('`encoding: windows-1252`');
});

test('a character cut off by the end of the file is a broken byte', async () => {
  const error = await failCsv(
    readCsv(Buffer.concat([Buffer.from(`${header}\n1,person,A,`), Buffer.from([0xe6, 0x9d])])),
  );
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('line 2') });
});

test('a broken byte far behind the header stops the reading', async () => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `${index},person,Name,x\r\n`).join('');
  const bytes = Buffer.concat([Buffer.from(`${header}\r\n${lines}`), Buffer.from([0xff, 0x0a])]);
  const error = await failCsv(readCsv(bytes));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('line 40002') });
  expect(error.message).toContain(`byte ${bytes.length - 1} of`);
});

test('a byte that the declared encoding does not know refuses the file', async () => {
  const bytes = Buffer.from(`${header}\n1,person,\u00dd\u00e9,x\n2,person,\u00db,x\n`, 'latin1');
  const error = await failCsv(readCsv(bytes, { encoding: 'windows-874' }));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('line 2 is not windows-874') });
});

const names: readonly [EncodingLabel, string][] = [
  ['windows-1252', 'Jürgen Müller, Zoë Déjardin, Ståle Bjørnsønn, Íñigo Peña'],
  ['windows-1250', 'Łukasz Wiśniewski, Jiří Dvořák, Zdeněk Šťastný, Żaneta Dąbrowska'],
  ['windows-1254', 'Işıl Çağlar, Gökçe Şahin, Ayşe Yıldırım, Oğuz Güneş'],
  ['windows-1251', 'Иван Сергеевич Петров, Наталья Кузнецова, Алексей Смирнов'],
  ['koi8-r', 'Иван Сергеевич Петров, Наталья Кузнецова, Алексей Смирнов'],
  ['ibm866', 'Иван Сергеевич Петров, Наталья Кузнецова, Алексей Смирнов'],
  ['iso-8859-5', 'Иван Сергеевич Петров, Наталья Кузнецова, Алексей Смирнов'],
  ['windows-1253', 'Γιώργος Παπαδόπουλος, Ελένη Νικολάου, Κώστας Δημητρίου'],
  ['windows-1255', 'דוד כהן, שרה לוי, יוסף מזרחי'],
  ['windows-1256', 'محمد علي حسن, فاطمة الزهراء, عبد الرحمن'],
  ['windows-874', 'สมชาย ใจดี, สมหญิง รักไทย'],
  ['macintosh', 'Jürgen Müller, Zoë Déjardin, Íñigo Peña'],
  ['shift_jis', '田中太郎, 山本美子, 佐藤一郎, スズキ'],
  ['euc-jp', '田中太郎, 山本美子, 佐藤一郎, すずきのアイ'],
  ['gb18030', '王小明, 李国华, 张伟, 陈丽'],
  ['big5', '陳美華, 林志明, 黃國文, 張淑雅'],
  ['euc-kr', '김민수, 이영희, 박지현, 최은정'],
];

test.each(names)('names in %s are taken for what they are', (label, text) => {
  expect(guessEncoding(encodeBy(label, text))).toBe(label);
});

test('one letter among ASCII is taken for Western', () => {
  expect(guessEncoding(Buffer.from('1,person,S\u00f8ren\n2,person,Åse\n'.replace('Å', '\u00c5'), 'latin1'))).toBe(
    'windows-1252',
  );
});

test('bytes that are no text suggest no encoding', () => {
  expect(guessEncoding(Buffer.from('all in ASCII\n'))).toBe(null);
});

/** Encodes by looking for the bytes that the decoder reads as each character. */
function encodeBy(label: EncodingLabel, text: string): Buffer {
  const decode = createTextDecoder(label);
  const bytesOf = new Map<string, Buffer>();
  const note = (bytes: Buffer) => {
    const character = decode(bytes);
    if (character !== null && !bytesOf.has(character)) bytesOf.set(character, bytes);
  };
  for (let first = 0; first < 256; first += 1) note(Buffer.from([first]));
  for (const character of text) {
    for (let first = 0x81; first < 0xff && !bytesOf.has(character); first += 1) {
      for (let second = 0x40; second < 0xff; second += 1) note(Buffer.from([first, second]));
    }
  }
  return Buffer.concat([...text].map((character) => bytesOf.get(character) ?? Buffer.from('?')));
}
