import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { checkPush } from '../../../src/cli/doctor/check-push.js';
import { listSecrets } from '../../../src/cli/list-secrets.js';
import { measureInto } from '../../../src/cli/measuring/measuring.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { type Config, loadConfig } from '../../../src/config/load-config.js';
import { createLogger } from '../../../src/logging.js';
import { createMetrics } from '../../../src/metrics/create-metrics.js';
import { makeInvocation } from '../../helpers/invocation.js';

const password = 'gehéim:wort-42';
const bearer = 'tok_geheim.42~/==';
const basic = `Basic ${Buffer.from(`push:${password}`).toString('base64')}`;

const seen: { request: string; authorization: string | undefined; isWhole: boolean }[] = [];
/** Takes what one of the two may push, as a proxy before a push gateway does. */
const gateway = createServer((request, response) => {
  let body = '';
  request.on('data', (part: Buffer) => {
    body += part.toString();
  });
  request.on('end', () => {
    const { authorization } = request.headers;
    seen.push({ request: `${request.method} ${request.url}`, authorization, isWhole: body.includes('nightscreen_') });
    const isTaken = authorization === basic || authorization === `Bearer ${bearer}`;
    if (request.url?.startsWith('/elsewhere')) response.writeHead(302, { location: '/taken' }).end();
    else response.writeHead(isTaken ? 202 : 401, { 'www-authenticate': 'Basic realm="push"' }).end();
  });
});
let url = '';
beforeAll(async () => {
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  const bound = gateway.address();
  url = `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}`;
});
afterAll(() => {
  gateway.closeAllConnections();
  gateway.close();
});
beforeEach(() => {
  seen.length = 0;
});

function write(metrics: object, environment: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'nightscreen-push-'));
  writeFileSync(join(folder, 'nightscreen.config.yaml'), JSON.stringify({ metrics }));
  return { folder, environment };
}
const named = { pushgatewaySecretEnv: 'PUSH_SECRET' };
const load = (metrics: object, environment: Record<string, string> = {}): Config =>
  loadConfig(write(metrics, environment));

/** Gives what was complained of. */
async function push(config: Config): Promise<readonly string[]> {
  const complaints: string[] = [];
  const metrics = createMetrics('1.0.0', { isLasting: false });
  const complain = (message: string): void => {
    complaints.push(message);
  };
  await measureInto(config, metrics, { isStopping: () => false, complain }).noteUnreadable(new Error('gone'));
  return complaints;
}

it('a push gateway that asks for user and password gets them', async () => {
  const config = load({ pushgateway: url, pushgatewayUser: 'push', ...named }, { PUSH_SECRET: password });
  expect(await push(config)).toEqual([]);
  expect(seen).toEqual([{ request: 'POST /metrics/job/nightscreen', authorization: basic, isWhole: true }]);
});

it('a push gateway that asks for a bearer token gets it, from a file that is read anew at each push', async () => {
  const { folder, environment } = write({ pushgateway: url, ...named }, {});
  const file = join(folder, 'token');
  writeFileSync(file, 'former\n');
  const config = loadConfig({ folder, environment: { ...environment, PUSH_SECRET_FILE: file } });
  expect(await push(config)).toEqual([
    'metrics could not be pushed: status 401: the push gateway does not take the secret (metrics.pushgatewaySecretEnv)',
  ]);
  writeFileSync(file, `${bearer}\n`);
  expect(await push(config)).toEqual([]);
  expect(seen.map(({ authorization }) => authorization)).toEqual(['Bearer former', `Bearer ${bearer}`]);
});

