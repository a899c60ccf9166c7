import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EncodingLabel } from '../../../src/roster/csv/encodings.js';
import type { LineTally } from '../../../src/roster/table-reading.js';
import { collectTable, failCsv, openCsv } from '../../unit/roster/open-csv.js';

const data = process.env['NIGHTSCREEN_TEST_DATA'];
const folder = join(data ?? '', 'csv');
const title = data === undefined ? ' (skipped: NIGHTSCREEN_TEST_DATA names no folder)' : '';

/** A file's reading, written down by hand: its columns, its records (those at fault with the word for it first), its lines. */
interface Reading {
  header?: boolean;
  encoding?: EncodingLabel;
  headers: string[];
  records: string[][];
  /** Lines, header lines, blank lines, continuation lines. */
  tally: [number, number, number, number];
}

const simple: Reading = { headers: ['a', 'b', 'c'], records: [['1', '2', '3']], tally: [2, 1, 0, 0] };
const phonetic: Reading = {
  headers: ['a', 'b', 'c'],
  records: [
    ['1', '2', '3'],
    ['4', '5', 'ʤ'],
  ],
  tally: [3, 1, 0, 0],
};

const readings: Readonly<Record<string, Reading>> = {
  'csvkit/bad.csv': {
    headers: ['column_a', 'column_b', 'column_c'],
    records: [
      ['wrong_column_count', '1', '27', '', "I'm too long!"],
      ['wrong_column_count', '', "I'm too short!"],
      ['0', 'mixed types.... uh oh', '17'],
    ],
    tally: [4, 1, 0, 0],
  },
  'csvkit/blanks.csv': {
    headers: ['a', 'b', 'c', 'd', 'e', 'f'],
    records: [['', 'NA', 'N/A', 'NONE', 'NULL', '.']],
    tally: [2, 1, 0, 0],
  },
  'csvkit/mac_newlines.csv': {
    headers: ['a', 'b', 'c'],
    records: [
      ['1', '2', '3'],
      ['Once upon\ra time', '5', '6'],
    ],
    tally: [4, 1, 0, 1],
  },
  'csvkit/no_header_row.csv': {
    header: false,
    headers: ['1', '2', '3'],
    records: [['1', '2', '3']],
    tally: [1, 0, 0, 0],
  },
  'csvkit/null_byte.csv': { ...simple, records: [['\0', '2', '3']] },
  // Each LF and CR ends a physical line.
  'csvkit/test_header_newline.csv': {
    headers: ['start \t\n\v\f\r end', 'b', 'c'],
    records: [['d', 'e', 'f']],
    tally: [8, 7, 0, 0],
  },
  'csvkit/test_latin1.csv': {
    ...phonetic,
    encoding: 'iso-8859-1',
    records: [
      ['1', '2', '3'],
      ['4', '5', '©'],
    ],
  },
  'csvkit/test_utf16_big.csv': phonetic,
  'csvkit/test_utf8_bom.csv': { ...phonetic, headers: ['foo', 'bar', 'baz'] },
  'node-csv/327.cws.buf.csv': {
    headers: ['field1', 'field2'],
    records: [['Acentuação1', 'acentuação2']],
    tally: [2, 1, 0, 0],
  },
  'node-csv/327.cws.csv': {
    encoding: 'windows-1252',
    headers: ['field1', 'field2'],
    records: [['Acentuação1', 'acentuação2']],
    tally: [2, 1, 0, 0],
  },
  'node-csv/365-utf16le-bom-windows.csv': simple,
  'node-csv/365-utf8-bom-windows.csv': simple,
  // One column that has no name.
  'node-csv/411.csv': {
    headers: ['id', 'first_name', 'last_name', 'email', 'modified_at'],
    records: [
      ['1', 'Ring', 'Grinyov', 'rgrinyov0@weebly.com', '2022-02-14'],
      ['wrong_column_count', '2', 'Kylie', 'Lauderdale', 'klauderdale1@wsj.com', '2022-02-14', ''],
      ['3', 'Cammi', 'Bendix', 'cbendix2@tuttocitta.it', '2022-02-14'],
    ],
    tally: [4, 1, 0, 0],
  },
};

function toTally([lines, headers, blanks, continuations]: Reading['tally']): LineTally {
  return { lines, headers, blanks, continuations, records: lines - headers - blanks - continuations };
}

