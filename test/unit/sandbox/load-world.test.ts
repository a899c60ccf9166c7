import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorld } from '../../../src/sandbox/world.js';
import { dossier, listed } from './world-samples.js';

const folder = await mkdtemp(join(tmpdir(), 'sandbox-world-'));

const write = async (name: string, text: string): Promise<string> => {
  await writeFile(join(folder, name), text);
  return join(folder, name);
};

const UN = `<?xml version="1.0"?><CONSOLIDATED_LIST><INDIVIDUALS><INDIVIDUAL>
<DATAID>0042</DATAID><FIRST_NAME>TADEO</FIRST_NAME><SECOND_NAME>QUERALT</SECOND_NAME>
<NAME_ORIGINAL_SCRIPT>تاديو</NAME_ORIGINAL_SCRIPT>
<NATIONALITY><VALUE>Democratic People's Republic of Korea</VALUE><VALUE>Syrian Arab Republic</VALUE></NATIONALITY>
<INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY><ALIAS_NAME>Teo Q.</ALIAS_NAME></INDIVIDUAL_ALIAS>
<INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS>
<INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><DATE>1960-02-03</DATE></INDIVIDUAL_DATE_OF_BIRTH>
<INDIVIDUAL_DATE_OF_BIRTH><TYPE_OF_DATE>EXACT</TYPE_OF_DATE><YEAR>1961</YEAR></INDIVIDUAL_DATE_OF_BIRTH>
<INDIVIDUAL_DATE_OF_BIRTH/></INDIVIDUAL></INDIVIDUALS>
<ENTITIES><ENTITY><DATAID>7</DATAID><FIRST_NAME>SALTPAN FRONT</FIRST_NAME><NATIONALITY/>
<ENTITY_ALIAS><QUALITY>a.k.a.</QUALITY><ALIAS_NAME>SPF</ALIAS_NAME></ENTITY_ALIAS>
<ENTITY_ADDRESS><COUNTRY>Haiti</COUNTRY></ENTITY_ADDRESS></ENTITY></ENTITIES></CONSOLIDATED_LIST>`;

describe('loading a world', () => {
  it('reads the fixture format and dossiers', async () => {
    const watchlist = [listed('a', 'Ana Quintela')];
    const dossiers = [dossier('1')];
    const paths = [
      await write('list.json', JSON.stringify(watchlist)),
      await write('d.json', JSON.stringify(dossiers)),
    ];
    expect(await loadWorld({ watchlists: [paths[0] ?? ''], dossiers: paths[1] ?? '' })).toEqual({
      watchlist,
      dossiers,
    });
  });

  it('reads the OFAC files: aliases, nulls, birth dates, countries, and a trailing end-of-file byte', async () => {
    await write('alt.csv', '17,1,"aka","KOVARD, Oleg",-0- \r\n\u001a');
    await write('add.csv', '18,2,"Pier 4","Havana","Cuba",-0- \r\n');
    const none = '-0- ,'.repeat(7);
    await write(
      'sdn.csv',
      `17,"KOVARDIN, Oleg","individual","TEST",${none}"DOB 05 Jun 1971; alt. DOB 1972; nationality Korea, North; a.k.a. 'GREY CAP'."\r\n` +
        `18,"LOBSTER LINES, LTD.",-0- ,"CUBA",${none}-0- \r\n19,"SEA THORN","vessel","CUBA",${none}-0- \r\n\u001a`,
    );
    const { watchlist } = await loadWorld({ watchlists: [folder] });
    expect(watchlist).toEqual([
      {
        id: 'amla_ofac17',
        schema: 'Person',
        name: 'KOVARDIN, Oleg',
        aliases: ['KOVARD, Oleg', 'GREY CAP'],
        topics: ['sanction'],
        birth_date: ['1971-06-05', '1972'],
        country: ['kp'],
      },
      expect.objectContaining({ id: 'amla_ofac18', schema: 'Company', aliases: [], birth_date: [], country: ['cu'] }),
      expect.objectContaining({ id: 'amla_ofac19', schema: 'Vessel' }),
    ]);
    expect((await loadWorld({ watchlists: [join(folder, 'sdn.csv')] })).watchlist).toEqual(watchlist);
  });

  it('reads the UN list: names in parts, original script, partial birth dates, nationalities', async () => {
    const { watchlist } = await loadWorld({ watchlists: [await write('un.xml', UN)] });
    expect(watchlist).toEqual([
      {
        id: 'amla_un0042',
        schema: 'Person',
        name: 'TADEO QUERALT',
        aliases: ['تاديو', 'Teo Q.'],
        topics: ['sanction'],
        birth_date: ['1960-02-03', '1961'],
        country: ['kp', 'sy'],
      },
      expect.objectContaining({ id: 'amla_un7', schema: 'Organization', aliases: ['SPF'], country: ['ht'] }),
    ]);
  });

  it.each([
    ['missing.json', undefined],
    ['list.txt', 'x'],
    ['broken.json', '['],
    ['other.json', '[{"id":"a"}]'],
    ['other.xml', '<html></html>'],
  ])('names the path when %s cannot be used', async (name, text) => {
    if (text !== undefined) await write(name, text);
    await expect(loadWorld({ watchlists: [join(folder, name)] })).rejects.toThrow(join(folder, name));
  });
});
