import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withPings } from '../../../src/cli/watchdog.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

const seen: { path: string; rid: string | null; body: string }[] = [];
let status = 200;
const monitor = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://monitor');
  let body = '';
  request.on('data', (part: Buffer) => {
    body += part.toString();
  });
  request.on('end', () => {
    seen.push({ path: url.pathname, rid: url.searchParams.get('rid'), body });
    if (status !== 0) response.writeHead(status).end();
  });
});
let address = '';
beforeAll(async () => {
  address = `http://127.0.0.1:${await listenOnLoopback(monitor)}/check/`;
});
afterAll(() => {
  monitor.closeAllConnections();
  monitor.close();
});

const configure = (url: string) =>
  loadConfig({ environment: { NIGHTSCREEN_PING_URL: url }, folder: mkdtempSync(join(tmpdir(), 'nightscreen-pings-')) });
const complaints: string[] = [];
const complain = (message: string): void => {
  complaints.push(message);
};
const unreported = { complain: () => {}, signal: new AbortController().signal };
const ping = (exitCode: number) =>
  withPings(configure(address), { ...unreported, complain }, async () => ({ exitCode, text: 'no alarm\n' }), 200);

it.each([
  [0, '/check'],
  [3, '/check/fail'],
])('exit code %i ends at %s, with the run id of its start', async (exitCode, path) => {
  seen.length = 0;
  expect((await ping(exitCode)).exitCode).toBe(exitCode);
  expect(seen.map((one) => one.path)).toEqual(['/check/start', path]);
  expect(seen[0]?.rid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(seen[1]?.rid).toBe(seen[0]?.rid);
  expect(seen[1]?.body).toBe(`nightscreen schedule watchdog\nexit code ${exitCode}\nno alarm`);
});

it('work that throws is a failure, told by its code and not by its words', async () => {
  seen.length = 0;
  const work = withPings(configure(address), unreported, () => Promise.reject(new Error('Jane Doe')));
  await expect(work).rejects.toThrow('Jane Doe');
  expect(seen.map(({ path }) => path)).toEqual(['/check/start', '/check/fail']);
  expect(seen[1]?.body).not.toContain('Jane');
});

it.each([
  ['refuses', 500, 'status 500'],
  ['hangs', 0, 'no answer within 200 ms'],
])('a monitor that %s changes nothing but is told of', async (_how, answer, said) => {
  complaints.length = 0;
  status = answer;
  expect(await ping(0)).toMatchObject({ exitCode: 0 });
  status = 200;
  expect(complaints).toEqual([
    `the ping of the watchdog's monitor failed (start): ${said}`,
    `the ping of the watchdog's monitor failed (success): ${said}`,
  ]);
});

it('once this process is asked to stop, a monitor that hangs has a moment left and not its whole time', async () => {
  complaints.length = 0;
  status = 0;
  const stopping = new AbortController();
  const begunMs = performance.now();
  const listener = { complain, signal: stopping.signal };
  const work = async () => {
    status = 200;
    return { exitCode: 0, text: '' };
  };
  const pinging = withPings(configure(address), listener, work, 9_000);
  stopping.abort();
  expect(await pinging).toMatchObject({ exitCode: 0 });
  expect(performance.now() - begunMs).toBeLessThan(6_000);
  expect(complaints).toEqual([
    "the ping of the watchdog's monitor failed (start): no answer before this process had to stop",
  ]);
});

it.each(['http://monitor.example/x', 'no url'])('%s as an address is refused before anything is done', (url) => {
  expect(() => configure(url)).toThrow('must be a URL with https://');
});
