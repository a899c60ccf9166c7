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
    expect(message).toMatch(/line 3 is not utf-8 \(byte 22 of the file\)\. A character there has a form/);
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

describe('a delimiter at the end of rows, which the header has not', () => {
  const header = 'id;name;note';
  const read = async (rows: readonly string[], options = {}) => {
    const { headers, records, tally } = await readCsv([header, ...rows, ''].join('\r\n'), options);
    expect(countUnexplained(tally)).toBe(0);
    expect(headers).toEqual(header.split(';'));
    return summariseRecords(records);
  };
  const commas = (rows: readonly string[]): Promise<string[]> =>
    readCsv([header, ...rows].join('\n').replaceAll(';', ',')).then(({ records }) => summariseRecords(records));

  it('is understood, quotes and lines that go on included', async () => {
    expect(await read(['1;Ann;x;', '2;"Bo;";;', '', '3;"C\r\nD"; y ;'])).toEqual([
      '2 1|Ann|x',
      '3 2|Bo;|',
      '5 3|C\r\nD| y ',
    ]);
    expect(await read(['1;Ann;;'])).toEqual(['2 1|Ann|']);
    expect(await read(['1;Ann;x; '])).toEqual(['2 1|Ann|x']);
    expect(await commas(['1,Ann,x,', '2,Bo,,'])).toEqual(['2 1|Ann|x', '3 2|Bo|']);
  });

  it('may be missing in a row that is whole without it, and hides no field too many or too few', async () => {
    const sound = Array.from({ length: 60 }, (_, index) => `${index};Ann;;`);
    const rows = await read([...sound, '60;Bo;x', '61;Bo;', '62;Bo;x;y', '63;Bo;x;;', '64;Bo']);
    expect(rows.slice(0, 60).every((row) => row.endsWith('|Ann|'))).toBe(true);
    expect(rows.slice(60)).toEqual(['62 60|Bo|x', ...[63, 64, 65, 66].map((line) => `${line} wrong_column_count`)]);
  });

  it('is none where only some rows have it, or where the comma may be that of a name', async () => {
    expect(await read(['1;Ann;x', '2;Bo;y;', '3;Cy;z'])).toEqual(['2 1|Ann|x', '3 wrong_column_count', '4 3|Cy|z']);
    expect(await commas(['1,Lee,Ann,'])).toEqual(['2 wrong_column_count']);
    expect(await commas(['1,Lee, Ann,', '2,Ek, Bo,'])).toEqual(['2 wrong_column_count', '3 wrong_column_count']);
    const spaced = await readCsv('id, name, note\n1, Ann, x,\n2, Bo, y,\n');
    expect(summariseRecords(spaced.records)).toEqual(['2 1| Ann| x', '3 2| Bo| y']);
  });
});
