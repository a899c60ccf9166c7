import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { collect, runInProcess, startCli } from '../helpers/cli-process.js';
import { seedDatabase, testDatabases } from '../helpers/databases.js';
import { sendEvent, signEvent } from '../helpers/play-events.js';
import { buildSandboxDossier, writeRoster } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const dossier = buildSandboxDossier(1, { status: 'open' });
let sandbox: Sandbox;
let folder: string;
let environment: Record<string, string>;
beforeEach(async () => {
  sandbox = await startSandbox({ world: { watchlist: [], dossiers: [dossier] } });
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-listen-'));
  environment = {
    NIGHTSCREEN_DATA: join(folder, '.nightscreen'),
    NIGHTSCREEN_REPORTS: join(folder, 'reports'),
    NIGHTSCREEN_BASE_URL: sandbox.url,
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
  };
});
afterEach(async () => {
  await sandbox.close();
  rmSync(folder, { recursive: true });
});
const cli = (...words: string[]) => runInProcess([...words, '--json'], { folder, environment });
const configure = (settings: object): void =>
  writeFileSync(join(folder, 'nightscreen.config.yaml'), JSON.stringify(settings));

describe.each(['embedded', 'postgres'] as const)('listen (%s)', (dialect) => {
  test('an event is taken beside other commands, looked up, and its customer searched for', async () => {
    if (dialect === 'embedded') await seedDatabase(folder);
    else environment['DATABASE_URL'] = (await databases.locate()).url ?? '';
    writeFileSync(join(folder, 'events.pem'), sandbox.eventKey);
    const csv = { path: await writeRoster(['Wilhelmina Achterberg']) };
    const columns = { id: 'customer_id', type: 'type', name: 'name' };
    configure({
      listen: { key: 'events.pem' },
      rosters: [{ name: 'people', csv, columns, dossiers: {} }],
    });
    expect(await cli('sweep', '--no-report')).toMatchObject({ exitCode: 0 });
    if (dialect === 'postgres') expect(await cli('import', '--roster', 'people')).toMatchObject({ exitCode: 0 });

    const child = startCli(['reconcile', 'listen', '--port', '0', '--json'], { folder, environment });
    const [said, summary] = [collect(child.stderr), collect(child.stdout)];
    await expect.poll(() => said.text(), { timeout: 20_000 }).toMatch(/"port":\d+/);
    const port = Number(/"port":(\d+)/.exec(said.text())?.[1]);
    sandbox.setEvents({ url: `http://127.0.0.1:${port}/events` });
    sandbox.changeDossiers([{ update: dossier.id, set: { status: 'rejected' } }]);
    expect(await sendEvent(port, signEvent('dossier.updated', { id: dossier.id }))).toBe(401);
    await expect
      .poll(() => sandbox.events().every(({ state }) => state === 'delivered'), { timeout: 20_000 })
      .toBe(true);
    const taken = sandbox.events().length;
    // The embedded database is free all the while; its events are taken once their file is closed.
    await expect
      .poll(async () => JSON.parse((await cli('sweep', '--dirty')).stdout), { timeout: 30_000, interval: 3_000 })
      .toMatchObject({ kind: 'sweep', state: 'complete', counts: { dossiers: 1, changed: 1 } });
    if (dialect === 'postgres') {
      expect(JSON.parse((await cli('screen', '--dirty', '--roster', 'people')).stdout)).toMatchObject({
        kind: 'screen',
        state: 'complete',
        counts: { planned: 1, screened: 1 },
      });
      expect(JSON.parse((await cli('schedule', 'run', 'dirty')).stdout)).toMatchObject({ exitCode: 0, runIds: [] });
    }

    const stopping = performance.now();
    child.kill('SIGTERM');
    const [exitCode] = await once(child, 'close');
    expect([exitCode, performance.now() - stopping < 8_000]).toEqual([0, true]);
    expect(JSON.parse(summary.text())).toMatchObject({ schema: 'nightscreen/listen/1', taken, forged: 1, repeated: 0 });
    expect(said.text()).not.toContain(dossier.name);
  }, 300_000);
});

test('without a key, with a private one, and with none that can be read, it is refused before it listens', async () => {
  await seedDatabase(folder);
  const listen = async (key?: string) => {
    configure(key === undefined ? {} : { listen: { key } });
    const { exitCode, stderr } = await runInProcess(['reconcile', 'listen', '--port', '0'], { folder, environment });
    return `${exitCode} ${stderr}`;
  };
  expect(await listen()).toMatch(/^2 .*listen\.key.*is not set.*set it \(or NIGHTSCREEN_LISTEN_KEY\) to the PEM file/s);
  expect(await listen('missing.pem')).toMatch(/^2 .*listen\.key.*cannot be read/s);
  writeFileSync(join(folder, 'private.pem'), '-----BEGIN PRIVATE KEY-----\nx');
  expect(await listen('private.pem')).toMatch(/^2 .*contains a private key/s);
  writeFileSync(join(folder, 'empty.pem'), '');
  expect(await listen('empty.pem')).toMatch(/^2 .*is no public key in PEM/s);
}, 60_000);
