import { describe, expect, it } from 'vitest';
import { RosterError } from '../../../src/errors.js';
import { openCsvTable } from '../../../src/roster/csv/csv-table.js';
import { countUnexplained, failCsv, openCsv, readCsv, summariseRecords, withFiles } from './open-csv.js';

describe('a first line that names the delimiter', () => {
  it.each([
    ['sep=;', ';'],
    ['SEP=|', '|'],
    ['"sep=;"', ';'],
    ['sep=\t', '\t'],
    ['sep=^', '^'],
    ['sep=;;;', ';'],
  ])('is followed, skipped and counted: %j', async (hint, delimiter) => {
    const lines = [hint, `id${delimiter}name`, `1${delimiter}Lee, Ann`, `2${delimiter}Ek`, ''];
    for (const ending of ['\n', '\r\n']) {
      const { headers, records, tally } = await readCsv(`\ufeff${lines.join(ending)}`);
      expect(headers).toEqual(['id', 'name']);
      expect(summariseRecords(records)).toEqual(['3 1|Lee, Ann', '4 2|Ek']);
      expect(tally).toMatchObject({ lines: 4, headers: 2, records: 2 });
      expect(countUnexplained(tally)).toBe(0);
    }
  });

  it('is one also in UTF-16, without a header, and before each of several files', async () => {
    const { records } = await readCsv(Buffer.from('\ufeffsep=;\n1;Ann, Lee\n', 'utf16le'), { header: false });
    expect(summariseRecords(records)).toEqual(['2 1|Ann, Lee']);
    const files = { 'a.csv': 'sep=;\nid;name\n1;Ann\n', 'b.csv': 'sep=|\nid|name\n2|Bo\n' };
    await withFiles(files, async (folder) => {
      const table = await openCsv(`${folder}/*.csv`);
      const rows = [];
      for await (const batch of table.records) rows.push(...batch);
      expect(summariseRecords(rows)).toEqual(['3 1|Ann', '3 2|Bo']);
    });
  });

  it('is none where it says more, or where the delimiter is declared otherwise', async () => {
    expect((await readCsv('sep=a,b\n1,2\n')).headers).toEqual(['sep=a', 'b']);
    const { headers } = await readCsv('sep=;\nid,name\n1,Ann\n', { delimiter: ',' });
    expect(headers).toEqual(['id', 'name']);
    expect((await failCsv(readCsv('sep=;\n'))).code).toBe('roster_empty');
  });
});

describe('characters in forms that UTF-8 forbids', () => {
  it.each([
    [[0xc0, 0x80], 'NUL in two bytes'],
    [[0xed, 0xa0, 0x80], 'half a pair'],
  ])('are no other encoding: line and byte are named, and no likely one (%#)', async (bytes) => {
    const content = Buffer.concat([Buffer.from('id,name\n1,Ann\n2,Zoë '), Buffer.from(bytes), Buffer.from('\n')]);
    const { message } = await failCsv(readCsv(content));
    expect(message).toMatch(/line 3 is not utf-8 \(byte 22 of the file\)\. A character is written there in a form/);
    expect(message).not.toMatch(/looks like|macintosh/);
  });

  it('hide no other encoding beside them', async () => {
    const content = Buffer.concat([
      Buffer.from('id,name\n1,Jos\xe9 Mu\xf1oz\n2,', 'latin1'),
      Buffer.from([0xc0, 0x80, 0x0a]),
    ]);
    expect((await failCsv(readCsv(content))).message).not.toContain('forbids');
  });
});

describe('a file with a header alone', () => {
  it('is refused unless its reader lets it pass, and then adds up', async () => {
    await withFiles({ 'p.csv': 'customer_id,role,name\n', 'empty.csv': '' }, async (folder) => {
      const source = { path: `${folder}/p.csv`, delimiter: 'auto', encoding: 'auto', header: true } as const;
      await expect(openCsvTable(source, () => true)).rejects.toMatchObject({ code: 'roster_empty' });
      const table = await openCsvTable(source, () => true, true);
      for await (const batch of table.records) throw new Error(`${batch.length} records of nothing`);
      expect(table.tally()).toMatchObject({ lines: 1, headers: 1, records: 0 });
      expect(table.digest()).toMatch(/^[0-9a-f]{64}$/);
      const empty = { ...source, path: `${folder}/empty.csv` };
      await expect(openCsvTable(empty, () => true, true)).rejects.toBeInstanceOf(RosterError);
    });
  });
});
