import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load-config.js';
import { createSearch } from '../../src/sandbox/search-watchlist.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { loadWorld } from '../../src/sandbox/world.js';
import { findCli, runCli, runInProcess } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { makeWorkbook, toRows } from '../helpers/make-workbook.js';
import { watchlist } from '../helpers/small-world.js';

/** As a program of a French bank writes it: a title, an empty line, lines of delimiters, a total, own words, and letters that were lost. */
function makeClients(): Buffer {
  const lands = ['France', 'États-Unis', 'Fédération de Russie', 'Angleterre', 'RDC', 'Corée'];
  const rows = Array.from({ length: 36 }, (_, at) => {
    const rest = `${lands[at % 6]};${['F', 'D'][at % 2]};0${(at % 9) + 1}.03.2026`;
    if (at % 4 === 3) return `C${100 + at};PM;Boulangerie ${at} SARL;;;${rest}`;
    const day = at === 4 ? '00.00.1956' : at === 5 ? '00.05.1956' : `0${(at % 9) + 1}.11.${1940 + at}`;
    return `C${100 + at};${at === 8 || at === 9 ? 'hoirie' : 'PP'};${at === 0 ? 'Nguy?n' : `Dupont-${String.fromCharCode(65 + at)}`};Anne;${day};${rest}`;
  });
  const header = 'N° client;Type;Nom / Raison sociale;Prénom;Date de naissance;Pays;Nationalité;Dernière vérif.';
  const lines = [
    'Liste des clients',
    '',
    header,
    ...rows.slice(0, 9),
    ';;;;;;;',
    ...rows.slice(9),
    'Total;36;;;;;;',
    '',
  ];
  return Buffer.from(lines.join('\r\n'), 'latin1');
}

/** As a spreadsheet of a German bank saves it: semicolons, Windows-1252, own words, and some rows that are wrong. */
function makeKunden(): Buffer {
  const lands = ['Deutschland', 'Österreich', 'Türkei', 'BRD', 'Ausland'];
  const tiers = ['normal', 'erhöht', 'Stufe 3'];
  const rows = Array.from({ length: 30 }, (_, at) => {
    const number = `K-${1000 + at}`;
    const rest = `${lands[at % 5]};${tiers[at % 3]}`;
    if (at === 29) return `${number};GbR;;Nordlicht;;${rest}`;
    if (at % 5 === 4) return `${number};Firma;;Bäckerei Süß ${at} GmbH;;${rest}`;
    const day = at === 7 ? '31.02.1970' : at === 8 ? 'im Mai' : `0${(at % 9) + 1}.11.${1940 + at}`;
    return `${number};Privat;${at === 3 ? '' : 'Jürgen'};${at === 3 ? '' : `Müller-${String.fromCharCode(65 + at)}`};${day};${rest}`;
  });
  const header = 'Kundennr.;Kundenart;Vorname;Nachname / Firma;Geb.-Datum;Staatsangehörigkeit;Risikoklasse';
  return Buffer.from([header, ...rows, ''].join('\r\n'), 'latin1');
}

const databases = testDatabases('postgres');
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
});
afterAll(() => sandbox.close());

const file = 'Kundenliste Ü.csv';
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'nightscreen-init-'));
  writeFileSync(join(folder, file), makeKunden());
  writeFileSync(join(folder, 'key'), `${sandbox.privateKey}\n`);
  return folder;
}

const documentSchema = z.object({
  file: z.string(),
  counts: z.object({ customers: z.number(), rejected: z.number() }),
  unknown: z.array(z.object({ key: z.string(), values: z.array(z.object({ value: z.string(), rows: z.number() })) })),
  toComplete: z.array(z.string()),
  next: z.array(z.string()),
});

