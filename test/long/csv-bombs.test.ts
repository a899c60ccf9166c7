import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleProgram, type Program } from '../helpers/cli-process.js';
import { printFigure, takeLeast } from '../helpers/figures.js';
import { makeWorkbook, toRows } from '../helpers/make-workbook.js';
import type { CsvReport } from '../integration/roster/read-csv-program.js';

const mega = 1024 * 1024;
const giga = 1024 * mega;
const mostMilliseconds = 2_000;
const mostBytes = 64 * mega;
const header = 'customer_id,type,name\n';

let program: Program;
let folder: string;
beforeAll(async () => {
  program = await bundleProgram(new URL('../integration/roster/read-csv-program.ts', import.meta.url));
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-bombs-'));
});
afterAll(async () => {
  await program.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Reads in a process of its own; `feed` writes its standard input. */
async function read(path: string, feed?: (input: Writable) => Promise<void>): Promise<CsvReport> {
  const child = spawn(process.execPath, [program.path, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  // The reader goes away before all is written.
  child.stdin.on('error', () => undefined);
  const fed = feed === undefined ? child.stdin.end() : feed(child.stdin);
  const [output] = await Promise.all([child.stdout.toArray(), once(child, 'close'), fed]);
  const report: CsvReport = JSON.parse(Buffer.concat(output).toString());
  return report;
}

/** Asserts a refusal within the promised time and memory, and prints both. It is work, so the time is a processor's: the least of three. */
async function expectRefused(readOnce: () => Promise<CsvReport>, code: string, what: string): Promise<void> {
  const leastMs = await takeLeast(mostMilliseconds, async () => {
    const report = await readOnce();
    const { milliseconds, cpuMilliseconds } = report;
    const reported = `${Math.round(milliseconds)} ms, ${Math.round(cpuMilliseconds)} ms of a processor, ${Math.round(report.addedBytes / mega)} MB`;
    expect({ what, code: report.code, message: report.message }).toMatchObject({ what, code });
    printFigure(`${what}: refused as ${code} in ${reported}`);
    expect(report.addedBytes).toBeLessThan(mostBytes);
    return cpuMilliseconds;
  });
  expect(leastMs).toBeLessThan(mostMilliseconds);
}

/** A file that ends in zeros which take no room on the disk. */
async function writeSparse(name: string, start: string, size: number): Promise<string> {
  const path = join(folder, name);
  const file = await open(path, 'w');
  await file.write(start);
  await file.truncate(size);
  await file.close();
  return path;
}

async function writePacked(name: string, parts: Iterable<string>): Promise<string> {
  const path = join(folder, name);
  await pipeline(Readable.from(parts), createGzip({ level: 6 }), createWriteStream(path));
  return path;
}

function* repeat(start: string, part: string, bytes: number): Generator<string> {
  yield start;
  const block = part.repeat(Math.ceil(mega / part.length));
  for (let written = 0; written < bytes; written += block.length) yield block;
}

test('a quoted field of 1 GB is refused within 2 s and 64 MB', async () => {
  const path = await writeSparse('field.csv', `${header}1,person,"A`, giga);
  await expectRefused(() => read(path), 'line_too_long', 'a field of 1 GB');
});

test('a quoted field of 1 GB of short lines is refused within 2 s and 64 MB', async () => {
  const feed = (input: Writable) => pipe(input, repeat(`${header}1,person,"A\n`, 'and so on, and on\n', giga));
  await expectRefused(() => read('-', feed), 'not_a_table', 'a field of 1 GB of lines');
});

test.each([
  ['a line', `${header}1,person,`, 'A'],
  ['a header', 'a', 'b'],
  ['a line of delimiters', header, ','],
  ['a line of quotes', header, '"'],
])('%s that never ends is refused within 2 s and 64 MB', async (what, start, part) => {
  await expectRefused(
    () => read('-', (input) => pipe(input, repeat(start, part, giga))),
    'line_too_long',
    `${what} without end`,
  );
});

test('blank lines without end are refused within 2 s and 64 MB', async () => {
  for (const start of ['', `${header}1,person,A\n`]) {
    const readOnce = () => read('-', (input) => pipe(input, repeat(start, '\n', giga)));
    await expectRefused(readOnce, 'not_a_table', 'blank lines without end');
  }
});

test('gzip data that unpack to a thousand times their size are refused within 2 s and 64 MB', async () => {
  const rows = await writePacked('rows.csv.gz', repeat(header, '1,person,A\n', 128 * mega));
  await expectRefused(() => read(rows), 'gzip_bomb', 'rows packed 1:1000');
  const zeros = await writePacked('zeros.csv.gz', repeat(`${header}1,person,`, '\0', 64 * mega));
  await expectRefused(() => read(zeros), 'line_too_long', 'zeros packed 1:1000');
});

test('gzip data that begin like a roster and then unpack to a thousand times their size are refused', async () => {
  const start = Array.from({ length: 300_000 }, (_, index) => `${index * 7_919},person,Name ${index}\n`).join('');
  const path = await writePacked('late.csv.gz', repeat(header + start, '1,person,A\n', 128 * mega));
  await expectRefused(() => read(path), 'gzip_bomb', 'rows packed 1:1000 behind 300,000 others');
});

test('workbooks that unpack to a thousand times their size, or to endless texts, are refused', async () => {
  const sheets = { A: toRows([['customer_id', 'name']]) };
  const sheet = `<worksheet>${'<row><c><v>1</v></c></row>'.repeat(2 * mega)}</worksheet>`;
  const texts = `<sst>${Array.from({ length: 4 * mega }, (_, at) => `<si><t>Name ${at * 7_919} of many</t></si>`).join('')}</sst>`;
  const row = `<worksheet><row><c t="str"><v>${Array.from({ length: mega }, (_, at) => at * 7_919).join(' ')}`;
  for (const [name, part, text, code] of [
    ['sheet', 'xl/worksheets/sheet1.xml', sheet, 'workbook_too_large'],
    ['texts', 'xl/sharedStrings.xml', texts, 'workbook_too_large'],
    ['row', 'xl/worksheets/sheet1.xml', row, 'workbook_unreadable'],
  ] as const) {
    const path = join(folder, `${name}.xlsx`);
    await writeFile(path, await makeWorkbook({ sheets, parts: { [part]: text } }));
    await expectRefused(() => read(path), code, `a workbook with too large a ${name}`);
  }
});

test('a workbook of 100,000 rows is read to its end in little memory', async () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => [String(at), `Name ${(at * 7_919) % 100_003}`, '1980-05-17']);
  const path = join(folder, 'large.xlsx');
  await writeFile(path, await makeWorkbook({ sheets: { A: toRows([['customer_id', 'name', 'born'], ...rows]) } }));
  const report = await read(path);
  expect(report).toMatchObject({ code: null, tally: { lines: 100_001, records: 100_000 } });
  printFigure(
    `100,000 rows of a workbook: ${Math.round(report.cpuMilliseconds)} ms of CPU, ${Math.round(report.addedBytes / mega)} MB`,
  );
  expect(report.addedBytes).toBeLessThan(3 * mostBytes);
});

test('a roster that packs well is read to its end in little memory', async () => {
  const rowCount = 1_000_000;
  const packed = await writePacked('well.csv.gz', listRows(rowCount));
  const report = await read(packed);
  expect(report).toMatchObject({ code: null, tally: { lines: rowCount + 1, headers: 1, records: rowCount } });
  printFigure(
    `${rowCount} rows packed well: read in ${Math.round(report.cpuMilliseconds)} ms of CPU, ${Math.round(report.addedBytes / mega)} MB`,
  );
  expect(report.addedBytes).toBeLessThan(2 * mostBytes);
});

test('standard input is read like a file', async () => {
  const report = await read('-', (input) => pipe(input, listRows(20_000)));
  expect(report).toMatchObject({ code: null, tally: { lines: 20_001, records: 20_000 } });
});

test('a small file is not refused for being packed well', async () => {
  const path = join(folder, 'small.csv');
  await writeFile(path, `${header}${'1,person,A\n'.repeat(5_000)}`);
  expect(await read(path)).toMatchObject({ code: null, tally: { records: 5_000 } });
});

function* listRows(count: number): Generator<string> {
  yield header;
  for (let start = 0; start < count; start += 1_000) {
    let text = '';
    for (let index = start; index < start + 1_000; index += 1) text += `${index},person,A Name That Is The Same\n`;
    yield text;
  }
}

async function pipe(input: Writable, parts: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(parts), input).catch(() => undefined);
}
