import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { collect, findCli } from '../helpers/cli-process.js';
import { testDatabases } from '../helpers/databases.js';
import { readShipped, root } from '../helpers/shipped-files.js';

const operations = readShipped('docs/operations.md');
const [, section = ''] = /^## A night by cron$([\s\S]*?)^## /m.exec(operations) ?? [];

/** The command of the only crontab line in a text. */
const readCommand = (text: string): string => /^```cron\n(?:\S+ +){5}(.+)\n```$/m.exec(text)?.[1] ?? 'false';

const databases = testDatabases('postgres');
let host: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
/** A path of a whole machine as one below a folder. */
const move = (text: string): string => text.replaceAll(/\/(?:srv|etc|usr\/local\/bin)\/nightscreen/g, `${host}$&`);

const configure = (cron: string): string => `rosters: [{ name: few, csv: { path: few.csv } }]
jobs: { sweep: "${cron}", rescreen: "${cron}", report: "${cron}" }
`;

beforeAll(async () => {
  host = mkdtempSync(join(tmpdir(), 'nightscreen-cron-'));
  const [home, bin] = [join(host, 'srv/nightscreen'), join(host, 'usr/local/bin')];
  for (const there of [join(home, 'dist/src/cli'), bin, join(host, 'home')]) mkdirSync(there, { recursive: true });
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  writeFileSync(join(home, 'dist/src/cli/main.js'), `import ${JSON.stringify(findCli())};\n`);
  writeFileSync(join(home, 'few.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n2,entity,Muster GmbH\n');
  writeFileSync(join(home, 'nightscreen.config.yaml'), configure('0 4 1 1 *'));

  // As the documentation says, but for owner and place.
  for (const line of section.split('\n').filter((each) => each.startsWith('install '))) {
    const moved = move(line)
      .replace(/ \/usr\/local\/bin\/$/, ` ${bin}/`)
      .replace('-o nightscreen ', '');
    execFileSync('sh', ['-ec', moved], { cwd: root });
  }
  for (const name of readdirSync(bin)) {
    const text = move(readFileSync(join(bin, name), 'utf8'));
    writeFileSync(join(bin, name), text.replace(/^PATH=/m, `PATH=${dirname(process.execPath)}:`));
  }
  const settings = join(host, 'etc/nightscreen/nightscreen.env');
  const { url = '' } = await databases.locate();
  writeFileSync(
    settings,
    `${readFileSync(settings, 'utf8')}
NIGHTSCREEN_API_KEY=${sandbox.privateKey}
NIGHTSCREEN_BASE_URL=${sandbox.url}
NIGHTSCREEN_REPORTS=nights&$HOME
DATABASE_URL=${url}
`,
  );
});
afterAll(async () => {
  await sandbox.close();
  rmSync(host, { recursive: true });
});

/** Starts a command as cron does: by sh, in the home of the user, with these variables and no others. */
async function startByCron(command: string): Promise<{ exitCode: number | null; output: string }> {
  const home = join(host, 'home');
  const env = { HOME: home, LOGNAME: 'nightscreen', SHELL: '/bin/sh', PATH: '/usr/bin:/bin' };
  const child = spawn('/bin/sh', ['-c', command], { cwd: home, env });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [exitCode]: (number | null)[] = await once(child, 'close');
  return { exitCode: exitCode ?? null, output: stdout.text() + stderr.text() };
}

test('the line of the crontab, word for word, begins nothing that is not due, then makes a whole night', {
  timeout: 600_000,
}, async () => {
  const line = readCommand(section);
  expect(readCommand(readShipped('docs/first-week.md'))).toBe(line);
  const home = join(host, 'srv/nightscreen');
  const look = () => readFileSync(join(home, 'night.log'), 'utf8');
  const begunAt = Date.now();
  expect(await startByCron(move(line))).toEqual({ exitCode: 0, output: '' });
  // Due after the next start, which notes the new schedule, however slow this machine is.
  const dueAt = new Date(Date.now() + 2 * (Date.now() - begunAt) + 5_000);
  const [second, minute, hour] = [dueAt.getUTCSeconds(), dueAt.getUTCMinutes(), dueAt.getUTCHours()];
  writeFileSync(join(home, 'nightscreen.config.yaml'), configure(`${second} ${minute} ${hour} * * *`));
  expect(await startByCron(move(line))).toEqual({ exitCode: 0, output: '' });
  expect(look()).toBe('');
  await sleep(Math.max(0, dueAt.getTime() + 1_000 - Date.now()));
  expect(await startByCron(move(line))).toEqual({ exitCode: 0, output: '' });
  expect(look()).toMatch(/"runKind":"rescreen","state":"complete"/);
  expect(look()).toMatch(/"runKind":"sweep","state":"complete"/);
  // A value means itself, whatever a shell would make of it.
  const runs = readdirSync(join(home, 'nights&$HOME'));
  expect(runs).toContainEqual(expect.stringMatching(/-rescreen-\d+$/));
});

test('a start of cron leaves the line alone while the start before works', async () => {
  const home = join(host, 'srv/nightscreen');
  const former = spawn('/bin/sh', ['-c', `flock ${home}/night.lock sh -c 'echo locked; cat'`]);
  await once(former.stdout, 'data');
  expect((await startByCron(move(readCommand(section)))).exitCode).toBe(1);
  former.stdin.end();
  await once(former, 'close');
});

test('what cron could not start says what is missing, and ends as refused', async () => {
  const command = `${host}/usr/local/bin/nightscreen-by-cron runs`;
  expect(await startByCron(command)).toMatchObject({ exitCode: 0, output: expect.stringContaining('rescreen') });
  rmSync(join(host, 'srv/nightscreen/dist'), { recursive: true });
  expect(await startByCron(command)).toMatchObject({ exitCode: 2, output: expect.stringContaining('no program in') });
  rmSync(join(host, 'etc/nightscreen/nightscreen.env'));
  expect(await startByCron(command)).toMatchObject({ exitCode: 2, output: expect.stringContaining('cannot read') });
});