test.skipIf(data === undefined).each(Object.entries(readings))(
  `%s is read as it was read by hand${title}`,
  async (file, { headers, records, tally, ...options }) => {
    const content = await collectTable(await openCsv(join(folder, file), options));
    expect(content.headers).toEqual(headers);
    expect(content.records.map(({ fields, fault }) => [...(fault === null ? [] : [fault]), ...fields])).toEqual(
      records,
    );
    expect(content.tally).toEqual(toTally(tally));
  },
);

test.skipIf(data === undefined)(`csv-spectrum is read as its answers say${title}`, async () => {
  const names = await readdir(join(folder, 'csv-spectrum/csvs'));
  // Its answer is about another file, and its quotes stand within fields.
  const answered = names.filter((name) => name !== 'location_coordinates.csv');
  expect(answered).toHaveLength(11);
  for (const name of answered) {
    const { headers, records } = await collectTable(await openCsv(join(folder, 'csv-spectrum/csvs', name)));
    const answer: unknown = JSON.parse(
      await readFile(join(folder, 'csv-spectrum/json', name.replace(/csv$/, 'json')), 'utf8'),
    );
    const read = records.map(({ fields }) => Object.fromEntries(headers.map((header, at) => [header, fields[at]])));
    expect({ name, read }).toEqual({ name, read: answer });
    expect(records.every(({ fault }) => fault === null)).toBe(true);
  }
});

test.skipIf(data === undefined)(`a quote within a field costs its line, whose fields are kept${title}`, async () => {
  const path = join(folder, 'csv-spectrum/csvs/location_coordinates.csv');
  const { records } = await collectTable(await openCsv(path));
  expect(records).toMatchObject([
    { line: 2, fault: 'malformed_csv', fields: ['2095257564', expect.stringContaining('"N'), 'Modesto', 'Stanislaus'] },
  ]);
});

test.skipIf(data === undefined)(`135 rows on 495 lines are read, each with its 11 columns${title}`, async () => {
  const { headers, records, tally } = await collectTable(await openCsv(join(folder, 'node-csv/265.tubs.csv')));
  expect(headers).toHaveLength(11);
  expect(records.filter(({ fault }) => fault !== null)).toEqual([]);
  const letters = [headers, ...records.map(({ fields }) => fields)].flat().join('');
  // As Python's csv counts them.
  expect([...letters]).toHaveLength(84_174);
  expect(tally).toEqual({ lines: 496, headers: 1, blanks: 0, continuations: 360, records: 135 });
});

test.skipIf(data === undefined)(`a table under 49 lines of remarks loses none of its lines${title}`, async () => {
  const { headers, records, tally } = await collectTable(await openCsv(join(folder, 'node-csv/415.csv')));
  expect(headers).toEqual(['# ================================']);
  expect(records).toHaveLength(301);
  expect(tally).toMatchObject({ lines: 302, headers: 1, blanks: 0, continuations: 0 });
});

test.skipIf(data === undefined).each([
  ['csvkit/test_latin1.csv', 'line 3 is not utf-8 (byte 17'],
  ['node-csv/327.cws.csv', 'line 2 is not utf-8 (byte 22'],
])(`%s is refused with line, byte and an encoding to declare${title}`, async (file, where) => {
  const error = await failCsv(openCsv(join(folder, file)));
  expect(error).toMatchObject({ code: 'encoding', message: expect.stringContaining(where) });
  expect(error.message).toContain('`encoding: windows-1252`');
});

/** Lines without any value count as blank. */
const blankBelowHeader = ['csvkit/test_empty_columns_long_row.csv', 'node-csv/399.csv'];

test.skipIf(data === undefined).each(['csvkit/no_header_row.csv', ...blankBelowHeader])(
  `%s has no row beside its header, and is refused${title}`,
  async (file) => {
    expect((await failCsv(openCsv(join(folder, file)))).code).toBe('roster_empty');
  },
);

test.skipIf(data === undefined)(`no file of the folder is left out${title}`, async () => {
  const named = [...Object.keys(readings), ...blankBelowHeader, 'node-csv/265.tubs.csv', 'node-csv/415.csv'];
  const found = await Promise.all(
    ['csvkit', 'node-csv'].map(async (each) => (await readdir(join(folder, each))).map((name) => `${each}/${name}`)),
  );
  expect(found.flat().sort()).toEqual(named.sort());
});
