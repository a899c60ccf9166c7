import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { presentInspection } from '../../../src/cli/commands/roster.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { ConfigError } from '../../../src/errors.js';
import type { RosterRow } from '../../../src/roster/customer.js';
import { type FileInspection, inspectFile } from '../../../src/roster/inspect/inspect-file.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';
import { makeWorkbook, toRows } from '../../helpers/make-workbook.js';

const named = [
  ['Kundennummer', 'Name', 'Land', 'Typ'],
  ['0071', 'Anna Ölmann', 'Germany', 'Privat'],
  ['0072', 'Jörg Weiß', 'Utopia', 'Privat'],
  ['0073', 'Bau "Stoff" AG', 'at', 'Firma'],
];
const rows = [
  ['Kunden-Nr.', 'Vorname', 'Nachname', 'Geburtsdatum', 'Land', 'Typ', 'Risiko'],
  ['0071', 'Anna', 'Ölmann', '13.02.1970', 'Germany', 'Privat', 'hoch'],
  ['0072', 'Jörg', 'Weiß', '31.11.1985', 'DEU', 'Privat', 'mittel'],
  ['0073', '', 'Bau "Stoff" AG', '', 'at', 'Firma', 'niedrig'],
];

async function write(bytes: Buffer): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-inspect-')), 'kunden export.csv');
  await writeFile(path, bytes);
  return path;
}

const readAll = async (reading: Awaited<ReturnType<typeof readRoster>>): Promise<RosterRow[]> => {
  const all: RosterRow[] = [];
  for await (const batch of reading.rows) all.push(...batch);
  return all;
};

async function readAsPrinted(
  bytes: Buffer,
): Promise<{ inspection: FileInspection; read: readonly RosterRow[]; said: string }> {
  const path = await write(bytes);
  const inspection = await inspectFile({ path, name: 'kunden' });
  const { text, exitCode } = presentInspection(inspection);
  expect(exitCode).toBe(0);
  const file = join(await mkdtemp(join(tmpdir(), 'nightscreen-inspect-')), 'nightscreen.config.yaml');
  // The printed path is relative to where the command runs.
  const entry = parse(text.slice(text.indexOf('rosters:'))).rosters[0];
  await writeFile(file, JSON.stringify({ rosters: [{ ...entry, csv: { ...entry.csv, path } }] }));
  const { settings } = loadConfig({ environment: {}, folder: tmpdir(), file, flags: [] });
  const [roster] = settings.rosters;
  if (roster === undefined) throw new Error('no roster in the printed configuration');
  return { inspection, read: await readAll(await readRoster(roster, () => undefined)), said: text };
}

const toParty = (row: RosterRow) => (row.kind === 'customer' ? row.customer.parties[0] : row.rejected.reason);

it.each([
  ['windows-1252 and semicolons', 'latin1', ';'],
  ['UTF-16 without a mark and tabs', 'utf16le', '\t'],
  ['UTF-8 and bars', 'utf8', '|'],
] as const)(
  'an undescribed file in %s is read by the configuration that is printed for it',
  async (_, encoding, delimiter) => {
    const { inspection, read, said } = await readAsPrinted(Buffer.from(stringify(rows, { delimiter }), encoding));
    expect(inspection.counts).toMatchObject({
      customers: 3,
      rejected: 0,
      doubts: [{ column: 'Geburtsdatum', doubts: 1, values: [{ value: '31.11.1985', why: 'no_such_day' }] }],
    });
    // The shape of the date, not a birth date.
    expect(said).toMatch(/99\.99\.9999 +1 +not a day of the calendar/);
    expect(said).not.toContain('31.11.1985');
    expect(said).toMatch(/0072 +person +Jörg Weiß.*in doubt: Geburtsdatum \(not a day of the calendar\)/);
    expect(read).toEqual(inspection.firstRows);
    expect(read.map(toParty)).toEqual([
      { role: 'customer', type: 'person', name: 'Anna Ölmann', birthDate: '1970-02-13', countries: ['de'] },
      { role: 'customer', type: 'person', name: 'Jörg Weiß', birthDate: null, countries: ['de'] },
      { role: 'customer', type: 'entity', name: 'Bau "Stoff" AG', birthDate: null, countries: ['at'] },
    ]);
  },
);

it('a file without a header is read by the numbers of its columns', async () => {
  const { inspection, read, said } = await readAsPrinted(Buffer.from(stringify(named.slice(1))));
  expect(said).toMatch(/^header +none/m);
  expect(inspection.guess.columns).toMatchObject({ id: '1', name: '2', type: { column: '4' } });
  expect(inspection.guess.doubts).toContain('2 is used as the name because of its values only');
  expect(read.map(toParty)).toMatchObject([{ name: 'Anna Ölmann' }, { name: 'Jörg Weiß' }, { name: 'Bau "Stoff" AG' }]);
});