describe('init', () => {
  it('makes of an unknown CSV a short configuration that is valid as it is and once it is completed, and prints the next command', async () => {
    const folder = makeFolder();
    const words = ['init', '--url', sandbox.url, '--key-file', 'key', '--file', file];
    const made = await runInProcess([...words, '--json'], { folder });
    expect(made.stderr).toBe('');
    expect(made.exitCode).toBe(0);
    const found = documentSchema.parse(JSON.parse(made.stdout));
    expect(found.counts).toMatchObject({ customers: 28, rejected: 2 });
    expect(
      found.unknown.map(({ key, values }) => [key, ...values.map(({ value, rows }) => `${value} ${rows}`)]),
    ).toEqual([
      ['type', 'GbR 1'],
      ['birthDate', '99.99.9999 1', 'a a 1'],
      ['countries', 'Ausland 5'],
      ['riskTier', 'Stufe 3 9'],
    ]);
    expect(found.toComplete.map((line) => line.replace(/:.*/, ''))).toEqual(
      ['type', 'birthDate', 'countries', 'riskTier'].map((key) => `rosters[0].columns.${key}`),
    );
    expect(found.next).toEqual([`export NIGHTSCREEN_API_KEY_FILE=${join(folder, 'key')}`, 'nightscreen onboard']);
    const written = readFileSync(found.file, 'utf8');
    expect(written.split('\n').length - 1).toBeLessThanOrEqual(40);
    expect(written).not.toContain(sandbox.privateKey);
    expect(written).not.toMatch(/Jürgen|Müller|Süß|1970/);
    expect(written).toMatch(/^# controls:$/m);
    const environment = { NIGHTSCREEN_API_KEY_FILE: join(folder, 'key') };
    const load = () => loadConfig({ environment, folder }).settings.rosters[0]?.columns;
    expect(load()).toMatchObject({ type: { values: { privat: 'person', firma: 'entity' } } });

    // A line that is not complete is refused by its path; a complete one counts.
    const uncommented = written.replace('# GbR: # 1 row', 'GbR: # 1 row');
    writeFileSync(found.file, uncommented);
    expect(load).toThrow(/rosters\[0\]\.columns\.type\.values\.GbR/);
    writeFileSync(found.file, uncommented.replace('GbR: #', 'GbR: entity #'));
    expect(load()).toMatchObject({ type: { values: { GbR: 'entity' } } });

    // A file that is there is never written again.
    const before = readFileSync(found.file, 'utf8');
    const again = await runInProcess(words, { folder });
    expect(again).toMatchObject({ exitCode: 2, stdout: '' });
    expect(again.stderr).toContain('is there already and stays as it is');
    expect(again.stderr).not.toContain('flag --config');
    expect(readFileSync(found.file, 'utf8')).toBe(before);
  });

  it('says without a terminal which flags are missing, and writes nothing', async () => {
    const folder = makeFolder();
    const { exitCode, stderr } = await runInProcess(['init', '--sandbox'], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('flag --file: is missing');
    const bare = await runInProcess(['init'], { folder });
    expect(bare.stderr.match(/"where":"flag --(url|key-file|file)","path":"","message":"is missing/g)).toHaveLength(3);
    expect(() => readFileSync(join(folder, 'nightscreen.config.yaml'))).toThrow();
  });

  it('asks on a terminal, and again after a wrong answer, with what is wrong with it, and names no flag that nobody typed', async () => {
    const folder = makeFolder();
    const command = [process.execPath, findCli(), 'init'].map((word) => `'${word}'`).join(' ');
    const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', SHELL: '/bin/sh' };
    const running = promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
    const answers = ['http://10.0.0.1/v1', '', sandbox.url, 'nokey', 'key', 'nofile.csv', file];
    running.child.stdin?.end(`${answers.join('\n')}\n`);
    const { stdout } = await running;
    expect(stdout).toContain('Address of the service, such as https://service.example/v1 (or http://127.0.0.1:8080/v1');
    expect(stdout).toMatch(/http:\/\/10\.0\.0\.1\/v1: must begin with https:\/\/ \(http:\/\/ .*127\.0\.0\.1/);
    expect(stdout).toMatch(/nokey: names a file that cannot be read/);
    expect(stdout).toMatch(/nofile\.csv: .*nofile\.csv/);
    expect(stdout).not.toMatch(/flag --|env NIGHTSCREEN/);
    expect(stdout).toMatch(/Next\s+export NIGHTSCREEN_API_KEY_FILE=\S+\s+nightscreen onboard/);
    expect(readFileSync(join(folder, 'nightscreen.config.yaml'), 'utf8')).toContain(`baseUrl: ${sandbox.url}`);
  });

  it('reads a file with a title, blank lines, a total and lost letters, says so, and puts no guessed meaning into force', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'clients.csv'), makeClients());
    const words = ['init', '--url', sandbox.url, '--key-file', 'key', '--file', 'clients.csv'];
    const { exitCode, stdout } = await runInProcess(words, { folder });
    expect(exitCode).toBe(0);
    for (const said of [
      'line 3 is the header: the lines above it are not read',
      'letters of Nom / Raison sociale are lost in 1 of 36 rows, such as "Nguy?n"',
      'Nationalité looks like countries: most of its values are unknown',
      'not read: Nationalité, Dernière vérif.',
      'rosters[0].columns.type: 1 word of Type in 2 rows; until then these rows are rejected and listed as not screened',
      'rosters[0].columns.countries: 1 word of Pays in 6 rows; until then these customers are screened, with an unknown country',
      '34 customers + 3 rejected + 0 repeated rows',
    ])
      expect(stdout).toContain(said);
    const environment = { NIGHTSCREEN_API_KEY_FILE: join(folder, 'key') };
    const [roster] = loadConfig({ environment, folder }).settings.rosters;
    expect(roster?.csv).toMatchObject({ header: 3 });
    expect(roster?.columns.type).toEqual({ column: 'Type', values: { pp: 'person', pm: 'entity' } });
    const { url = '' } = await databases.locate();
    const imported = await runInProcess(['import', '--dry-run'], {
      folder,
      environment: { ...environment, DATABASE_URL: url },
    });
    expect(imported.stdout).toMatch(/\b34\b/);
  });

  it('reads a workbook from its configuration to its import, and refuses it once another sheet has customers too', async () => {
    const folder = makeFolder();
    const table = [
      ['Customer no', 'Name', 'Type', 'Date of birth', 'Country'],
      ...Array.from({ length: 12 }, (_, at) => [
        `C-${100 + at}`,
        `Dupont ${'ABCDEFGHIJKL'[at]}`,
        'person',
        `19${60 + at}-11-03`,
        'FR',
      ]),
    ];
    writeFileSync(join(folder, 'clients.xlsx'), await makeWorkbook({ sheets: { Clients: toRows(table) } }));
    const words = ['init', '--url', sandbox.url, '--key-file', 'key', '--file', 'clients.xlsx'];
    const { exitCode, stdout } = await runInProcess(words, { folder });
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('(sheet Clients)') });
    expect(stdout).toContain('12 customers + 0 rejected + 0 repeated rows');
    const environment = { NIGHTSCREEN_API_KEY_FILE: join(folder, 'key') };
    const [roster] = loadConfig({ environment, folder }).settings.rosters;
    expect(roster).toMatchObject({ name: 'clients', csv: { header: true, delimiter: 'auto' } });
    const { url = '' } = await databases.locate();
    const runImport = (flags: string[]) =>
      runInProcess(['import', ...flags], { folder, environment: { ...environment, DATABASE_URL: url } });
    expect((await runImport(['--dry-run'])).stdout).toMatch(/\b12\b/);
    const sheets = { Clients: toRows(table), Firms: toRows(table) };
    writeFileSync(join(folder, 'clients.xlsx'), await makeWorkbook({ sheets }));
    const refused = await runImport(['--dry-run']);
    expect(refused.exitCode).not.toBe(0);
    expect(JSON.parse(refused.stderr).message).toContain('the sheets "Clients", "Firms" may both hold customers');
  });

  it('goes on without a service that is yet to be started', async () => {
    const folder = makeFolder();
    const { exitCode, stdout } = await runInProcess(['init', '--sandbox', '--file', file], { folder });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('finds no real sanctioned name');
    const words = ['init', '--sandbox', '--file', file, '--config', 'second.yaml'];
    const byNpx = await runCli(words, { folder, environment: { npm_command: 'exec' } });
    expect(byNpx.stdout).toMatch(
      /terminal\s+npx --no nightscreen sandbox --key-file sandbox.key\s[\s\S]*\s+npx --no nightscreen onboard --config second.yaml\s*$/,
    );
    const { controls } = loadConfig({ environment: {}, folder }).settings;
    // The list and the controls of the sandbox are those of the demo.
    const paths = { watchlists: ['fixtures/demo/watchlist-before.json'] };
    const search = createSearch((await loadWorld(paths)).watchlist);
    expect(controls.map(({ type, name, expect }) => [expect, search(type, name).some(({ match }) => match)])).toEqual([
      ['match', true],
      ['none', false],
    ]);
    expect(stdout).toMatch(
      /in a second terminal\s+nightscreen sandbox --key-file sandbox.key\s+.*export lines[^\n]*\s+nightscreen onboard\s*$/,
    );
  });
});
