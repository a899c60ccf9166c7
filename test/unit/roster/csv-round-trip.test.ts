import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EncodingLabel } from '../../../src/roster/csv/encodings.js';
import { isFullSize } from '../../helpers/figures.js';
import { countUnexplained, readCsv } from './open-csv.js';

const letters = { unicode: ['a', 'Å', '李', 'ع', '𐐷', '0', "'", '-'], western: ['a', 'Å', 'é', 'ß', '0', "'", '-'] };
const signs = ['"', ',', ';', '\t', '|', ' ', ':'];
const lineEnds = ['\n', '\r\n', '\r'];

/** How a file is written. */
const dialects = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|', ':'),
  record_delimiter: fc.constantFrom(...lineEnds),
  quoted: fc.boolean(),
  quoted_empty: fc.boolean(),
  eof: fc.boolean(),
  bom: fc.boolean(),
  encoding: fc.constantFrom<EncodingLabel>('utf-8', 'utf-16le', 'utf-16be', 'iso-8859-1'),
  isDeclared: fc.boolean(),
  gzip: fc.boolean(),
  header: fc.boolean(),
});
type Dialect = typeof dialects extends fc.Arbitrary<infer T> ? T : never;

const headers = ['ref', 'note', 'full name', 'other', 'empty'];

function toText(parts: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => chosen.join(''));
}

/** A dialect and rows that its encoding can hold; notes may have lines of their own, the other fields delimiters. */
function writings(noteSigns: readonly string[]): fc.Arbitrary<{ dialect: Dialect; rows: string[][] }> {
  return dialects.chain((dialect) => {
    const alphabet = letters[dialect.encoding === 'iso-8859-1' ? 'western' : 'unicode'];
    const field = toText([...alphabet, ...signs]);
    const note = toText([...alphabet, ...noteSigns]);
    const row = fc.tuple(note, field, field, fc.constantFrom('', ' '));
    // csv-stringify quotes a field for the line end of its own dialect only.
    const toEnd = (end: string) => (dialect.quoted ? end : dialect.record_delimiter);
    return fc.array(row, { minLength: 1, maxLength: 20 }).map((drafts) => ({
      dialect,
      rows: drafts.map(([first, ...others], index) => [
        `C-${index}`,
        first.replaceAll(/\r\n|\r|\n/g, toEnd),
        ...others,
      ]),
    }));
  });
}

function write({ dialect, rows }: { dialect: Dialect; rows: readonly (readonly string[])[] }): Buffer {
  const { encoding, header, gzip, bom, isDeclared: _, ...options } = dialect;
  const mark = bom && encoding !== 'iso-8859-1' ? '\ufeff' : '';
  const text = mark + stringify([...(header ? [headers] : []), ...rows.map((row) => [...row])], options);
  const bytes = Buffer.from(text, encoding === 'utf-8' ? 'utf8' : encoding === 'iso-8859-1' ? 'latin1' : 'utf16le');
  const written = encoding === 'utf-16be' ? bytes.swap16() : bytes;
  return gzip ? gzipSync(written, { level: 1 }) : written;
}

/** What the reader is told: the delimiter where it is none of the four, the encoding where nothing in the file shows it. */
function read(dialect: Dialect, content: Buffer) {
  const { delimiter, encoding, header, bom, isDeclared } = dialect;
  const isKnown = encoding === 'utf-8' || (bom && encoding !== 'iso-8859-1');
  return readCsv(content, {
    delimiter: delimiter === ':' || !header || isDeclared ? delimiter : 'auto',
    encoding: isKnown && !isDeclared ? 'auto' : encoding,
    header,
    mapped: headers,
  });
}

test('what csv-stringify writes in any dialect and encoding is read back exactly', async () => {
  await fc.assert(
    fc.asyncProperty(writings(['"', ' ', ...lineEnds]), async ({ dialect, rows }) => {
      const { records, tally, headers: found } = await read(dialect, write({ dialect, rows }));
      expect(found).toEqual(dialect.header ? headers : ['1', '2', '3', '4', '5']);
      expect(records.map(({ fields }) => fields)).toEqual(rows);
      expect(records.every(({ fault }) => fault === null)).toBe(true);
      expect(countUnexplained(tally)).toBe(0);
    }),
    { numRuns: isFullSize ? 200 : 60 },
  );
});

test('lines with delimiters in a field of several lines are read back exactly or refused, and never cost another row', async () => {
  let refused = 0;
  let total = 0;
  await fc.assert(
    fc.asyncProperty(writings(['"', ...signs, ...lineEnds, '\n']), async ({ dialect: any, rows }) => {
      const dialect = { ...any, header: true };
      const { records, tally } = await read(dialect, write({ dialect, rows }));
      const sound = records.filter(({ fault }) => fault === null).map(({ fields }) => JSON.stringify(fields));
      const written = new Set(rows.map((row) => JSON.stringify(row)));
      for (const row of rows) {
        const isRead = sound.includes(JSON.stringify(row));
        if (!/[\r\n]/.test(row.join(''))) expect(isRead).toBe(true);
        total += 1;
        refused += isRead ? 0 : 1;
      }
      // A line within a note may itself read as a row; nothing that was read joins two rows.
      for (const fields of sound) expect(written.has(fields) || !/"C-\d+".*"?C-\d/.test(fields)).toBe(true);
      expect(countUnexplained(tally)).toBe(0);
    }),
    { numRuns: isFullSize ? 100 : 40 },
  );
  expect(refused / total).toBeLessThan(0.05);
});

test('stray quotes anywhere cost at most their own lines', async () => {
  const strays = fc.array(fc.tuple(fc.nat(9), fc.nat(200)), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(strays, fc.boolean(), async (places, quoted) => {
      const rows = Array.from({ length: 10 }, (_, index) => [`id${index}`, 'a note', `Name ${index}`, 'x, y', 'z']);
      const lines = stringify([headers, ...rows], { quoted })
        .trimEnd()
        .split('\n');
      for (const [at, place] of places) {
        const line = lines[at + 1] ?? '';
        const cut = place % (line.length + 1);
        lines[at + 1] = `${line.slice(0, cut)}"${line.slice(cut)}`;
      }
      const touched = new Set(places.map(([at]) => at));
      const { records, tally } = await readCsv(`${lines.join('\n')}\n`);
      for (const [index, row] of rows.entries()) {
        if (!touched.has(index)) {
          expect(records).toContainEqual({ line: index + 2, file: null, fields: row, fault: null });
        }
      }
      // Every line begins a row of its own: no reading of quotes joined two of them.
      expect(records).toHaveLength(10);
      expect(tally).toEqual({ lines: 11, headers: 1, blanks: 0, continuations: 0, records: 10 });
    }),
    { numRuns: isFullSize ? 250 : 60 },
  );
});
