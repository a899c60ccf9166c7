import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { collect, findCli } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';
import { readShipped, root } from '../helpers/shipped-files.js';

const operations = readShipped('docs/operations.md');
const [, section = ''] = /^## A night by cron$([\s\S]*?)^## /m.exec(operations) ?? [];

/** The command of the only crontab line in a text. */
const readCommand = (text: string): string => /^```cron\n(?:\S+ +){5}(.+)\n```$/m.exec(text)?.[1] ?? 'false';

let host: string;
let sandbox: Awaited<ReturnType<typeof startSandbox>>;
/** A path of a whole machine as one below a folder. */
const move = (text: string): string => text.replaceAll(/\/(?:srv|etc|usr\/local\/bin)\/nightscreen/g, `${host}$&`);

beforeAll(async () => {
  host = mkdtempSync(join(tmpdir(), 'nightscreen-cron-'));
  const [home, bin] = [join(host, 'srv/nightscreen'), join(host, 'usr/local/bin')];
  for (const there of [join(home, 'dist/src/cli'), bin, join(host, 'home')]) mkdirSync(there, { recursive: true });
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  await seedDatabase(home);
  writeFileSync(join(home, 'dist/src/cli/main.js'), `import ${JSON.stringify(findCli())};\n`);
  writeFileSync(join(home, 'few.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n2,entity,Muster GmbH\n');
  writeFileSync(join(home, 'nightscreen.config.yaml'), 'rosters: [{ name: few, csv: { path: few.csv } }]\n');

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
  writeFileSync(
    settings,
    `${readFileSync(settings, 'utf8')}
NIGHTSCREEN_API_KEY=${sandbox.privateKey}
NIGHTSCREEN_BASE_URL=${sandbox.url}
NIGHTSCREEN_REPORTS=nights&$HOME
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

test('the line of the crontab, word for word, is a whole night', async () => {
  expect(readCommand(readShipped('README.md'))).toBe(readCommand(section));
  const { exitCode, output } = await startByCron(move(readCommand(section)));
  expect([exitCode, output]).toEqual([0, expect.any(String)]);
  const home = join(host, 'srv/nightscreen');
  const { runId, ...summary } = JSON.parse(readFileSync(join(home, 'night.json'), 'utf8'));
  expect(summary).toMatchObject({ state: 'complete', counts: { screened: 2 } });
  // A value means itself, whatever a shell would make of it.
  expect(existsSync(join(home, 'nights&$HOME', runId, 'manifest.json'))).toBe(true);
});

test('the line that asks the schedule every ten minutes begins nothing that is not due', async () => {
  const [, schedule = ''] = /^### One job from cron[\s\S]*?(^```cron$[\s\S]*?^```$)/m.exec(operations) ?? [];
  const { exitCode, output } = await startByCron(move(readCommand(schedule)));
  expect([exitCode, output]).toEqual([0, expect.stringMatching(/not due/)]);
});

test('what cron could not start says what is missing, and ends as refused', async () => {
  const command = `${host}/usr/local/bin/nightscreen-by-cron runs list`;
  expect(await startByCron(command)).toMatchObject({ exitCode: 0, output: expect.stringContaining('rescreen') });
  rmSync(join(host, 'srv/nightscreen/dist'), { recursive: true });
  expect(await startByCron(command)).toMatchObject({ exitCode: 2, output: expect.stringContaining('no program in') });
  rmSync(join(host, 'etc/nightscreen/nightscreen.env'));
  expect(await startByCron(command)).toMatchObject({ exitCode: 2, output: expect.stringContaining('cannot read') });
});
