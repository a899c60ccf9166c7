import { expect, test } from 'vitest';
import type { RosterRow } from '../../../src/roster/customer.js';
import { findMeant } from '../../../src/roster/name-text.js';
import type { PartyType } from '../../../src/vocabulary.js';
import { readText, summarise, textsOf } from './read-text.js';

const quote = (cells: readonly string[]): string => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',');

/** How each row is read: the names that are sent, the source text where it is another, and the doubts; or why it is rejected. */
const describe = (row: RosterRow): string => {
  if (row.kind === 'rejected') return row.rejected.reason;
  const { parties, readings } = row.customer;
  const names = parties.map(({ name }) => name).join(' + ');
  const doubts = readings.doubts.map(({ field, why }) => `, ${field}: ${why}`).join('');
  return `${names}${readings.said?.name === undefined ? '' : ` (said)`}${doubts}`;
};

async function readNames(names: readonly string[], type: PartyType, realNames?: readonly string[]) {
  const text = ['customer_id,type,name', ...names.map((name, at) => quote([`C-${at}`, type, name]))].join('\n');
  const rows = await readText(`${text}\n`, { columns: realNames ? { realNames } : {}, delimiter: ',' });
  return Object.fromEntries(rows.map((row, at) => [names[at] ?? '', describe(row)]));
}

const encoded: Readonly<Record<string, string>> = {
  'Cl&eacute;mence Mont&eacute;vrain': 'Clémence Montévrain',
  'J&uuml;rgen Halbschmidt': 'Jürgen Halbschmidt',
  'Meyer &amp; Sønner': 'Meyer & Sønner',
  'Kestrel &#38; Sons': 'Kestrel & Sons',
  'Kestrel &amp;amp; Sons': 'Kestrel & Sons',
  'Cl&amp;eacute;mence': 'Clémence',
  'O&#39;Brannigan Sean': "O'Brannigan Sean",
  'O&#146;Brien': 'O’Brien',
  '&#233;ric &#xE9;': 'éric é',
  '&Lstrok;ukasz &Zdot;&oacute;&lstrok;&cacute;': 'Łukasz Żółć',
  '&#1048;&#1074;&#1072;&#1085;': 'Иван',
  '<b>Kestrel</b> Trading': 'Kestrel Trading',
  'Ada<br/>Lindqvist': 'Ada Lindqvist',
  'Cl%C3%A9mence Mont%C3%A9vrain': 'Clémence Montévrain',
  'Cl%C3%A9mence+Mont%C3%A9vrain': 'Clémence Montévrain',
  'Ada%20Lindqvist': 'Ada Lindqvist',
  'J%FCrgen': 'Jürgen',
  'Cl\\u00e9mence Mont\\u00e9vrain': 'Clémence Montévrain',
  'Cl\\xe9mence': 'Clémence',
  'Cl\\xc3\\xa9mence': 'Clémence',
  'Cl\\303\\251mence': 'Clémence',
  "Sean O\\'Brannigan": "Sean O'Brannigan",
  'Cl=C3=A9mence Mont=E9vrain': 'Clémence Montévrain',
};

test('text that was encoded once too often is decoded where it gives letters, and the source text is kept', async () => {
  const expected = Object.entries(encoded).map(([text, name]) => [text, `${name} (said)`]);
  expect(await readNames(Object.keys(encoded), 'person')).toEqual(Object.fromEntries(expected));
});

const doubtful: Readonly<Record<string, readonly string[]>> = {
  encoded_name: textsOf(`
    Cl&foo;mence  Cl&eacutemence  R&amp D Trading  Cl%9Dmence  Cl\\u00mence  Ada\\Berg
    =?UTF-8?Q?Cl=C3=A9mence?=
  `),
  lost_letters: ['Cl?mence Mont?vrain', '?ukasz Nowak', 'Jos? Lima', 'Cl¿mence', 'Jï¿½rgen', 'Mont*vrain'],
  garbled_name: textsOf(`
    JÃ¼rgen Halbschmidt  SÃ¸ren Ã˜stergÃ¥rd  MÃœLLER  PÄ’TERIS  Oâ€™Neil  Nguyá»…n  GarcÃ­a  GarcÃ a
    ClÃƒÂ©mence  Ð˜Ð²Ð°Ð½ ÐŸÐµÑ‚Ñ€Ð¾Ð²  Î‘Î»Î­Î¾Î·Ï‚  çŽ‹å°æ˜Ž  JĂĽrgen  JГјrgen  JΓΌrgen  J├╝rgen
    J√ºrgen  J眉rgen  Micha³ Nowak  MICHA£ NOWAK  РРІР°РЅ РџРµС‚СЂРѕРІ  J¸rgen  JŸrgen  Cl‚mence
    ClÈmence  FranÁois  Clеmence
  `),
  list_of_names: textsOf(`
    Ada Berg|Bo Li  Ada Berg; Bo Li  {"Ada Berg","Bo Li"}  ["Ada Berg","Bo Li"]
    Ada Berg aka Adele L.  Ada Berg / Bo Li  Ada Berg & Bo Li  Ada Berg und Bo Li
    Ada Berg,Bo Li,Cy Lund  Ada Berg • Bo Li  王小明、李雷  John & Mary Smith  Tan Ah Kow @ Tan Ah Seng
    Ada Berg/Bo Li  Jan Kowalski oraz Anna Kowalska  Иван Петров и Мария Петрова
  `),
};

