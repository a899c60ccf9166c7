import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { openCsvTable } from '../../src/roster/csv/csv-table.js';

const run = promisify(execFile);
const isInstalled = await run('soffice', ['--version']).then(
  () => true,
  () => false,
);

it.skipIf(!isInstalled)(
  'a CSV file that LibreOffice saves as a workbook has the same rows, with days and zeros',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-office-'));
    const rows = [
      'customer_id,name,birth_date,note',
      '007,Anna Müller,1980-05-17,',
      '008,"Acme, Ltd",,"two\nlines"',
      '12345678901,Björk <B> & Co,1899-12-31,x',
      '1200,Ivan Petrov,2026-02-03,',
    ];
    await writeFile(join(folder, 'kunden.csv'), rows.join('\n'));
    // Commas, quotes, UTF-8, the header is line 1, and the first column is text.
    const filter = '--infilter=CSV:44,34,76,1,1/2';
    const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
    await run('soffice', [profile, '--headless', filter, '--convert-to', 'xlsx', join(folder, 'kunden.csv')], {
      cwd: folder,
    });
    const read = async (file: string): Promise<readonly (readonly string[])[]> => {
      const source = { path: join(folder, file), delimiter: 'auto', encoding: 'auto', header: true } as const;
      const { records, headers } = await openCsvTable(source, () => true);
      const found = [headers];
      for await (const batch of records) found.push(...batch.map(({ fields }) => fields));
      return found;
    };
    expect(await read('kunden.xlsx')).toEqual(await read('kunden.csv'));
  },
);