it('a file in which no names can be found ends with what to name, not with an empty roster', async () => {
  const path = await write(Buffer.from('amount,currency\n10,EUR\n10,EUR\n'));
  const { text, exitCode, document } = presentInspection(await inspectFile({ path, name: 'kunden' }));
  expect({ exitCode, settings: document['settings'] }).toEqual({ exitCode: 3, settings: null });
  expect(text).toContain('No row has an id and a name');
});

it('rows of one id are summed as an import sums them, and those that contradict each other are marked', async () => {
  const path = await write(
    Buffer.from('customer_id,name,type\n1,Ann,person\n2,Bob,person\n1,Ann,person\n2,Rob,person\n3,,person\n'),
  );
  const inspection = await inspectFile({ path, name: 'kunden' });
  const { text } = presentInspection(inspection);
  expect(inspection.counts).toMatchObject({ rejectedBecause: { missing_name: 1, conflicting_id: 2 } });
  expect(text).toContain('All rows: 1 customers + 3 rejected + 1 repeated\n');
  expect(text).toMatch(/^ +3 +2 +REJECTED +same customer id as another row with different contents$/m);
  expect(text).toMatch(/^ +4 +1 +person +Ann +repeats a row above$/m);
});

it('dates without a format show their form with the formats to choose from, and ? is explained', async () => {
  const rows = ['1970-02-13', '1971-02-13', '1972-02-13', '1973-02-13T23:00:00Z', '651345', '651346'];
  const lines = rows.map((day, at) => `K-${at},Ann ${at},person,${day}`);
  const path = await write(Buffer.from(['customer_id,name,type,birth_date', ...lines, ''].join('\n')));
  const { text } = presentInspection(await inspectFile({ path, name: 'kunden' }));
  expect(text).toContain('"999999" (2 rows)');
  expect(text).toContain('add formats (yyMMdd or ddMMyy or MMddyy) to birthDate');
  expect(text).toContain('\n? marks an uncertain birth date, which contradicts nothing\n');
});

it('ids that a spreadsheet has changed are named with an example and what to do', async () => {
  const path = await write(
    Buffer.from('customer_id,name,type\n1.23457E+11,Ann Lee,person\n####,Bo Ek,person\n3,Cy Dow,person\n'),
  );
  const { text } = presentInspection(await inspectFile({ path, name: 'kunden' }));
  expect(text).toContain(
    'a spreadsheet has changed the ids of customer_id in 2 rows, such as "1.23457E+11": export the column as text',
  );
});

it('of the files that match a pattern the first is looked at, and the pattern is what is printed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-inspect-'));
  for (const [at, name] of ['Ann', 'Bob'].entries())
    await writeFile(join(folder, `m${at}.csv`), `customer_id,name,type\n${at},${name},person\n`);
  const pattern = join(folder, 'm*.csv');
  const inspection = await inspectFile({ path: pattern, name: 'm' });
  const { text } = presentInspection(inspection);
  expect(text).toMatch(/^file +.*m0\.csv \(2 files match, this is the first\)$/m);
  expect(text).toMatch(/path: .*m\*\.csv }$/m);
  expect(inspection.counts).toMatchObject({ customers: 1 });
  expect(inspection.settings?.csv?.path).toBe(pattern);
});