test('a name that is garbled, has lost letters or is a list is a doubt, and is sent as it is', async () => {
  for (const [why, names] of Object.entries(doubtful)) {
    const expected = names.map((name) => [name, `${name}, name: ${why}`]);
    expect(await readNames(names, 'person')).toEqual(Object.fromEntries(expected));
  }
  expect(await readNames(['Cl&eacute;mence Mont?vrain'], 'person')).toEqual({
    'Cl&eacute;mence Mont?vrain': 'Clémence Mont?vrain (said), name: lost_letters',
  });
});

const persons = textsOf(`
  JOÃO DA SILVA  Nguyễn Văn Ã  São João  TOMÁŠ KŘÍŽ  RĂŞCANU  Ștefan Ţepeş  Łukasz Żółć
  ÅSE ØSTERGÅRD  Þór Æsir  BÙI VĂN ÂN  Sean O'Neil  Lund Berg, Ada Maria  Meyer & Sønner
  Freiherr von und zu Stein  Gʻafur Oʻtkir  GonzÉlez NuÑez  José Ortega y Gasset
  Raju A/L Samy Vellu  O´Neil  Ó’Briain  D’Ávila  McÉwan  DeÁngelis  Mª José  Ivan Ñandú
  Ēriks Šņore  ÖZGÜR ŞAHİN  Berg, Ada  МАЛІЙ  Гіденко Річка  ΓΌΡΔΟΝ  王小明  محمد  Jennifer Null
  JENNIFER NULL  Na Li  Nan Goldin
`);
const firms = textsOf(`
  AT&T  M&S Trading  Who? Ltd  What?  100% Pure Ltd  50%C Ltd  100%Fabric Ltd  X=AB Consulting
  E=MC2 Ltd  CAFÉ’S BAR  E*Trade  M*A*S*H Ltd  Smith&Baring Ltd  Yahoo! Inc  NTTデータ  ABC株式会社  iФирма
  AC/DC  Novo A/S  Smith & Sons, Inc.  Müller / Meier GbR  Gal·la  N° 7 Ltd  LNU Holding AB
  Total SA  Summe Verlag  Alpha [A] Fund  1881
`);

test('no real name is a doubt or read as another', async () => {
  expect(await readNames(persons, 'person')).toEqual(Object.fromEntries(persons.map((name) => [name, name])));
  expect(await readNames(firms, 'entity')).toEqual(Object.fromEntries(firms.map((name) => [name, name])));
});

test('a name that columns.realNames lists is sent as it is and is no doubt', async () => {
  const real = ['Cl?mence', 'A|B Testing', 'Cl&eacute;mence', 'N/A Montevrain', 'Test'];
  expect(await readNames(real, 'person', real)).toEqual(Object.fromEntries(real.map((name) => [name, name])));
});

test('what UTF-8 was read as is undone', () => {
  const meant = ['JÃ¼rgen', 'JĂĽrgen', 'JГјrgen', 'JΓΌrgen', 'J√ºrgen', 'Ð˜Ð²Ð°Ð½'].map(findMeant);
  expect(meant.map((found) => `${found?.text} ${found?.label}`)).toEqual([
    'Jürgen windows-1252',
    'Jürgen windows-1250',
    'Jürgen windows-1251',
    'Jürgen windows-1253',
    'Jürgen macintosh',
    'Иван windows-1252',
  ]);
});

test('a name of marks that nobody sees is missing', async () => {
  const marks = [
    0x200b, 0x200d, 0x200e, 0x61c, 0x202e, 0xad, 0x2060, 0xfeff, 0xe0041, 0xfe0f, 0x180e, 0x34f, 0x3164, 0xa0, 0x3000,
    0x2800,
  ];
  const names = marks.map((mark) => String.fromCodePoint(mark, mark));
  expect(Object.values(await readNames(names, 'person'))).toEqual(names.map(() => 'missing_name'));
});

