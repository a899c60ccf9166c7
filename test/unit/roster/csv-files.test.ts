import { createHash } from 'node:crypto';
import { appendFile, symlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { findFiles } from '../../../src/roster/csv/find-files.js';
import { collectTable, countUnexplained, failCsv, openCsv, readCsv, summariseRecords, withFiles } from './open-csv.js';

const sha = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest();
const tree = {
  'retail-2.csv': '',
  'retail-10.csv': '',
  'retail-1.csv': '',
  'retail-1.txt': '',
  '.retail-0.csv': '',
  'more/retail-3.csv': '',
  'more/deep/retail-4.csv': '',
  'odd[1].csv': '',
};

async function match(...patterns: string[]): Promise<string[]> {
  return withFiles(tree, async (folder) => {
    const files = await findFiles(patterns.map((pattern) => `${folder}/${pattern}`));
    return files.map((file) => file.slice(folder.length + 1));
  });
}

test.each([
  ['*.csv', ['odd[1].csv', 'retail-1.csv', 'retail-10.csv', 'retail-2.csv']],
  ['retail-?.csv', ['retail-1.csv', 'retail-2.csv']],
  ['retail-1.*', ['retail-1.csv', 'retail-1.txt']],
  ['.retail*', ['.retail-0.csv']],
  ['*/*.csv', ['more/retail-3.csv']],
  ['m*/d??p/*4.csv', ['more/deep/retail-4.csv']],
  ['**/retail-?.csv', ['more/deep/retail-4.csv', 'more/retail-3.csv', 'retail-1.csv', 'retail-2.csv']],
  ['more/**', ['more/deep/retail-4.csv', 'more/retail-3.csv']],
  ['odd[1].*', ['odd[1].csv']],
])('the pattern %s means %j', async (pattern, files) => {
  expect(await match(pattern)).toEqual(files);
});

test('files are ordered by name, and each is read once', async () => {
  expect(await match('retail-2.csv', '*-?.csv', 'retail-2.csv', './more/../retail-1.csv')).toEqual([
    'retail-1.csv',
    'retail-2.csv',
  ]);
});

test('a pattern that matches nothing, or a folder that cannot be read, is named with the folder', async () => {
  await withFiles({ 'a.txt': '' }, async (folder) => {
    const error = await failCsv(openCsv(join(folder, '*.csv')));
    expect(error.code).toBe('roster_not_found');
    expect(error.message).toContain(join(folder, '*.csv'));
    expect(error.message).toContain(`in ${folder};`);
    // A folder that cannot be listed may hold a part of the roster.
    await symlink(join(folder, 'loop'), join(folder, 'loop'));
    const unreadable = await failCsv(openCsv(join(folder, 'loop', '*.csv')));
    expect(unreadable).toMatchObject({ code: 'roster_unreadable', message: expect.stringContaining('ELOOP') });
  });
});

test('a missing file is named with what to check, and a folder with how to name its files', async () => {
  expect(await failCsv(openCsv('/nowhere/roster.csv'))).toMatchObject({
    code: 'roster_not_found',
    // Decisions and lists are read by the same door: it does not know which it is.
    message: expect.stringMatching(/^\/nowhere\/roster\.csv: there is no such file\./),
  });
  await withFiles({}, async (folder) => {
    const error = await failCsv(openCsv(folder));
    expect(error).toMatchObject({ code: 'roster_unreadable', message: expect.stringContaining(`${folder}/*.csv`) });
  });
});

test('several files are one table, each written in its own way', async () => {
  const files = {
    'a.csv': 'id,name\n1,A\n\n',
    'b.csv': Buffer.from('\ufeffid;name\r\n2;"B\r\nb"\r\n', 'utf16le'),
    'c.csv': gzipSync('id\tname\r3\tC\r4\tD'),
  };
  await withFiles(files, async (folder) => {
    const reading = await openCsv(`${folder}/*.csv`);
    const { records, tally, digest, headers } = await collectTable(reading);
    expect(reading.source).toBe(`${folder}/*.csv`);
    expect(headers).toEqual(['id', 'name']);
    expect(records.map(({ file, line, fields }) => [file?.slice(folder.length + 1), line, ...fields])).toEqual([
      ['a.csv', 2, '1', 'A'],
      ['b.csv', 2, '2', 'B\r\nb'],
      ['c.csv', 2, '3', 'C'],
      ['c.csv', 3, '4', 'D'],
    ]);
    expect(tally).toEqual({ lines: 9, headers: 3, blanks: 1, continuations: 1, records: 4 });
    expect(digest).toBe(sha(Buffer.concat(Object.values(files).map(sha))).toString('hex'));
  });
});

test('a file that stands for itself is not named in its records', async () => {
  await withFiles({ 'a.csv': 'id,name\n1,A\n' }, async (folder) => {
    const { records, digest } = await collectTable(await openCsv(`${folder}/*.csv`));
    expect(records[0]?.file).toBe(null);
    expect(digest).toBe(sha('id,name\n1,A\n').toString('hex'));
  });
});

test.each([
  ['id,name,city', /column 3 is missing in .*a\.csv and "city" in .*b\.csv\./],
  ['id', /column 2 is "name" in .*a\.csv and missing in .*b\.csv\./],
  ['name,id', /column 1 is "id" in .* and "name" in/],
  ['2,Wilma', /column 1 is "id" in .* and another one in/],
])('files with different headers are refused, naming both and what differs (%s)', async (header, message) => {
  await withFiles({ 'a.csv': 'id,name\n1,A\n', 'b.csv': `${header}\n2,B\n` }, async (folder) => {
    const paths = [join(folder, 'a.csv'), join(folder, 'b.csv')];
    const error = await failCsv(openCsv(paths, { mapped: ['id'] }).then(collectTable));
    expect(error).toMatchObject({ code: 'headers_differ', message: expect.stringMatching(message) });
  });
});

test('no line of a file without a header is quoted, whichever file it is', async () => {
  const rows = 'C-1,Wilma\nC-2,Tamsin\n';
  const files = { 'a.csv': 'C-7,Wilma\n', 'b.csv': 'id,name\n1,A\n', 'c.csv': rows };
  await withFiles(files, async (folder) => {
    for (const names of [
      ['b.csv', 'c.csv'],
      ['a.csv', 'b.csv'],
      ['a.csv', 'c.csv'],
    ]) {
      const paths = names.map((name) => join(folder, name));
      const error = await failCsv(openCsv(paths, { mapped: ['id'] }).then(collectTable));
      expect(error).toMatchObject({ code: 'headers_differ', message: expect.not.stringMatching(/C-\d|Wilma|Tamsin/) });
    }
  });
});

test('files without a header must have equally many columns', async () => {
  await withFiles({ 'a.csv': '1,A\n', 'b.csv': '2,B,x\n' }, async (folder) => {
    const error = await failCsv(openCsv(`${folder}/*.csv`, { header: false }).then(collectTable));
    expect(error.code).toBe('headers_differ');
  });
});

test('one of several files may have no rows, but not nothing at all', async () => {
  await withFiles({ 'a.csv': 'id,name\n', 'b.csv': 'id,name\n1,A\n', 'c.csv': '' }, async (folder) => {
    const paths = [join(folder, 'a.csv'), join(folder, 'b.csv')];
    expect((await openCsv(paths).then(collectTable)).records).toHaveLength(1);
    const error = await failCsv(openCsv(`${folder}/*.csv`).then(collectTable));
    expect(error).toMatchObject({ code: 'roster_empty', message: expect.stringContaining('c.csv') });
  });
});

test('a link to a file is the file', async () => {
  await withFiles({ 'b.csv': 'id\n1\n' }, async (folder) => {
    await symlink(join(folder, 'b.csv'), join(folder, 'a.csv'));
    expect((await openCsv(`${folder}/*.csv`).then(collectTable)).records).toHaveLength(1);
  });
});

const long = `id,name\n${Array.from({ length: 60_000 }, (_, index) => `${index},Name ${index * 7}`).join('\n')}\n`;

test('gzip is known by its bytes, and the digest is that of the file as it lies', async () => {
  const packed = gzipSync(long);
  const { records, digest } = await readCsv(packed);
  expect(records).toHaveLength(60_000);
  expect(digest).toBe(sha(packed).toString('hex'));
  await withFiles({ 'plain.csv.gz': 'id\n1\n' }, async (folder) => {
    expect((await openCsv(join(folder, 'plain.csv.gz')).then(collectTable)).records).toHaveLength(1);
  });
});

test('gzip data of several members are one file', async () => {
  const { records } = await readCsv(Buffer.concat([gzipSync('id,name\n1,A\n2,'), gzipSync('B\n')]));
  expect(summariseRecords(records)).toEqual(['2 1|A', '3 2|B']);
});

test.each([
  ['cut off', (packed: Buffer) => packed.subarray(0, packed.length - 30), /end too early/],
  ['cut off in their head', (packed: Buffer) => packed.subarray(0, 5), /end too early/],
  ['damaged', (packed: Buffer) => packed.fill(0x55, packed.length / 2, packed.length / 2 + 200), /damaged/],
  ['damaged in their sum', (packed: Buffer) => packed.fill(0x55, packed.length - 8), /damaged/],
  ['followed by text', (packed: Buffer) => Buffer.concat([packed, Buffer.from('id\n')]), /damaged/],
  ['followed by zeros', (packed: Buffer) => Buffer.concat([packed, Buffer.alloc(99)]), /other data follows/],
])('gzip data that are %s end in a clear error', async (_, change, message) => {
  const error = await failCsv(readCsv(change(gzipSync(long))));
  expect(error).toMatchObject({ code: 'roster_broken_off', message: expect.stringMatching(message) });
});

test('a file that grows while it is read is refused', async () => {
  await withFiles({ 'a.csv': long }, async (folder) => {
    const reading = await openCsv(join(folder, 'a.csv'));
    await appendFile(join(folder, 'a.csv'), '1,A\n');
    expect(await failCsv(collectTable(reading))).toMatchObject({ code: 'roster_changed' });
  });
});

test('a file that is written anew with as many bytes while it is read is refused', async () => {
  await withFiles({ 'a.csv': long }, async (folder) => {
    const reading = await openCsv(join(folder, 'a.csv'));
    await utimes(join(folder, 'a.csv'), 1, 1);
    const error = await failCsv(collectTable(reading));
    expect(error.code).toBe('roster_changed');
    expect(countUnexplained(reading.tally())).toBe(0);
  });
});

test.each([
  ['an empty ZIP file', Buffer.from('PK\x05\x06', 'latin1')],
  ['an old Excel workbook', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')],
  ['a PDF', '%PDF-1.7\n'],
  ['an SQLite database', 'SQLite format 3\0'],
  ['a picture (PNG)', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')],
  ['a picture (JPEG)', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
  ['JSON', '[\n  { "customer_id": 1, "name": "Ann" }\n]\n'],
  ['JSON', '{"customer_id":1,"name":"Ann"}\n{"customer_id":2,"name":"Bob"}\n'],
  ['JSON', '\ufeff[{"customer_id":1,"name":"Ann"}]'],
])('%s that is called CSV is told by its name, packed or not', async (what, content) => {
  for (const bytes of [content, gzipSync(content)]) {
    const error = await failCsv(readCsv(bytes, { mapped: ['customer_id'] }));
    expect(error.code).toBe('not_a_table');
    expect(error.message).toMatch(/roster\.csv is .*, not CSV\. ./);
    expect(error.message).toContain(what);
  }
});

test('a header that the mapping asks for may look like JSON', async () => {
  const { headers } = await readCsv('[[id]],name\n1,Ann\n', { mapped: ['[[id]]'] });
  expect(headers).toEqual(['[[id]]', 'name']);
});
