import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { findFreePort } from '../../helpers/loopback.js';
import { readShipped, root } from '../../helpers/shipped-files.js';

const script = 'deploy/docker/healthcheck.mjs';
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A process that serves /healthz, with these words behind its command, and its port. */
async function serve(status: number, toWords: (port: string) => string[]): Promise<ChildProcess> {
  const code = `require('http').createServer((q, r) => { r.statusCode = q.url === '/healthz' ? ${status} : 404; r.end(); })
    .listen(Number(process.argv.join(' ').match(/:(\\d+)$/)[1]), '127.0.0.1', () => console.log('ready'))`;
  const port = String(await findFreePort());
  const child = spawn(process.execPath, ['-e', code, '--', ...toWords(port)], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

const check = ({ pid }: ChildProcess, ...timeoutMs: string[]): number | null =>
  spawnSync(process.execPath, [join(root, script), `/proc/${pid}/cmdline`, ...timeoutMs]).status;

test.each([
  ['--metrics :PORT', 200, 0],
  ['--metrics 127.0.0.1:PORT', 200, 0],
  ['--metrics=0.0.0.0:PORT', 200, 0],
  ['--metrics :PORT', 500, 1],
  ['--concurrency 8 --metrics :PORT', 200, 0],
])('a scheduler or worker started with %s that answers %d gives %d', async (words, status, code) => {
  const command = words.includes('concurrency') ? 'worker' : 'schedule';
  const child = await serve(status, (port) => [command, ...words.replace('PORT', port).split(' ')]);
  expect(check(child)).toBe(code);
});

test('a process that hangs is unhealthy', async () => {
  const child = await serve(200, (port) => ['schedule', '--metrics', `:${port}`]);
  child.kill('SIGSTOP');
  expect(check(child, '300')).toBe(1);
});

test('a command that serves nothing is healthy', () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)', '--', 'rescreen']);
  children.push(child);
  expect(check(child)).toBe(0);
});

test('the image asks by this script, without a shell or curl', () => {
  const dockerfile = readShipped('Dockerfile');
  expect(dockerfile).toContain(`COPY ${script} healthcheck.mjs\n`);
  expect(dockerfile).toMatch(/^HEALTHCHECK --interval=30s .* CMD \["node", "\/app\/healthcheck.mjs"\]$/m);
});
