import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { onlyRejected, readText, summarise } from './read-text.js';

const word = fc
  .array(fc.constantFrom('a', 'Å', '李', 'ع', '0', '"', ',', ';', '|', ' ', "'", '-', '𐐷'), { maxLength: 8 })
  .map((parts) => parts.join('').trim());
const note = fc
  .array(fc.constantFrom('a', '"', ',', ';', '|', '\t', ' ', '\n', '\r\n', '\r', '李'), { maxLength: 10 })
  .map((parts) => parts.join(''));
const dialect = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|', ':'),
  record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
  quoted: fc.boolean(),
  bom: fc.boolean(),
});
const headers = ['ref', 'note', 'full name', 'other', 'empty'];
const columns = { id: 'ref', name: 'full name', type: { value: 'entity' } };

function write(rows: readonly (readonly string[])[], options: object): string {
  return stringify([headers, ...rows.map((row) => [...row])], { eof: true, ...options });
}

test('what csv-stringify writes in any dialect is read back equal', async () => {
  const row = fc
    .tuple(word, word, word, word)
    .map(([id, text, name, other]) => [`i${id}`, text, `n${name}`, other, '']);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), dialect, async (rows, options) => {
      const delimiter = options.delimiter === ':' ? ':' : 'auto';
      const read = await readText(write(rows, options), { columns, delimiter });
      expect(
        read.map((each) => each.kind === 'customer' && [each.customer.reference, each.customer.parties[0].name]),
      ).toEqual(rows.map(([id, , name]) => [id, name]));
    }),
    { numRuns: 150 },
  );
});

test('fields are kept equal in a row that is rejected', async () => {
  const row = fc.tuple(word, word).map(([text, other]) => ['', text, 'name', other, '']);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 10 }), dialect, async (rows, options) => {
      const delimiter = options.delimiter === ':' ? ':' : 'auto';
      const read = onlyRejected(await readText(write(rows, options), { columns, delimiter }));
      expect(read.map((each) => headers.map((header) => each.fields[header]))).toEqual(rows);
    }),
    { numRuns: 100 },
  );
});

test('notes of any lines never cost a row that stands on a line of its own', async () => {
  const row = fc.tuple(word, fc.option(note, { nil: '' })).map(([name, text]) => ['', text, `n${name}`, '', '']);
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), dialect, async (drafts, options) => {
      const rows = drafts.map((draft, index) => [`id${index}`, ...draft.slice(1)]);
      const delimiter = options.delimiter === ':' ? ':' : 'auto';
      const read = summarise(await readText(write(rows, options), { columns, delimiter }));
      for (const [id = '', text = ''] of rows) {
        if (!/[\r\n]/.test(text)) expect(read.filter((each) => each.endsWith(` ${id}`))).toHaveLength(1);
      }
    }),
    { numRuns: 150 },
  );
});

test('stray quotes anywhere cost at most their own lines', async () => {
  const strays = fc.array(fc.tuple(fc.nat(9), fc.nat(200)), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(strays, fc.boolean(), async (places, quoted) => {
      const rows = Array.from({ length: 10 }, (_, index) => [`id${index}`, 'a note', `Name ${index}`, 'x, y', 'z']);
      const lines = write(rows, { quoted }).trimEnd().split('\n');
      for (const [at, place] of places) {
        const line = lines[at + 1] ?? '';
        const cut = place % (line.length + 1);
        lines[at + 1] = `${line.slice(0, cut)}"${line.slice(cut)}`;
      }
      const touched = new Set(places.map(([at]) => at));
      const read = summarise(await readText(lines.join('\n'), { columns }));
      for (const [index, row] of rows.entries()) {
        if (!touched.has(index)) expect(read).toContain(`${index + 2} ${row[0]}`);
      }
      // Every line begins a row of its own: no reading of quotes joined two of them.
      expect(read).toHaveLength(10);
    }),
    { numRuns: 500 },
  );
});
