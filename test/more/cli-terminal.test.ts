import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { bundleProgram, type Program, quickStart, runInProcess } from '../helpers/cli-process.js';
import { readRows, testDatabases } from '../helpers/databases.js';
import { fillInList } from '../helpers/report-files.js';
import { listed as makeListed } from '../helpers/small-world.js';

const attack = '\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202e\u2028';
/** They differ by what nobody can see. */
const references = ['C-1', 'C-1\u200b', '\u202eC-1'];
const roster = [
  'customer_id,type,name',
  ...references.map((reference) => `${reference},person,Wilhelmina\u2066 \u202eAchterberg`),
  ...[...attack].map((character, at) => `C-${at + 10},person,"Tamsin ${character}Oyelaran"`),
  `"${attack}",person,Tamsin Oyelaran`,
  '',
].join('\n');

const databases = testDatabases('postgres');
let folder: string;
let environment: Record<string, string>;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-terminal-'));
  const { url = '' } = await databases.locate();
  sandbox = await startSandbox({
    world: {
      watchlist: [makeListed('one', `Wilhelmina ${attack.replaceAll(/\w/g, '')}Achterberg`, [attack])],
      dossiers: [],
    },
  });
  writeFileSync(join(folder, 'people.csv'), roster);
  const configuration = 'rosters: [{ name: people, csv: { path: people.csv }, guards: { maxRejectShare: 1 } }]\n';
  writeFileSync(join(folder, 'nightscreen.config.yaml'), configuration);
  environment = {
    DATABASE_URL: url,
    NIGHTSCREEN_BASE_URL: sandbox.url,
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
    NO_COLOR: '1',
    TERM: 'xterm',
    SHELL: '/bin/sh',
  };
});
afterAll(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});

const run = (...words: string[]) => runInProcess(words, { folder, environment });

let program: Program;
beforeAll(async () => {
  program = await bundleProgram(new URL('./terminal-program.ts', import.meta.url));
  return () => program.remove();
});

/** What commands show one after the other on a terminal, standard output and messages together, and their exit codes. */
async function runOnTerminal(commands: readonly (readonly string[])[]): Promise<{ exitCode: number; shown: string }[]> {
  writeFileSync(join(folder, 'commands.json'), JSON.stringify(commands));
  const command = [process.execPath, ...quickStart, program.path, 'commands.json'].map((word) => `'${word}'`).join(' ');
  const options = { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...environment }, maxBuffer: 1e8 };
  // Of util-linux, which every Debian has; -e gives the exit code of the program.
  const running = promisify(execFile)('script', ['-qec', command, '/dev/null'], options);
  running.child.stdin?.end();
  const { stdout } = await running;
  return stdout
    .split(/<ended with (\d+)>\r*\n/)
    .flatMap((shown, at, parts) =>
      at % 2 === 0 && parts[at + 1] !== undefined ? [{ exitCode: Number(parts[at + 1]), shown }] : [],
    );
}

const misleading = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/u;

/** Without the byte order mark of a CSV file, the line breaks of a terminal and the sequence by which progress is drawn anew. */
const withoutDrawing = (shown: string): string =>
  shown
    .replace(/^\ufeff/, '')
    .replaceAll('\r\u001b[2K', '')
    .replaceAll(/\r+\n/g, '\n');

const byCommand: readonly [title: string, exitCode: number, words: readonly string[]][] = [
  ['a roster that is looked at', 0, ['roster', 'inspect', 'people.csv']],
  ['an import', 0, ['import', '--roster', 'people']],
  ['a night', 3, ['rescreen']],
  ['the runs', 0, ['runs']],
  ['the states', 3, ['status']],
  ['an alert', 0, ['review', 'show', references[2] ?? '']],
  ['a list', 0, ['review', 'export']],
  ['an unknown customer', 2, ['review', 'show', attack]],
  ['an unknown file', 2, ['review', 'import', `${attack}.csv`]],
  ['an unknown configuration', 2, ['config', '--config', attack]],
  ['an unknown command', 2, [attack]],
];

