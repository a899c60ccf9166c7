import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleProgram, type Program } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import type { WideImport, WideImportReport } from './import-wide-program.js';

const source = testDatabases('postgres');
const targets = { postgres: testDatabases('postgres'), embedded: testDatabases('embedded') } as const;

let program: Program;
beforeAll(async () => {
  program = await bundleProgram(new URL('import-wide-program.ts', import.meta.url));
});
afterAll(() => program.remove());

const notes = (rows: number, count: number, width: number): string => {
  const columns = Array.from({ length: count }, (_, at) => `repeat('x', ${width}) as note_${at}`);
  return `select i as id, 'Name ' || i as name, ${columns.join(', ')} from generate_series(1, ${rows}) as i`;
};
const whats = ['accepted rows of 320 KB', 'rejected rows of 48 KB'] as const;
const queries: Readonly<Record<(typeof whats)[number], string>> = {
  'accepted rows of 320 KB': notes(1_500, 40, 8_000),
  // A name of that length rejects its row.
  'rejected rows of 48 KB': `select 0 as id, 'Zero' as name union all
    select i, repeat('x', 48000) from generate_series(1, 10000) as i`,
};

// For CI each kind of row once: what is read is the same whatever database it is imported into.
const imports = (['postgres', 'embedded'] as const).flatMap((dialect) =>
  whats.filter(() => isFullSize || dialect === 'postgres').map((what) => ({ dialect, what })),
);

describe('an import of half a gigabyte of wide rows', () => {
  it.each(imports)(
    'of $what adds less than 300 MB to what the process holds ($dialect)',
    async ({ dialect, what }) => {
      const order: WideImport = {
        location: await targets[dialect].locate(),
        sourceUrl: (await source.locateEmpty()).url ?? '',
        query: queries[what],
        columns: { id: 'id', name: 'name', type: { value: 'person' } },
      };
      const { stdout } = await promisify(execFile)(process.execPath, [program.path, JSON.stringify(order)]);
      const { error, beforeBytes, peakBytes }: WideImportReport = JSON.parse(stdout);
      printFigure(
        `${what}, ${dialect}: ${Math.round(beforeBytes / 1e6)} MB before, ${Math.round(peakBytes / 1e6)} MB at most`,
      );
      expect(error).toBeNull();
      expect(peakBytes - beforeBytes).toBeLessThan(300e6);
    },
    300_000,
  );
});
