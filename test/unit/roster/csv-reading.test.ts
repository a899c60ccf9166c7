import { createHash } from 'node:crypto';
import { appendFile, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { collectTable, countUnexplained, failCsv, openCsv, readCsv, summariseRecords, withFiles } from './open-csv.js';

const header = 'customer_id,type,name,note';

test('a stray quote costs its own line and never a neighbour', async () => {
  const { records } = await readCsv(
    `${header}\n1,person,"Smith,x\n2,person,Jones,x\n3,person,Brown",x\n4,person,Green,x\n5,person,Grey,"x\n6,person,Gold,y"\n`,
  );
  expect(summariseRecords(records)).toEqual([
    '2 malformed_csv',
    '3 2|person|Jones|x',
    '4 malformed_csv',
    '5 4|person|Green|x',
    '6 malformed_csv',
    '7 malformed_csv',
  ]);
  expect(records[0]?.fields).toEqual(['1', 'person', '"Smith', 'x']);
});

test.each([
  ['a closing quote is lost, and an opening one', '5,person,"Grey, Mary,x', '6,person,Gold Ann",y'],
  ['a line is cut within quotes, and the next has a quote too many', '5,person,"Gre', '6,person,Gold",y'],
  ['two lines are cut and joined in the middle of a name', '5,person,"Grey, Ma', '6,person,Gold, Ann",y'],
  ['a quote too many stands in the first field of the second', '5,person,Grey,"x', '6",person,Gold,y'],
])('two damaged neighbours are never one record: %s', async (_, one, other) => {
  const { records } = await readCsv(`${header}\n1,person,A,x\n${one}\n${other}\n7,person,B,x\n`);
  expect(summariseRecords(records)).toEqual(['2 1|person|A|x', '3 malformed_csv', '4 malformed_csv', '5 7|person|B|x']);
});

test.each([
  ['in the first column', '"Once upon\na time",person,A,x', ['Once upon\na time', 'person', 'A', 'x']],
  ['with delimiters on its second line', '5,"p,\nq, r",A,x', ['5', 'p,\nq, r', 'A', 'x']],
  ['with blank lines', '5,person,A,"x\n\n\ny"', ['5', 'person', 'A', 'x\n\n\ny']],
  ['beside another', '5,"a\nb","c\nd",x', ['5', 'a\nb', 'c\nd', 'x']],
])('a field of several lines is read %s', async (_, text, fields) => {
  const { records, tally } = await readCsv(`${header}\n1,person,A,x\n${text}\n7,person,B,x\n`);
  expect(records.map((record) => record.fields)).toEqual([
    ['1', 'person', 'A', 'x'],
    fields,
    ['7', 'person', 'B', 'x'],
  ]);
  expect(tally).toMatchObject({ headers: 1, records: 3, continuations: text.split('\n').length - 1 });
});

test('a quote that is never closed costs one line, however long the file', async () => {
  const others = Array.from({ length: 20_000 }, (_, index) => `${index},person,Name ${index},x`);
  const { records } = await readCsv(`${header}\nlost,person,Smith,"x\n${others.join('\n')}\n`);
  expect(records).toHaveLength(20_001);
  expect(records.filter(({ fault }) => fault !== null)).toHaveLength(1);
});

test('a quoted field may go on for thousands of lines, and one of more than ten thousand is refused at its first line', async () => {
  const read = (lines: number) => readCsv(`${header}\n1,person,Smith,"${'x\n'.repeat(lines)}"\n2,person,Jones,x\n`);
  const { records: whole, tally: sound } = await read(9_999);
  expect(whole.map(({ fault }) => fault)).toEqual([null, null]);
  expect(sound).toMatchObject({ records: 2, continuations: 9_999 });
  const { records, tally } = await read(10_001);
  expect(summariseRecords(records).slice(0, 2)).toEqual(['2 malformed_csv', '3 wrong_column_count']);
  expect(summariseRecords(records).at(-1)).toBe('10004 2|person|Jones|x');
  expect(tally).toEqual({ lines: 10_004, headers: 1, blanks: 0, continuations: 0, records: 10_003 });
});

test('lines of an embedded newline are counted, so that a row says where it stands', async () => {
  const { records, tally } = await readCsv(`\n${header}\r\n1,person,A,"x\r\n\r\ny"\r\n\r\n2,person,B,"z, ""q"" "\r\n`);
  expect(summariseRecords(records)).toEqual(['3 1|person|A|x\r\n\r\ny', '7 2|person|B|z, "q" ']);
  expect(tally).toEqual({ lines: 7, headers: 1, blanks: 2, continuations: 2, records: 2 });
});

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('%s ends a line', async (_, ending) => {
  const { records, tally } = await readCsv([header, '1,person,A,"x"', '', '2,,B', '3,person,C,x'].join(ending));
  expect(summariseRecords(records)).toEqual(['2 1|person|A|x', '4 wrong_column_count', '5 3|person|C|x']);
  expect(tally).toEqual({ lines: 5, headers: 1, blanks: 1, continuations: 0, records: 3 });
});

test.each([['x'], ['"x"']])('mixed line endings end lines, with a last field of %s', async (last) => {
  const { records, tally } = await readCsv(`a,b\r\n1,${last}\n2,${last}\r3,${last}\r\r\n4,${last}`);
  expect(records.map(({ line, fields }) => [line, ...fields])).toEqual([
    [2, '1', 'x'],
    [3, '2', 'x'],
    [4, '3', 'x'],
    [6, '4', 'x'],
  ]);
  expect(tally).toMatchObject({ lines: 6, blanks: 1 });
});

test.each([',', ';', '\t', '|'])('the delimiter %j is found from the header', async (delimiter) => {
  const cells = ['customer_id', 'type', 'name', 'a,b;c'].map((cell) => (cell.includes(',') ? `"${cell}"` : cell));
  const content = `${cells.join(delimiter)}\n${['1', 'person', 'A', ''].join(delimiter)}\n`;
  expect((await readCsv(content)).headers).toEqual(['customer_id', 'type', 'name', 'a,b;c']);
});

test('mapped columns decide about the delimiter, then how well the first rows agree', async () => {
  const content = 'id;name,first,last,known\n1;A,b,c,d\n2;B,b,c,d\n';
  expect((await readCsv(content)).headers).toHaveLength(4);
  expect((await readCsv(content, { mapped: ['id'] })).headers).toEqual(['id', 'name,first,last,known']);
  expect((await readCsv('a|b,c,d\n1|x\n2|y\n3|z, z\n')).headers).toEqual(['a', 'b,c,d']);
});

test.each([':', '^', '~'])('the delimiter %j is used when it is declared', async (delimiter) => {
  const content = ['a', 'b', '"c,d"'].join(delimiter);
  const { headers, records } = await readCsv(`${content}\n${content}\n`, { delimiter });
  expect([headers, records[0]?.fields]).toEqual([
    ['a', 'b', 'c,d'],
    ['a', 'b', 'c,d'],
  ]);
});

test('without a header the columns are called by their places, and the first record is one', async () => {
  const { headers, records, tally } = await readCsv('\n7;"A\nB"\n8;C;D\n', { header: false });
  expect(headers).toEqual(['1', '2']);
  expect(summariseRecords(records)).toEqual(['2 7|A\nB', '4 wrong_column_count']);
  expect(tally).toEqual({ lines: 4, headers: 0, blanks: 1, continuations: 1, records: 2 });
});

test('headers are trimmed and in NFC, and may have lines of their own', async () => {
  const { headers, records, tally } = await readCsv(' id ,"na\nme",Stra\u00dfe,"e\u0301"\n1,A,B,C\n');
  expect(headers).toEqual(['id', 'na\nme', 'Straße', 'é']);
  expect(summariseRecords(records)).toEqual(['3 1|A|B|C']);
  expect(tally).toEqual({ lines: 3, headers: 2, blanks: 0, continuations: 0, records: 1 });
});

test('fields are given as they stand, with their spaces; where quotes have spaces around them, only quoted ones are kept', async () => {
  const { records } = await readCsv('a,b,c\n 1 ,\t2, 3\n x ,  " y, ""z"" "  , w \n');
  expect(records.map(({ fields }) => fields)).toEqual([
    [' 1 ', '\t2', ' 3'],
    ['x', ' y, "z" ', 'w'],
  ]);
});

test.each(['\x1a', '\x1a\r\n', '\r\n\x1a', '\r\n\x1a\x1a\r\n'])(
  'what DOS wrote behind the last row is no row (%j)',
  async (end) => {
    const { records, tally } = await readCsv(`a,b\r\n1,x\r\n2,y${end}`);
    expect(summariseRecords(records)).toEqual(['2 1|x', '3 2|y']);
    expect(countUnexplained(tally)).toBe(0);
  },
);

test('a line may be cut anywhere between two chunks of the file', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index},person,Ünal 李 ${index},"a\r\nb"`);
  const { records, tally } = await readCsv(`${header}\r\n${lines.join('\r\n')}\r\n`);
  expect(records).toHaveLength(30_000);
  expect(records.filter(({ fault }) => fault !== null)).toEqual([]);
  expect(records.at(-1)).toEqual({
    line: 60_000,
    file: null,
    fields: ['29999', 'person', 'Ünal 李 29999', 'a\r\nb'],
    fault: null,
  });
  expect(tally).toEqual({ lines: 60_001, headers: 1, blanks: 0, continuations: 30_000, records: 30_000 });
});

test('batches hold at most 500 records and the digest is that of the file', async () => {
  const lines = Array.from({ length: 1_234 }, (_, index) => `${index},person,Name,x`);
  const content = `${header}\n${lines.join('\n')}`;
  await withFiles({ 'a.csv': content }, async (folder) => {
    const reading = await openCsv(join(folder, 'a.csv'));
    expect(reading.source).toBe(join(folder, 'a.csv'));
    expect(() => reading.digest()).toThrow(RosterError);
    const sizes: number[] = [];
    for await (const batch of reading.records) sizes.push(batch.length);
    expect(Math.max(...sizes)).toBe(500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_234);
    expect(reading.digest()).toBe(createHash('sha256').update(content).digest('hex'));
  });
});

test.each([
  ['nothing', ''],
  ['a byte order mark', '\ufeff'],
  ['blank lines', '\n \n'],
  ['what DOS wrote at the end', '\x1a'],
  ['a header and no rows', `${header}\n\n`],
])('a file of %s is refused as empty', async (_, content) => {
  expect((await failCsv(readCsv(content))).code).toBe('roster_empty');
});

test('a line without end is refused before it fills the memory', async () => {
  const error = await failCsv(readCsv(`${header}\n1,person,A,${'x'.repeat(3_000_000)}\n`));
  expect(error).toMatchObject({ code: 'line_too_long', message: expect.stringContaining('line 2') });
});

test.each(['"customer_id,type,name\n1,person,A\n', 'a,b",c\n1,2,3\n', 'a,b,"c\n1,2,x"\n3,4,5\n'])(
  'a header whose quotes make no sense is refused (%j)',
  async (content) => {
    expect((await failCsv(readCsv(content))).code).toBe('header_malformed');
  },
);

test('a line of ten thousand columns is no header', async () => {
  expect((await failCsv(readCsv(`${'a,'.repeat(10_000)}\n1,2\n`))).code).toBe('too_many_columns');
});

test.runIf(process.platform === 'linux')(
  'a reading that is given up before its first record lets go of the file',
  async () => {
    await withFiles({ 'a.csv': `${header}\n${'1,person,A,x\n'.repeat(100_000)}` }, async (folder) => {
      const path = join(folder, 'a.csv');
      const reading = await openCsv(path);
      expect(await isOpen(path)).toBe(true);
      await reading.close();
      expect(await isOpen(path)).toBe(false);
      await failCsv(openCsv(path, { encoding: 'utf-16be' }));
      expect(await isOpen(path)).toBe(false);
    });
  },
);

test('a reading that is given up can be closed, and again', async () => {
  await withFiles({ 'a.csv': `${header}\n1,person,A,x\n` }, async (folder) => {
    const reading = await openCsv(join(folder, 'a.csv'));
    await reading.close();
    await reading.close();
    await appendFile(join(folder, 'a.csv'), '2,person,B,x\n');
    await failCsv(collectTable(reading));
  });
});

/** Whether this process has the file open. */
async function isOpen(path: string): Promise<boolean> {
  const folder = '/proc/self/fd';
  const targets = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ''));
  return (await Promise.all(targets)).includes(path);
}

test('a line of delimiters, white space and empty quotes is blank like an empty line; a line with any value is a row', async () => {
  const blanks = [';;', ' ; ;\t', '"";"";""', ' "" ;;', '', '  ', ';'];
  const rows = ['1;Ann;x', ';;y', '-;;', '"";"z";""', '2;Bob;'];
  const { records, tally } = await readCsv(
    `${blanks.join('\n')}\nid;name;note\n${[...blanks, ...rows, ...blanks].join('\n')}\n`,
  );
  expect(records.map(({ line }) => line)).toEqual([16, 17, 18, 19, 20]);
  expect(records.every(({ fault }) => fault === null)).toBe(true);
  expect(tally).toEqual({ lines: 27, headers: 1, blanks: 21, continuations: 0, records: 5 });
  expect(countUnexplained(tally)).toBe(0);
});

test('a file that breaks off within a line of delimiters is truncated; 300,000 whole lines of these are no other file', async () => {
  const { records } = await readCsv('id;name;note\n1;Ann;x\n;');
  expect(records.at(-1)).toMatchObject({ line: 3, fault: 'wrong_column_count', isCut: true });
  const { tally } = await readCsv(`id;name;note\n${';;\n'.repeat(300_000)}1;Ann;x\n`);
  expect(tally).toMatchObject({ blanks: 300_000, records: 1 });
});