/** Each command shows plain text first and its document after it. */
async function expectHarmless(commands: typeof byCommand): Promise<void> {
  const results = await runOnTerminal(commands.flatMap(([, , words]) => [words, [...words, '--json']]));
  const expected = commands.flatMap(([title, exitCode]) =>
    [title, `${title}, as JSON`].map((what) => ({ what, exitCode })),
  );
  expect(results.map(({ exitCode }, at) => ({ what: expected[at]?.what, exitCode }))).toEqual(expected);
  for (const { shown } of results) {
    expect(shown.length).toBeGreaterThan(20);
    expect(withoutDrawing(shown)).not.toMatch(misleading);
  }
}

test('a terminal is shown no control character by any command', async () => {
  await expectHarmless(byCommand);
  // A list is a workbook for people, and CSV for programs.
  expect(readdirSync(folder).filter((name) => name.startsWith('review.'))).toEqual(['review.csv', 'review.xlsx']);
});

test('a terminal is shown no control character by an import, with the rows that it rejected', async () => {
  const listed = await run('runs', '--json');
  const { runs } = z.object({ runs: z.array(z.object({ runId: z.string() })) }).parse(JSON.parse(listed.stdout));
  await expectHarmless([['the run of an import', 0, ['runs', 'show', runs.at(-1)?.runId ?? '']]]);
});

test('the CSV files of a night hold no control character, and say whom they mean', () => {
  const reports = join(folder, 'reports');
  const files = readdirSync(reports, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.csv'));
  const texts = files.map((file) => withoutDrawing(readFileSync(join(reports, file), 'utf8')));
  for (const text of texts) expect(text).not.toMatch(misleading);
  // Of changes and rejects.
  for (const shown of [/^high,\[U\+202E\]C-1,.*,first_screening,/m, /^"\[U\+001B\]\]0;owned\[U\+0007\]/m])
    expect(texts.join('')).toMatch(shown);
});

test('decisions of a list come back to the alerts that they are about, whatever hides in the names', async () => {
  const rows = z.array(z.record(z.string(), z.string()));
  const exported = await run('review', 'export', '--out', 'list.csv');
  expect(exported).toMatchObject({ exitCode: 0 });
  const list = rows.parse(parse(readFileSync(join(folder, 'list.csv'), 'utf8'), { bom: true, columns: true }));
  expect(list.map(({ reference }) => reference).toSorted()).toEqual(['C-1', 'C-1[U+200B]', '[U+202E]C-1']);
  const decided = list.flatMap((row) =>
    row['reference'] === 'C-1' ? [] : [{ ...row, disposition: 'true_match', reason: `${row['reference']} it is` }],
  );
  writeFileSync(join(folder, 'filled.csv'), stringify(decided, { header: true }));
  expect(await run('review', 'import', 'filled.csv', '--apply')).toMatchObject({ exitCode: 0 });

  expect(await run('review', 'export', '--out', 'list.xlsx')).toMatchObject({ exitCode: 0 });
  const workbook = await fillInList(readFileSync(join(folder, 'list.xlsx')), (reference) =>
    reference === 'C-1' ? ['inconclusive', 'C-1 it is'] : null,
  );
  writeFileSync(join(folder, 'filled.xlsx'), workbook);
  expect(await run('review', 'import', 'filled.xlsx', '--apply')).toMatchObject({ exitCode: 0 });

  const database = await databases.open({ url: environment['DATABASE_URL'] ?? '' });
  const decisions = await readRows(
    database,
    `select customer.reference, told.verdict, told.reason
     from disposition_with_text told join alert on alert.alert_id = told.alert_id join party using (party_id) join customer using (customer_id)
     order by told.disposition_id`,
  );
  expect(decisions).toEqual(
    expect.arrayContaining([
      { reference: 'C-1\u200b', verdict: 'true_match', reason: 'C-1[U+200B] it is' },
      { reference: '\u202eC-1', verdict: 'true_match', reason: '[U+202E]C-1 it is' },
      { reference: 'C-1', verdict: 'inconclusive', reason: 'C-1 it is' },
    ]),
  );
  expect(decisions).toHaveLength(3);
});
