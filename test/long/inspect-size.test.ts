import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { inspectFile } from '../../src/roster/inspect/inspect-file.js';
import { printFigure } from '../helpers/figures.js';

const [rowCount, columnCount] = [100_000, 40];

const cells: readonly (readonly [header: string, write: (row: number) => string])[] = [
  ['customer_id', (row) => String(100_000 + row)],
  ['first_name', (row) => ['Ann', 'Jörg', 'Søren', 'Grace'][row % 4] ?? ''],
  ['last_name', (row) => `Lee${'abcdefghij'[row % 10]}${'klmnop'[row % 6]}`],
  ['birth_date', (row) => `19${30 + (row % 60)}-0${1 + (row % 9)}-1${row % 9}`],
  ['country', (row) => ['DK', 'DE', 'GB'][row % 3] ?? ''],
  ['opened', (row) => `201${row % 9}-0${1 + (row % 9)}-1${row % 9}`],
  ['email', (row) => `u${row}@mail.example`],
  ['phone', (row) => `+45 ${10 + (row % 80)} 22 33 44`],
  ['remark', (row) => (row % 17 === 0 ? 'called back later and asked for papers' : '')],
  ['amount', (row) => `${row % 9_000}.50`],
];

function* writeLines(): Generator<string> {
  const at = (column: number) => cells[column % cells.length];
  const columns = Array.from({ length: columnCount }, (_, column) => column);
  yield `${columns.map((column) => (column < cells.length ? at(column)?.[0] : `old_${at(column)?.[0]}_${column}`)).join(',')}\n`;
  for (let row = 0; row < rowCount; row += 1) yield `${columns.map((column) => at(column)?.[1](row)).join(',')}\n`;
}

it('100,000 rows of 40 columns are inspected to their end within 3 s of a processor', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-inspect-size-'));
  const path = join(folder, 'wide.csv');
  await pipeline(Readable.from(writeLines()), createWriteStream(path));
  const [begun, begunMs] = [process.cpuUsage(), performance.now()];
  const { counts, guess } = await inspectFile({ path, name: 'wide' });
  const { user, system } = process.cpuUsage(begun);
  const cpuMs = (user + system) / 1_000;
  await rm(folder, { recursive: true });
  printFigure(
    `roster inspect of ${rowCount} rows x ${columnCount} columns: ${Math.round(performance.now() - begunMs)} ms, ${Math.round(cpuMs)} ms of a processor`,
  );
  expect(counts.customers).toBe(rowCount);
  expect(guess.columns).toMatchObject({
    id: 'customer_id',
    name: ['first_name', 'last_name'],
    birthDate: 'birth_date',
  });
  expect(cpuMs).toBeLessThan(6_000);
});
