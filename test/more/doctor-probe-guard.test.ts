import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { runInProcess } from '../helpers/cli-process.js';

const document = z.object({
  probe: z.object({ calls: z.object({ total: z.number(), searches: z.number() }), snippet: z.string() }),
});
const isLive = { public_key: 'public_of_somebody', is_test: false };
const server = createServer();
afterEach(() => void server.removeAllListeners('request').closeAllConnections());

test.each([
  ['says live where test was agreed on', 'private_sandbox_abcdefghijklmnop', 200, isLive],
  ['says live where only the settings say test', 'abcdefghijklmnop', 200, isLive],
  ['fails', 'private_sandbox_abcdefghijklmnop', 500, {}],
  ['knows no such path', 'private_sandbox_abcdefghijklmnop', 404, {}],
])('a probe spends nothing, whatever it may, when the question whose key it is %s', async (_, key, status, body) => {
  const lines: string[] = [];
  server.on('request', (request, response) => {
    lines.push(`${request.method} ${request.url}`);
    request.resume();
    const isKeyQuestion = request.url === '/v1/api_keys/public';
    response.writeHead(isKeyQuestion ? status : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKeyQuestion ? body : {}));
  });
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-guard-'));
  await writeFile(join(folder, 'nightscreen.config.yaml'), 'service: { mode: test }\n');
  const environment = { NIGHTSCREEN_BASE_URL: `http://127.0.0.1:${port}/v1`, NIGHTSCREEN_API_KEY: key };
  const { exitCode, stdout } = await runInProcess(['doctor', '--probe', '--spend', '3', '--json'], {
    folder,
    environment,
  });
  const { calls, snippet } = document.parse(JSON.parse(stdout)).probe;
  expect(exitCode).toBe(3);
  expect(lines.filter((line) => line === 'POST /v1/aml/search').length).toBe(calls.searches);
  expect(calls.searches).toBe(0);
  expect(snippet).not.toContain('mode');
  expect(calls.total).toBe(0);
});