async function readAliases(cells: readonly string[], type: PartyType, aliases: unknown = 'aliases') {
  const text = ['id,type,name,aliases', ...cells.map((cell, at) => quote([`C-${at}`, type, 'N', cell]))].join('\n');
  const rows = await readText(`${text}\n`, { columns: { id: 'id', aliases }, delimiter: ',' });
  return Object.fromEntries(rows.map((row, at) => [cells[at], describe(row).replace(/^N(?: \+ )?/, '')]));
}

test('aliases in the text of an array of Postgres or of JSON are several names', async () => {
  expect(
    await readAliases(
      [
        '{"Ada Berg","Adele L."}',
        '{Ada,NULL,"Berg; Ada","A \\"B\\" C"}',
        '["Ada Berg",null,"Adele L."]',
        '"Ada Berg"',
        '{}',
        'Ada Berg;Adele L.',
      ],
      'person',
    ),
  ).toEqual({
    '{"Ada Berg","Adele L."}': 'Ada Berg + Adele L.',
    '{Ada,NULL,"Berg; Ada","A \\"B\\" C"}': 'Ada + Berg; Ada + A "B" C, name: list_of_names',
    '["Ada Berg",null,"Adele L."]': 'Ada Berg + Adele L.',
    '"Ada Berg"': 'Ada Berg',
    '{}': '',
    'Ada Berg;Adele L.': 'Ada Berg + Adele L.',
  });
});

test('aliases that look like a list without a configured separator are a doubt, and names with a comma or slash are not', async () => {
  const lists = textsOf(`
    Ada Berg|Adele L.  Ada Berg/Adele L.  Ada Berg, Adele L.  Ada, Bo, Cy  Ada Berg aka Adele
    [{"name":"Ada"}]
  `);
  const asGiven = (cells: readonly string[], doubt = '') =>
    Object.fromEntries(cells.map((cell) => [cell, cell + doubt]));
  expect(await readAliases(lists, 'person')).toEqual(asGiven(lists, ', name: list_of_names'));
  expect(await readAliases(['Ada Berg\nAdele'], 'person')).toEqual({
    'Ada Berg\nAdele': 'Ada Berg Adele, name: list_of_names',
  });
  const names = ['Berg, Ada', 'Berg, Ada, Jr.', 'von Berg, Ada', 'Raju A/L Samy', 'Ada Berg, PhD'];
  expect(await readAliases(names, 'person')).toEqual(asGiven(names));
  const entities = textsOf(`
    Smith & Sons, Inc.  Smith, Jones & Partners  Müller / Meier GbR  Novo A/S  AC/DC
    Alpha, S.A. de C.V.
  `);
  expect(await readAliases(entities, 'entity')).toEqual(asGiven(entities));
  expect(await readAliases(['Alpha Ltd, Beta Ltd'], 'entity')).toEqual(
    asGiven(['Alpha Ltd, Beta Ltd'], ', name: list_of_names'),
  );
  // The configured separator splits, and what it leaves together is one name.
  const set = { column: 'aliases', separator: '|' };
  expect(await readAliases(['Ada Berg|Li, Bo Chen', 'A; B'], 'person', set)).toEqual({
    'Ada Berg|Li, Bo Chen': 'Ada Berg + Li, Bo Chen',
    'A; B': 'A; B',
  });
});

test('an alias that is a placeholder is no name, and one that cannot be sent is a doubt of the name', async () => {
  expect(await readAliases(['N/A', 'none;Ada', '-', '\u3164', 'Cl\ufffdmence'], 'person')).toEqual({
    'N/A': ', aliases: says_unknown',
    'none;Ada': 'Ada, aliases: says_unknown',
    '-': ', aliases: unreadable_alias',
    '\u3164': ', aliases: unreadable_alias',
    'Cl\ufffdmence': ', name: replacement_character',
  });
});

test('placeholders in the columns of a name are left out of it and counted; a name of nothing else is missing', async () => {
  const left = textsOf(`
    N/A  FNU  .  -  NULL  null  XXX  Unknown  #N/A  None  nan  Kein Vorname  (leer)  (null)  <Null>
    0  неизвестно  不明  ***
  `);
  const kept = ['Nan', 'Na', 'Null', 'Test', 'X', 'Ada'];
  const rows = [...left, ...kept].map((first, at) => quote([`C-${at}`, first, 'Sukarta']));
  const text = ['id,first,last', ...rows, 'L,Sukarta,LNU', 'M,N/A,LNU', 'O,N/A,.'].join('\n');
  const columns = { id: 'id', name: ['first', 'last'], type: { value: 'person' } };
  const read = (await readText(text, { columns })).map(describe);
  const out = 'Sukarta (said), namePart: says_unknown';
  expect(read).toEqual([
    ...left.map(() => out),
    ...kept.map((first) => `${first} Sukarta`),
    out,
    'missing_name',
    'missing_name',
  ]);
  const own = await readText('id,first,last\n1,FNU,Sukarta\n', { columns: { ...columns, realNames: ['FNU'] } });
  expect(own.map(describe)).toEqual(['FNU Sukarta']);
});

