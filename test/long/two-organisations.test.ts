import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { makeCliSite, makeInvocation } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/figures.js';
import { listenOnLoopback } from '../helpers/loopback.js';
import { listUnnamedCommands } from '../helpers/report-files.js';
import { buildSandboxDossier, controls, listed } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const numbers = Array.from({ length: 30 }, (_, index) => index + 1);
const said = ['--reason', 'it was confirmed'];

/** One of the two organisations: its name is a part of all texts that it has, and of nothing that the other one has. */
interface Office {
  name: string;
  sandbox: Sandbox;
  folder: string;
  /** All that its commands have printed. */
  printed: string[];
  run(...words: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
}

// Customer ids, the roster, jobs, addresses and most dossiers are the same in both.
const toRosterText = (name: string): string => {
  const rows = numbers.map((number) => `C-${number},person,Number${number} ${name},one@${name}.example`);
  return ['customer_id,type,name,email', ...rows, 'C-99,robot,Unreadable Row,', ''].join('\n');
};

const toDossiers = (name: string, own: number) =>
  [1, 3, own].map((number) => buildSandboxDossier(number, { name: `Number${number} ${name}` }));

const toConfiguration = (name: string, workflow: string, hook: string): string => `timezone: UTC
service: { mode: test, rate: { perSecond: 400, concurrency: 8 } }
controls: [{ type: person, name: ${controls[0].name}, expect: match }]
organisations:
  - name: ${name}
    apiKeyEnv: NIGHTSCREEN_API_KEY
    rosters:
      - name: retail
        csv: { path: retail.csv }
        columns: { attributes: [email] }
        dossiers: { invite: { workflow: ${workflow}, recipient: email, channel: { value: email }, locale: { value: da } } }
budget: { pricePerEmail: 0.05 }
mail: { transport: file, from: desk@${name}.example, to: [mlro@bank.example] }
webhooks: [{ url: "${hook}" }]
jobs: { rescreen: "0 2 * * *", sweep: off, report: "0 8 * * *" }
`;

const makeWorld = (name: string, own: number, isLost: boolean) => ({
  watchlist: [
    ...numbers.slice(0, isLost ? 0 : 12).map((number) => listed(`amla_${name}_${number}`, `Number${number} ${name}`)),
    listed('c', controls[0].name),
  ],
  dossiers: toDossiers(name, own),
});

let north: Office;
let south: Office;
const hooks = createServer((socket) => {
  // A receiver that is not well, so that messages wait.
  socket.on('error', () => undefined);
  socket.end('HTTP/1.1 500 no\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
});

async function openOffice(name: string, own: number, database: string, hook: string): Promise<Office> {
  const sandbox = await startSandbox({ world: makeWorld(name, own, false) });
  const files = {
    'retail.csv': toRosterText(name),
    'list.csv': `id,name,schema\nx-1,Number5 ${name},Person\n`,
    'nightscreen.config.yaml': toConfiguration(name, sandbox.workflowToken, hook),
    'former.yaml': 'changes: { scoreStep: 0.05 }\n',
  };
  const site = await makeCliSite(files, sandbox, database);
  const secret = `whsec_${Buffer.from(name.padEnd(32, '.')).toString('base64')}`;
  const environment = { ...site.environment, NIGHTSCREEN_WEBHOOK_SECRET: secret };
  const printed: string[] = [];
  const run: Office['run'] = async (...words) => {
    const { invocation, terminal } = makeInvocation(site.folder);
    const exitCode = await runCommandLine({
      words: [...words, '--organisation', name],
      environment,
      folder: site.folder,
      terminal: invocation.terminal,
    });
    expect(exitCode, `${words.join(' ')}: ${terminal.stdout}${terminal.stderr}`).not.toBe(1);
    printed.push(`${words.join(' ')}\n${terminal.stdout}\n${terminal.stderr}`);
    return { exitCode, ...terminal };
  };
  return { name, sandbox, folder: site.folder, printed, run };
}

const runSchema = z.object({ runId: z.string(), state: z.string() });

/** Two nights of which the second one is held, a sweep, invitations, decisions, checks, jobs: something of everything. */
async function liveThrough({ name, sandbox, folder, run }: Office, own: number): Promise<void> {
  const failures: string[] = [];
  const mustEnd = async (exitCodes: readonly number[], ...words: string[]) => {
    const result = await run(...words);
    const { exitCode, stdout, stderr } = result;
    if (!exitCodes.includes(exitCode)) failures.push(`${words.join(' ')}: ${exitCode} ${stdout}${stderr}`);
    return result;
  };
  await mustEnd([0], 'sweep');
  await mustEnd([3], 'rescreen');
  await mustEnd([0, 3], 'reconcile');
  await mustEnd([0, 3], 'reconcile', 'invite', '--send', '--limit', '3');
  await mustEnd([0], 'roster', 'except', '--all', '--until', '2099-01-01', ...said);
  await mustEnd([0], 'check', `Nobody ${name}`, '--type', 'person', '--reason', `file of ${name}`);
  await mustEnd([0, 3], 'assure', 'list.csv', '--sample', '1', '--type', 'person', '--seed', name);
  await mustEnd([0, 3], 'screen', '--because-of', 'list.csv');
  await mustEnd([0], 'review', 'assign', '--customer', 'C-2', '--to', `reviewer.${name}`);
  await mustEnd([0], 'review', 'export', '--out', 'first.csv');
  const decided = (await readFile(join(folder, 'first.csv'), 'utf8')).split('\r\n');
  await writeFile(join(folder, 'decided.csv'), fillIn(decided, name));
  await mustEnd([0], 'review', 'import', 'decided.csv', '--apply');
  await mustEnd([0, 3], 'schedule', 'run', 'report');
  await mustEnd([0], 'schedule', 'pause', '--until', '12h');
  await mustEnd([0, 3], 'schedule', 'watchdog');
  sandbox.setWorld(makeWorld(name, own, true));
  const held = await mustEnd([3], 'screen', '--all', '--json');
  expect(failures).toEqual([]);
  expect(runSchema.parse(JSON.parse(held.stdout)).state).toBe('incomplete');
}

/** The first customer of a working list gets a disposition. */
function fillIn(lines: readonly string[], name: string): string {
  const [header = '', ...rows] = lines;
  const titles = header.split(',');
  const place = (title: string): number => titles.findIndex((found) => found.replaceAll(/["\uFEFF]/g, '') === title);
  const filled = rows.slice(0, 1).map((row) => {
    const cells = row.split(',');
    cells[place('disposition')] = 'false positive';
    cells[place('reason')] = `another birth date at ${name}`;
    return cells.join(',');
  });
  return [header, ...filled, ''].join('\r\n');
}

const readingCommands = [
  'runs --json',
  'runs show last --json',
  'status --json',
  'coverage --limit 100 --json',
  'review show C-1 --json',
  'review show C-2',
  'outbox --all --json',
  'schedule show --json',
  'reconcile invite --json',
  'screen --all --dry-run --json',
  'import --dry-run --json',
  'config --all',
  'config replay former.yaml',
  'sweep history dossier_000000000000000000000001',
  'roster inspect retail.csv',
];

/** What the reading commands print, without instants and spans of time. */
async function readAll({ run }: Office): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const command of readingCommands) {
    const { stdout } = await run(...command.split(' '));
    all[command] = stdout
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
      .replaceAll(/"\w*(Ms|Seconds|Hours)":[\d.]+/g, 'S');
  }
  return all;
}

/** Every file below a folder as text: of a workbook the text of its cells. */
async function readFiles(folder: string): Promise<readonly { path: string; text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (path) => {
      const bytes = await readFile(path);
      if (path.endsWith('.xlsx')) return { path, text: JSON.stringify((await readXlsx(bytes)).sheets) };
      // The attachments of mails are in base64.
      const encoded = bytes.toString('utf8').match(/(?:[A-Za-z0-9+/=]{60,76}\r?\n)+/g) ?? [];
      const decoded = encoded.map((text) => Buffer.from(text, 'base64').toString('utf8'));
      return { path, text: [bytes.toString('utf8').replaceAll(/=\r?\n/g, ''), ...decoded].join('\n') };
    }),
  );
}

async function findOf(marker: string, office: Office): Promise<readonly string[]> {
  const files = await readFiles(office.folder);
  expect(files.length).toBeGreaterThan(20);
  const isOf = (text: string): boolean => text.toLowerCase().includes(marker);
  return [
    ...office.printed.filter(isOf),
    ...files.filter(({ path, text }) => isOf(path) || isOf(text)).map(({ path }) => path),
    ...office.sandbox
      .ledger()
      .filter((call) => isOf(JSON.stringify(call)))
      .map(({ path }) => path),
  ];
}

beforeAll(async () => {
  const { url = '' } = await databases.locate();
  const hook = `http://127.0.0.1:${await listenOnLoopback(hooks)}/hook`;
  north = await openOffice('borealis', 7, url, hook);
  south = await openOffice('australis', 8, url, hook);
});
afterAll(async () => {
  hooks.close();
  await north.sandbox.close();
  await south.sandbox.close();
});

const mailListSchema = z.object({ mails: z.array(z.object({ id: z.number() })) });

/** The words in which `asker` names runs, messages, alerts and dossiers of `owner`, with the exit codes of their commands. */
async function askForOthers(asker: Office, owner: Office, dossier: string) {
  const [runId = ''] = (await owner.run('runs')).stdout.match(/\d{4}-\d\d-\d\d-screen-\d+/) ?? [];
  const { mails } = mailListSchema.parse(JSON.parse((await owner.run('outbox', '--all', '--json')).stdout));
  const mail = String(mails[0]?.id ?? 'none');
  const list = await readFile(join(owner.folder, 'decided.csv'), 'utf8');
  const [alert = ''] = /[A-Z0-9]{9}-[A-Z0-9]{10}-[A-Z0-9]/.exec(list) ?? [];
  await writeFile(join(asker.folder, 'others.csv'), list.replaceAll(owner.name, asker.name));
  const questions = [
    ['runs', 'show', runId],
    ['runs', 'resume', runId],
    ['runs', 'accept', runId, ...said],
    ['report', '--run', runId],
    ['report', '--since', runId],
    ['outbox', 'retry', mail],
    ['outbox', 'drop', mail, '--all', ...said],
    ['review', 'undo', alert, ...said],
    ['review', 'assign', alert, '--to', 'somebody'],
    ['review', 'import', 'others.csv', '--apply'],
    ['sweep', 'history', dossier],
  ];
  const answers: (readonly [question: string, exitCode: number])[] = [];
  for (const words of questions) answers.push([words.join(' '), (await asker.run(...words)).exitCode]);
  return answers;
}

it('two organisations with something of everything in one database see and change nothing of each other', async () => {
  await liveThrough(north, 7);
  const before = await readAll(north);
  await liveThrough(south, 8);
  const ofSouth = await readAll(south);
  const told = await askForOthers(south, north, 'dossier_000000000000000000000007');
  expect(told.filter(([, exitCode]) => exitCode !== 2)).toEqual([]);
  expect.soft(await readAll(north)).toEqual(before);
  // What one has to show, the other has too.
  for (const [command, text] of Object.entries(ofSouth)) expect([command, text]).not.toEqual([command, '']);

  for (const office of [north, south]) {
    for (const words of [
      'report --out latest',
      'report --since 2020-01-01 --out span',
      'review export --out all.xlsx',
      'review export --out all.csv --all-columns',
      'review export --discrepancies --out discrepancies.csv',
      'status --out status.csv',
      'runs',
      'runs show last',
      'runs show last --list skipped',
      'coverage',
      'outbox retry',
      'schedule show',
      'schedule watchdog --json',
      'doctor --deep',
      'doctor --json',
    ]) {
      await office.run(...words.split(' '));
    }
  }
  const found = [...(await findOf('australis', north)), ...(await findOf('borealis', south))];
  for (const line of found) printFigure(line.slice(0, 600));
  expect(found).toEqual([]);
  for (const { name, folder, printed } of [north, south]) {
    // Packs of evidence hold reasons as they are stored; nobody types what stands there.
    const files = (await readFiles(folder)).filter(({ path }) => !path.includes('/evidence/'));
    const texts = [...printed, ...files.map(({ text }) => text)];
    expect(texts.flatMap((text) => listUnnamedCommands(text, name))).toEqual([]);
    expect(texts.filter((text) => text.includes(`nightscreen --organisation ${name} `)).length).toBeGreaterThan(20);
  }
}, 600_000);
