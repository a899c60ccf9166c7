import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { makeCliSite, runInProcess } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

const configuration = `jobs: { sweep: off, report: off }
organisations:
  - { name: north, apiKeyEnv: NORTH_KEY, rosters: [{ name: retail, csv: { path: a.csv } }] }
  - { name: south, apiKeyEnv: SOUTH_KEY, rosters: [{ name: retail, csv: { path: a.csv } }] }
`;
const databases = testDatabases('postgres');
const pings: string[] = [];
const monitor = createServer((request, response) => {
  pings.push(request.url ?? '');
  response.end();
});
let site: Awaited<ReturnType<typeof makeCliSite>>;
let environment: Record<string, string>;
beforeAll(async () => {
  const files = { 'nightscreen.config.yaml': configuration, 'a.csv': 'customer_id,type,name\n1,person,Ann\n' };
  site = await makeCliSite(files, { url: 'http://127.0.0.1:9/v1', privateKey: '' });
  const ping = `http://127.0.0.1:${await listenOnLoopback(monitor)}/check`;
  environment = {
    NORTH_KEY: 'private_sandbox_northnorth',
    NIGHTSCREEN_PING_URL: ping,
    NIGHTSCREEN_BASE_URL: 'http://127.0.0.1:9/v1',
    DATABASE_URL: (await databases.locate()).url ?? '',
  };
});
afterAll(() => {
  monitor.close();
});
const cli = (...words: string[]) => runInProcess(words, { folder: site.folder, environment });

const allSchema = z.object({
  organisations: z.array(
    z.object({ organisation: z.string(), exitCode: z.number(), document: z.record(z.string(), z.unknown()) }),
  ),
});

it('doctor checks each in turn, and names the key of each', async () => {
  const { exitCode, stdout } = await cli('doctor');
  expect(exitCode).toBe(3);
  const [north = '', south = ''] = stdout.split(/^south$/m);
  for (const part of [north, south]) expect(part).toMatch(/^ok +database +/m);
  expect(north).toMatch(/^ok +key +test, fingerprint/m);
  expect(south).toMatch(/^fail +key +SOUTH_KEY is not set\s+-> set it, or SOUTH_KEY_FILE/m);
});

it('reading commands answer for each, and for the one that is named as they always do', async () => {
  const both = allSchema.parse(JSON.parse((await cli('outbox', '--json')).stdout));
  expect(both.organisations).toEqual(
    ['north', 'south'].map((organisation) => ({
      organisation,
      exitCode: 0,
      document: { schema: 'nightscreen/mail-list/1', mails: [] },
    })),
  );
  const one = await cli('outbox', '--json', '--organisation', 'south');
  expect(JSON.parse(one.stdout)).toEqual({ schema: 'nightscreen/mail-list/1', mails: [] });
});

it('what fails for one is reported at once and counts; the others are answered', async () => {
  const { exitCode, stdout, stderr } = await cli('coverage', '--roster', 'wholesale', '--json');
  expect(exitCode).toBe(2);
  const { organisations } = allSchema.parse(JSON.parse(stdout));
  expect(organisations.map(({ document }) => document['schema'])).toEqual([
    'nightscreen/error/1',
    'nightscreen/error/1',
  ]);
  expect(stderr).toMatch(/"message":"north: .*wholesale/);
});

it('the watchdog pings its monitor once for all', async () => {
  const { exitCode } = await cli('schedule', 'watchdog');
  expect(exitCode).not.toBe(1);
  expect(pings).toHaveLength(2);
});

it('a command for one is refused without a name', async () => {
  const commands = [
    'rescreen',
    'status --out x.csv',
    'review export --out x.csv',
    'report --all',
    'report --all --send',
  ];
  for (const words of commands.map((command) => command.split(' '))) {
    const { exitCode, stderr } = await cli(...words);
    expect([words, exitCode]).toEqual([words, 2]);
    expect(stderr).toContain('--organisation');
    expect(stderr).toContain('north, south');
  }
});
