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
import { findCli, runCli } from '../helpers/cli-process.js';
import { watchlist } from '../helpers/small-world.js';

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
    const made = await runCli([...words, '--json'], { folder });
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
    const again = await runCli(words, { folder });
    expect(again).toMatchObject({ exitCode: 2, stdout: '' });
    expect(again.stderr).toContain('is there already and stays as it is');
    expect(readFileSync(found.file, 'utf8')).toBe(before);
  });

  it('says without a terminal which flags are missing, and writes nothing', async () => {
    const folder = makeFolder();
    const { exitCode, stderr } = await runCli(['init', '--sandbox'], { folder });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('flag --file: is missing');
    const bare = await runCli(['init'], { folder });
    expect(bare.stderr.match(/^ +flag --(url|key-file|file): is missing/gm)).toHaveLength(3);
    expect(() => readFileSync(join(folder, 'nightscreen.config.yaml'))).toThrow();
  });

  it('asks on a terminal for what no flag gives', async () => {
    const folder = makeFolder();
    const command = [process.execPath, findCli(), 'init', '--file', file].map((word) => `'${word}'`).join(' ');
    const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm', SHELL: '/bin/sh' };
    const running = promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: folder, env });
    running.child.stdin?.end(`${sandbox.url}\nkey\n`);
    const { stdout } = await running;
    expect(stdout).toContain('Address of the service');
    expect(stdout).toMatch(/Next\s+export NIGHTSCREEN_API_KEY_FILE=\S+\s+nightscreen onboard/);
    expect(readFileSync(join(folder, 'nightscreen.config.yaml'), 'utf8')).toContain(`baseUrl: ${sandbox.url}`);
  });

  it('goes on without a service that is yet to be started', async () => {
    const folder = makeFolder();
    const { exitCode, stdout } = await runCli(['init', '--sandbox', '--file', file], { folder });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('finds no real sanctioned name');
    const words = ['init', '--sandbox', '--file', file, '--config', 'second.yaml'];
    const byNpx = await runCli(words, { folder, environment: { npm_command: 'exec' } });
    expect(byNpx.stdout).toMatch(
      /terminal\s+npx --no nightscreen sandbox --key-file sandbox.key\s[\s\S]*\s+npx --no nightscreen onboard --config second.yaml\s*$/,
    );
    const { canaries } = loadConfig({ environment: {}, folder }).settings;
    // The list and the controls of the sandbox are those of the demo.
    const paths = { watchlists: ['fixtures/demo/watchlist-before.json'] };
    const search = createSearch((await loadWorld(paths)).watchlist);
    expect(canaries.map(({ type, name, expect }) => [expect, search(type, name).some(({ match }) => match)])).toEqual([
      ['match', true],
      ['none', false],
    ]);
    expect(stdout).toMatch(
      /in a second terminal\s+nightscreen sandbox --key-file sandbox.key\s+.*export lines[^\n]*\s+nightscreen onboard\s*$/,
    );
  });
});