it('a secret that is not named, not set or no token is told in words that do not show it, and nothing else comes of it', async () => {
  expect(await push(load({ pushgateway: url }))).toEqual([
    'metrics could not be pushed: status 401: the push gateway asks for a secret (set metrics.pushgatewaySecretEnv)',
  ]);
  expect(await push(load({ pushgateway: url, ...named }))).toEqual([
    'metrics could not be pushed: env PUSH_SECRET: is not set (nor is PUSH_SECRET_FILE), and metrics.pushgateway asks for it',
  ]);
  const [noToken = ''] = await push(load({ pushgateway: url, ...named }, { PUSH_SECRET: 'no token' }));
  expect(noToken).toMatch(
    /^metrics could not be pushed: env PUSH_SECRET: is no bearer token .*metrics\.pushgatewayUser/,
  );
  expect(noToken).not.toContain('no token');
  expect(seen).toHaveLength(1);
});

it('a redirect is not followed, so the secret goes to one address only', async () => {
  const config = load({ pushgateway: `${url}/elsewhere`, ...named }, { PUSH_SECRET: bearer });
  expect(await push(config)).toEqual(['metrics could not be pushed: status 302: a redirect is not followed']);
  expect(seen).toHaveLength(1);
});

it('the secret stands neither in the log nor in what config show prints, in no form', async () => {
  const metrics = { pushgateway: url, pushgatewayUser: 'push', ...named };
  const { folder, environment } = write(metrics, { PUSH_SECRET: password });
  const { invocation, terminal } = makeInvocation(folder, environment);
  const line = { words: ['config', 'show'], environment, folder, terminal: invocation.terminal };
  expect(await runCommandLine(line)).toBe(0);
  expect(terminal.stdout).toMatch(/PUSH_SECRET\W+set/);
  let logged = '';
  const writeLine = (text: string): void => {
    logged += text;
  };
  const secrets = listSecrets(loadConfig({ folder, environment }));
  const logger = createLogger({ level: 'info', secrets, write: writeLine });
  logger.info({ password, headers: { authorization: basic } });
  logger.info({ headers: { authorization: `Bearer ${password}` } });
  expect(logged.match(/\[secret\]/g)).toHaveLength(3);
  for (const text of [terminal.stdout, terminal.stderr, logged]) {
    expect(text).not.toContain('wort-42');
    expect(text).not.toContain(Buffer.from(':wort-42').toString('base64').slice(0, 8));
    expect(text).not.toContain(basic.slice(14, -4));
  }
});

it('doctor finds a missing secret by day, and says nothing where none is asked for', () => {
  const tell = (config: Config) => checkPush(config).map(({ state, message }) => `${state} ${message}`);
  expect(tell(load({ pushgateway: url }))).toEqual([]);
  expect(tell(load({ pushgateway: url, ...named }, { PUSH_SECRET: bearer }))).toEqual([
    'ok metrics are pushed with a bearer token',
  ]);
  expect(tell(load({ pushgateway: url, pushgatewayUser: 'push', ...named }))).toEqual([
    'fail env PUSH_SECRET is not set (nor is PUSH_SECRET_FILE), and metrics.pushgateway asks for it',
  ]);
});

it.each([
  [{ pushgateway: 'http://push.example', ...named }, 'metrics.pushgateway', 'must begin with https://'],
  [{ pushgateway: 'https://push@push.example' }, 'metrics.pushgateway', 'must not hold credentials'],
  [named, 'metrics.pushgatewaySecretEnv', 'needs pushgateway'],
  [
    { pushgateway: 'https://push.example', pushgatewayUser: 'push' },
    'metrics.pushgatewayUser',
    'needs pushgatewaySecretEnv',
  ],
  [
    { pushgateway: 'https://push.example', pushgatewayUser: 'a:b', ...named },
    'metrics.pushgatewayUser',
    'without a colon',
  ],
  [
    { pushgateway: 'https://push.example', pushgatewaySecretEnv: 'geheim' },
    'metrics.pushgatewaySecretEnv',
    'name of an',
  ],
])('%j is refused', (metrics, path, message) => {
  expect(() => load(metrics)).toThrow(new RegExp(`${path}: .*${message}`));
});
