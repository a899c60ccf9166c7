import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPublishedList } from '../../../src/lists/published-list.js';

const write = async (file: string, content: string | Buffer): Promise<string> => {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), file);
  await writeFile(path, content);
  return path;
};
const read = async (content: string | Buffer, file = 'list') => readPublishedList(await write(file, content));
const refusal = async (content: string | Buffer): Promise<string> =>
  read(content).then(
    () => 'was read',
    (error: Error) => error.message.replace(/^.*?\/list(?=[:\d])/, 'list'),
  );

const unList = (parties: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<CONSOLIDATED_LIST>\n<INDIVIDUALS>${parties}</INDIVIDUALS>\n<ENTITIES/>\n</CONSOLIDATED_LIST>`;
const ofacList = (entries: string, count: number): string =>
  `<?xml version="1.0"?>\n<sdnList xmlns="urn:list">\n<publshInformation><Record_Count>${count}</Record_Count></publshInformation>${entries}\n</sdnList>`;

describe('a published list', () => {
  it('as plain text has one name a line, comments and blank lines aside', async () => {
    const list = await read('\ufeff# designations\r\nMUSTER, Erika\r\n\r\n  “Der  Fuchs” \r\nИван Примеров');
    expect(list).toMatchObject({ format: 'plain_text', spellings: 3 });
    expect(list.parties.map(({ name, type }) => [name, type])).toEqual([
      ['MUSTER, Erika', null],
      ['Der Fuchs', null],
      ['Иван Примеров', null],
    ]);
  });

  it('as CSV is known by its column `name`, wherever it stands and however it is separated', async () => {
    const list = await read('Type;Note;NAME;aliases;id\nperson;x;"Muster; Erika";Erika M.;;7\n'.replace('M.;;', 'M.;'));
    expect(list.parties).toEqual([{ id: '7', type: 'person', name: 'Muster; Erika', aliases: ['Erika M.'] }]);
    expect((await read('name\nErika Muster\n')).format).toBe('csv');
    expect((await read('type,name\nvessel,NORDWIND\n')).parties).toMatchObject([{ type: 'entity', isVehicle: true }]);
  });

  it('of OFAC in CSV brings its aliases from the file beside it, persons in the order in which people write them', async () => {
    const path = await write(
      'sdn.csv',
      `7,"MUSTER, Erika","individual","X",-0- ,-0- \n8,"NORDWIND CO., LTD.",-0- ,"X",-0- ,"a.k.a. 'NWC'."\n\u001a`,
    );
    await writeFile(join(path, '../alt.csv'), '7,1,"aka","BEISPIEL, Ada",-0- \n');
    const list = await readPublishedList(path);
    expect(list.format).toBe('ofac_csv');
    expect(list.files.map(({ file }) => file)).toEqual(['sdn.csv', 'alt.csv']);
    expect(list.parties).toEqual([
      { id: '7', type: 'person', name: 'Erika MUSTER', aliases: ['Ada BEISPIEL'] },
      { id: '8', type: 'entity', name: 'NORDWIND CO., LTD.', aliases: ['NWC'] },
    ]);
  });

  it('of OFAC in XML is read entry by entry, wherever the file is cut into pieces', async () => {
    const entry = (uid: number): string =>
      `<sdnEntry><uid>${uid}</uid><firstName>Zoë &amp; Ann</firstName><lastName>MUSTER${uid}</lastName><sdnType>Individual</sdnType>` +
      `<akaList><aka><uid>1</uid><firstName>Ada</firstName><lastName>BEISPIEL</lastName></aka></akaList></sdnEntry>\n`;
    const count = 2_000;
    const list = await read(ofacList(Array.from({ length: count }, (_, uid) => entry(uid)).join(''), count));
    expect(list.format).toBe('ofac_xml');
    expect(list.parties).toHaveLength(count);
    expect(list.parties[1_234]).toEqual({
      id: '1234',
      type: 'person',
      name: 'Zoë & Ann MUSTER1234',
      aliases: ['Ada BEISPIEL'],
    });
  });

  it('of the UN gives names in all scripts', async () => {
    const party =
      '<INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>ERIKA</FIRST_NAME><SECOND_NAME>MUSTER</SECOND_NAME><THIRD_NAME/>' +
      '<NAME_ORIGINAL_SCRIPT>إريكا مستر</NAME_ORIGINAL_SCRIPT><INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY><ALIAS_NAME>Ada Beispiel</ALIAS_NAME></INDIVIDUAL_ALIAS><INDIVIDUAL_ALIAS/></INDIVIDUAL>';
    expect((await read(unList(party))).parties).toEqual([
      { id: '1', type: 'person', name: 'ERIKA MUSTER', aliases: ['إريكا مستر', 'Ada Beispiel'] },
    ]);
  });

  it.each([300, 3_000, 100_000])(
    'of the UN with %i elements in one another is refused, with its line',
    async (levels) => {
      const nested = `${'<a>'.repeat(levels)}x${'</a>'.repeat(levels)}`;
      const party = `<INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>Ada</FIRST_NAME>${nested}</INDIVIDUAL>`;
      expect(await refusal(unList(party))).toMatch(
        /^list:3: holds an element that cannot be read \(Maximum nested tags/,
      );
    },
  );

  it('in UTF-16 or another declared encoding is read as it was written', async () => {
    expect((await read(Buffer.from('\ufeffИван Примеров\n', 'utf16le'))).parties[0]?.name).toBe('Иван Примеров');
    const latin = unList('<INDIVIDUAL><DATAID>1</DATAID><FIRST_NAME>ZOË</FIRST_NAME></INDIVIDUAL>').replace(
      'UTF-8',
      'ISO-8859-1',
    );
    expect((await read(Buffer.from(latin, 'latin1'))).parties[0]?.name).toBe('ZOË');
  });

  it.each([
    ['an empty file', '', 'is empty'],
    ['white space', ' \n \n', 'nothing but white space'],
    ['a web page', '<!doctype html><html>', 'list:1: is a web page'],
    ['other XML', '<?xml version="1.0"?><rss></rss>', 'list:1: is XML of another kind'],
    ['JSON', '[{"name":"x"}]', 'list:1: is JSON'],
    ['a spreadsheet', Buffer.from([0x50, 0x4b, 0x03, 0x04, 1, 2]), 'a ZIP archive or a spreadsheet'],
    ['text that is not UTF-8', Buffer.from('Erika\nZo\xeb Muster\n', 'latin1'), 'is not in UTF-8'],
    ['a table without names', 'full_name,born,country\nA,1,x\nB,2,y\n', 'without a column "name"'],
    ['a line without a name', 'Erika\n---\nAda\n', 'list:2: holds no name'],
    ['a row without a name', 'id,name\n1,Erika\n2,\n', 'list:3: holds no name'],
    ['a type that is none', 'name,type\nErika,cat\n', 'list:2: holds the type "cat"'],
    [
      'a row of another length',
      'name,type\nErika,person\nMuster, Ada,person\n',
      'list:3: has another number of columns',
    ],
    ['a quotation mark left open', 'name,type\n"Erika,person\n', 'quotation mark is never closed'],
    ['a list cut off', unList('').replace('</CONSOLIDATED_LIST>', ''), 'ends before </CONSOLIDATED_LIST>'],
    ['a list with fewer entries than it says', ofacList('', 3), 'declares 3 entries and holds 0'],
    ['broken XML', unList('<INDIVIDUAL><DATAID>1</INDIVIDUAL>'), 'is not well-formed'],
    [
      'an entry without its number',
      unList('\n<INDIVIDUAL><FIRST_NAME>X</FIRST_NAME></INDIVIDUAL>'),
      "list:4: <INDIVIDUAL> is not in the publisher's format",
    ],
    ['a list of nobody', unList(''), 'holds no name'],
  ])('that is %s is refused with its place and what to do', async (_, content, message) => {
    expect(await refusal(content)).toContain(message);
  });

  it('gives back every name that was written into a CSV, whatever is in it', async () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
      .map((text) => `A${text.replace(/[\s\p{Z}\p{Cc}\ufffd]/gu, '')}B`);
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 20 }), async (names) => {
        const csv = `id,name\n${names.map((each, at) => `${at},"${each.replaceAll('"', '""')}"\n`).join('')}`;
        expect((await read(csv)).parties.map((party) => party.name)).toEqual(names);
      }),
      { numRuns: 50 },
    );
  });
});