it.each([
  [{ encoding: 'latin-9x' }, /^flag --encoding: expected one of utf-8, .*iso-8859-15/],
  [{ delimiter: ';;' }, /^flag --delimiter: expected auto, tab, or one character/],
])('%j is refused by the name of its flag, with what is allowed', async (flags, message) => {
  const path = await write(Buffer.from('customer_id,name\n1,Ann\n'));
  const error: unknown = await inspectFile({ path, name: 'kunden', ...flags }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
});

it('a workbook is inspected under any name, with its sheet, and the settings read it again', async () => {
  const title = [['Kundenliste', '', ''], ['', '', ''], ...rows];
  const path = await write(await makeWorkbook({ sheets: { Kunden: toRows(title), Hilfe: toRows([['a'], ['b']]) } }));
  const inspection = await inspectFile({ path, name: 'kunden' });
  expect(inspection).toMatchObject({ sheet: 'Kunden', headerLine: 3, counts: { customers: 3, rejected: 0 } });
  expect(inspection.guess.doubts[0]).toBe(
    'only the sheet Kunden is read, not Hilfe: name another with `sheet:` under `csv:`',
  );
  const { text } = presentInspection(inspection);
  expect(text).toMatch(/^sheet +Kunden$/m);
  expect(text).not.toMatch(/^(encoding|delimiter)/m);
  const reading = await readRoster(inspection.settings ?? expect.fail('no settings'), () => undefined);
  const found: RosterRow[] = [];
  for await (const batch of reading.rows) found.push(...batch);
  expect(found.map(({ kind }) => kind)).toEqual(['customer', 'customer', 'customer']);
});

it('a broken workbook is called what it is', async () => {
  const path = await write(Buffer.from('PK\x03\x04\x14\0\x06\0', 'latin1'));
  await expect(inspectFile({ path, name: 'kunden' })).rejects.toMatchObject({ code: 'workbook_unreadable' });
});

const clients = [
  'N° client;Nom;Prénom;Date de naissance;Pays;Type',
  ...Array.from(
    { length: 12 },
    (_, at) => `C${100 + at};Dupont ${at};Anne;0${(at % 9) + 1}.11.${1950 + at};France;Personne physique`,
  ),
];

it.each([
  ['a title line and an empty line', ['Liste des clients au 24.11.2026', ''], 3],
  ['a title line alone', ['Liste des clients'], 2],
  ['two title lines of which one has a comma and a quote', ['Banque "Rive", Genève', 'Clients, au 24.11.2026'], 3],
  ['a title line with trailing delimiters', ['Liste des clients;;;;;'], 2],
  ['a title line and an empty one with trailing delimiters', ['Liste des clients;;;;;', ';;;;;', 'Agence;12;;;;'], 4],
])(
  '%s above the header are left out, and the printed configuration reads the rows by their lines',
  async (_, title, line) => {
    const last = [
      'C200;"Durand; fils";Léa;01.02.1960;France;Personne physique',
      ';Sans numéro;;;;Personne physique',
      '',
    ];
    const { inspection, read, said } = await readAsPrinted(Buffer.from([...title, ...clients, ...last].join('\r\n')));
    expect(inspection).toMatchObject({ headerLine: line, delimiter: ';', counts: { customers: 13, rejected: 1 } });
    expect(said).toMatch(new RegExp(`^header +line ${line}; ${line - 1} lines? above it (is|are) not read$`, 'm'));
    expect(said).toContain(`header: ${line}`);
    expect(read[0]).toMatchObject({ line: line + 1, customer: { reference: 'C100' } });
    expect(read.at(-1)).toMatchObject({ kind: 'rejected', rejected: { line: line + 14, reason: 'missing_id' } });
    const { lines, headers, blanks, continuations, records } = inspection.tally;
    expect({ headers, sum: headers + blanks + continuations + records }).toEqual({ headers: line, sum: lines });
  },
);

it.each([
  ['the header is first', clients],
  ['there is no header', clients.slice(1)],
  ['the first row has few values', ['C99;;;;;', ...clients.slice(1)]],
  ['a header stands between rows', [...clients.slice(1, 4), ...clients]],
])('no line is left out when %s', async (_, lines) => {
  const path = await write(Buffer.from(lines.join('\n')));
  const { headerLine, tally } = await inspectFile({ path, name: 'clients' });
  expect(headerLine).toBeNull();
  expect(tally.records).toBeGreaterThanOrEqual(lines.length - 1);
});

it('an import whose first line is a title names the line of the header and the setting, and no word of the file', async () => {
  const path = await write(Buffer.from(['Liste de Monsieur Secret', '', ...clients].join('\n')));
  const roster = rosterSettingsSchema.parse({ name: 'r', csv: { path }, columns: { id: 'N° client', name: 'Nom' } });
  const error: unknown = await readRoster(roster, () => undefined).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'column_missing',
    message: expect.stringContaining('Line 3 looks like the header: write `header: 3` under `csv:`'),
  });
  expect(String(error)).not.toContain('Secret');
});

it('a title that is one line longer than the settings say is refused, never read as a customer', async () => {
  const path = await write(Buffer.from(['Liste', 'Agence', ...clients].join('\n')));
  const columns = { id: 'N° client', name: 'Nom' };
  const read = (header: number) =>
    readRoster(rosterSettingsSchema.parse({ name: 'r', csv: { path, header }, columns }), () => undefined);
  for (const header of [2, 4]) await expect(read(header)).rejects.toMatchObject({ code: 'column_missing' });
  await expect(read(40)).rejects.toMatchObject({ code: 'roster_empty' });
});