test('an unmistakable placeholder at either end of a name is left out of it', async () => {
  const names = ['N/A Montevrain', 'FNU Sukarta', 'Sukarta LNU', 'NULL Montevrain', '#N/A Montevrain', 'Ada N/A N/A'];
  const read = await readNames(names, 'person');
  expect(names.map((name) => read[name]?.split(' (')[0])).toEqual([
    'Montevrain',
    'Sukarta',
    'Sukarta',
    'Montevrain',
    'Montevrain',
    'Ada',
  ]);
  expect(summarise(await readText('customer_id,type,name\n1,person,N/A FNU\n'))).toEqual(['2 missing_name name']);
});

test('the name of a firm beside that of a person is an alias, and the name is that of its type', async () => {
  const columns = {
    name: ['Vorname', 'Name', 'Firma'],
    type: { column: 'Art', values: { N: 'person', J: 'entity' } },
  };
  const rows = [
    'C1,N,Ada,Berg,Backstube Berg',
    'C2,J,Ada,Berg,Berg Bau GmbH',
    'C3,J,,,Berg Bau GmbH',
    'C4,N,,,Bäckerei Berg',
    'C5,J,-,N/A,Berg Bau GmbH',
    'C6,N,Ada,Berg,-',
    'C7,N,Ada,Berg,"BERG, ADA"',
    'C8,N,Ada,Berg,Berg & Søn / Bau & Co',
  ];
  const found = await readText(['customer_id,Art,Vorname,Name,Firma', ...rows].join('\n'), { columns });
  expect(found.map(describe)).toEqual([
    'Ada Berg + Backstube Berg',
    'Berg Bau GmbH + Ada Berg',
    'Berg Bau GmbH',
    'Bäckerei Berg',
    'Berg Bau GmbH (said), namePart: says_unknown, namePart: says_unknown',
    'Ada Berg (said), namePart: says_unknown',
    'Ada Berg',
    'Ada Berg + Berg & Søn / Bau & Co',
  ]);
});

const withheld = `Skyddad identitet;SKYDDADE PERSONUPPGIFTER;Sekretessmarkerad;Navnebeskyttet;Fortrolig adresse;Turvakielto;
  Protected identity;Name withheld;Redacted;Anonym;Auskunftssperre;Dane zastrzeżone;Omissis;Confidential;Identité protégée`;

test('a name that is withheld is a missing name, never a search for its words', async () => {
  const names = withheld.split(/;\s*/);
  expect(await readNames(names, 'person')).toEqual(Object.fromEntries(names.map((name) => [name, 'missing_name'])));
  expect(await readNames(['Anonymous Films Ltd', 'Ada Anonym'], 'entity')).toEqual({
    'Anonymous Films Ltd': 'Anonymous Films Ltd',
    'Ada Anonym': 'Ada Anonym',
  });
});

const remarked: Readonly<Record<string, string>> = {
  'Dott.ssa RAUTAVAARALA LEOCADIA': 'RAUTAVAARALA LEOCADIA',
  'mgr inż. Oriol Abernethy': 'Oriol Abernethy',
  'Prof. Dr. Ada Berg': 'Ada Berg',
  'Sig.ra Ada Berg': 'Ada Berg',
  'Ada Krawczyk (zm.)': 'Ada Krawczyk',
  '† Ada Berg': 'Ada Berg',
  'Dödsbo efter Björn Hägglund': 'Björn Hägglund',
  'Estate of Ada Berg': 'Ada Berg',
  'Eredi di Ada Berg': 'Ada Berg',
};

test('titles and remarks about the death of a person are no part of the name that is searched for', async () => {
  const expected = Object.entries(remarked).map(([text, name]) => [text, `${name} (said)`]);
  expect(await readNames(Object.keys(remarked), 'person')).toEqual(Object.fromEntries(expected));
  const kept = ['Dr. Rossi', 'Sig Hansson Berg', 'Ma. Teresa Cruz', 'Pan Wei Li', 'Herrera Gil', 'Ada (Bo) Berg'];
  expect(await readNames(kept, 'person')).toEqual(Object.fromEntries(kept.map((name) => [name, name])));
  expect(await readNames(['Dr. Oetker GmbH'], 'entity')).toEqual({ 'Dr. Oetker GmbH': 'Dr. Oetker GmbH' });
  expect(await readNames(['Dr. Ada Berg'], 'person', ['Dr. Ada Berg'])).toEqual({ 'Dr. Ada Berg': 'Dr. Ada Berg' });
});
