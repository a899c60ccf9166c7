import { createHash } from 'node:crypto';
import { appendFile, readdir, readlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { toFileRoster } from '../../../src/roster/settings.js';
import { collectRows, onlyRejected, readText, summarise, withReading } from './read-text.js';

const header = 'customer_id,type,name,note';

test('a stray quote costs its own line and never a neighbour', async () => {
  const rows = await readText(
    `${header}\n1,person,"Smith,x\n2,person,Jones,x\n3,person,Brown",x\n4,person,Green,x\n5,person,Grey,"x\n6,person,Gold,y"\n`,
  );
  expect(summarise(rows)).toEqual([
    '2 malformed_csv',
    '3 2',
    '4 malformed_csv',
    '5 4',
    '6 malformed_csv',
    '7 malformed_csv',
  ]);
  expect(onlyRejected(rows).map((row) => row.reference)).toEqual(['1', '3', '5', '6']);
});

test('a quote that is never closed costs one line, however long the file', async () => {
  const others = Array.from({ length: 20_000 }, (_, index) => `${index},person,Name ${index},x`);
  const rows = await readText(`${header}\nlost,person,Smith,"x\n${others.join('\n')}\n`);
  expect(rows).toHaveLength(20_001);
  expect(onlyRejected(rows)).toHaveLength(1);
});

test('a quoted field that goes on for more than a hundred lines is refused at its first line', async () => {
  const rows = await readText(`${header}\n1,person,Smith,"${'x\n'.repeat(150)}"\n2,person,Jones,x\n`);
  expect(summarise(rows).slice(0, 2)).toEqual(['2 malformed_csv', '3 wrong_column_count']);
  expect(summarise(rows).at(-1)).toBe('153 2');
});

test('lines of an embedded newline are counted, so that a row says where it stands', async () => {
  const rows = await readText(`\n${header}\r\n1,person,A,"x\r\n\r\ny"\r\n\r\n2,person,B,"z, ""q"" "\r\n`);
  expect(summarise(rows)).toEqual(['3 1', '7 2']);
});

test.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('%s ends a line', async (_, ending) => {
  const text = [header, '1,person,A,x', '', '2,,B,x', '3,person,C,x'].join(ending);
  expect(summarise(await readText(text))).toEqual(['2 1', '4 missing_type type', '5 3']);
});

test.each([',', ';', '\t', '|'])('the delimiter %j is found from the header', async (delimiter) => {
  const text = ['customer_id', 'type', 'name', 'a,b;c'].map((cell) => (cell.includes(',') ? `"${cell}"` : cell));
  const rows = await readText(`${text.join(delimiter)}\n${['1', 'person', 'A', ''].join(delimiter)}\n`);
  expect(summarise(rows)).toEqual(['2 1']);
});

test('a byte order mark is no part of the first header', async () => {
  expect(summarise(await readText(`\ufeff${header}\n1,person,A,x\n`))).toEqual(['2 1']);
});

test('a line may be cut anywhere between two chunks of the file', async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index},person,Ünal 李 ${index},"a\r\nb"`);
  const rows = await readText(`${header}\r\n${lines.join('\r\n')}\r\n`);
  expect(rows).toHaveLength(30_000);
  expect(rows.at(-1)).toMatchObject({
    line: 60_000,
    customer: { reference: '29999', parties: [{ name: 'Ünal 李 29999' }] },
  });
});

test('batches hold at most 500 rows and the digest is that of the file', async () => {
  const lines = Array.from({ length: 1_234 }, (_, index) => `${index},person,Name,x`);
  const content = `${header}\n${lines.join('\n')}`;
  await withReading(content, {}, async (reading, path) => {
    expect(reading.source).toBe(path);
    expect(() => reading.digest()).toThrow(RosterError);
    const sizes: number[] = [];
    for await (const batch of reading.rows) sizes.push(batch.length);
    expect(Math.max(...sizes)).toBe(500);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_234);
    expect(reading.digest()).toBe(createHash('sha256').update(content).digest('hex'));
  });
});

async function failure(content: string | Buffer, columns: unknown = {}): Promise<RosterError> {
  const error: unknown = await readText(content, { columns }).catch((thrown: unknown) => thrown);
  if (!(error instanceof RosterError)) throw new Error('expected a RosterError', { cause: error });
  return error;
}

test('a missing file is named with what to check', async () => {
  await expect(readRoster(toFileRoster('onboarding', '/nowhere/roster.csv'), () => undefined)).rejects.toMatchObject({
    code: 'roster_not_found',
    message: expect.stringContaining('/nowhere/roster.csv'),
  });
});

test.each([
  ['nothing', ''],
  ['a byte order mark', '\ufeff'],
  ['blank lines', '\n \n'],
  ['a header and no rows', `${header}\n\n`],
])('a file of %s is refused as empty', async (_, content) => {
  expect((await failure(content)).code).toBe('roster_empty');
});

test('all missing columns are named at once, with the header that was found and how to map', async () => {
  const error = await failure('kundennr;art;name\n1;person;A\n', { birthDate: 'geboren' });
  expect(error.code).toBe('column_missing');
  expect(error.message).toMatch(
    /no column "customer_id", "type", "geboren"\. The header has "kundennr", "art", "name"\..*columns:/s,
  );
});

test('two columns of one name are refused', async () => {
  const error = await failure('customer_id,type,name,name\n1,person,A,B\n');
  expect(error).toMatchObject({ code: 'duplicate_header', message: expect.stringContaining('"name"') });
});

test('a broken byte refuses the file with its line and byte', async () => {
  const start = `${header}\n1,person,Å,x\n2,person,M`;
  const error = await failure(Buffer.concat([Buffer.from(start), Buffer.from([0xfc]), Buffer.from('ller,x\n')]));
  expect(error).toMatchObject({
    code: 'encoding',
    message: expect.stringMatching(new RegExp(`line 3 is not UTF-8 \\(byte ${Buffer.byteLength(start) + 1} of`)),
  });
});

test('a character cut off by the end of the file is a broken byte', async () => {
  const error = await failure(Buffer.concat([Buffer.from(`${header}\n1,person,A,`), Buffer.from([0xe6, 0x9d])]));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('line 2') });
});

test('a UTF-16 file is refused and says what it looks like', async () => {
  const error = await failure(Buffer.from(`\ufeff${header}\n1,person,A,x\n`, 'utf16le'));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('UTF-16') });
});

test('a broken byte far behind the header stops the reading', async () => {
  const lines = Array.from({ length: 40_000 }, (_, index) => `${index},person,Name,x\n`).join('');
  const error = await failure(Buffer.concat([Buffer.from(`${header}\n${lines}`), Buffer.from([0xff, 0x0a])]));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining('line 40002') });
});

test('a line without end is refused before it fills the memory', async () => {
  const error = await failure(`${header}\n1,person,A,${'x'.repeat(3_000_000)}\n`);
  expect(error).toMatchObject({ code: 'line_too_long', message: expect.stringContaining('line 2') });
});

test('a header whose quotes do not match is refused', async () => {
  expect((await failure('"customer_id,type,name\n1,person,A\n')).code).toBe('header_malformed');
});

test.runIf(process.platform === 'linux')(
  'a reading that is given up before its first row lets go of the file',
  async () => {
    await withReading(`${header}\n1,person,A,x\n`, {}, async (reading, path) => {
      expect(await isOpen(path)).toBe(true);
      await reading.close();
      expect(await isOpen(path)).toBe(false);
    });
  },
);

test('a reading that is given up can be closed, and again', async () => {
  await withReading(`${header}\n1,person,A,x\n`, {}, async (reading, path) => {
    await reading.close();
    await reading.close();
    await appendFile(path, '2,person,B,x\n');
    expect(await collectRows(reading)).toEqual([]);
    expect(() => reading.digest()).toThrow(RosterError);
  });
});

/** Whether this process has the file open. */
async function isOpen(path: string): Promise<boolean> {
  const folder = '/proc/self/fd';
  const targets = (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => ''));
  return (await Promise.all(targets)).includes(path);
}
