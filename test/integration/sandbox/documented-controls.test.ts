import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createApp, createService, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The examples of the page in order: what to type, and what that prints. */
const readExamples = async (): Promise<{ script: string; prints: unknown[] }[]> => {
  const text = await readFile(`${root}docs/sandbox.md`, 'utf8');
  const blocks = [...text.matchAll(/^```(sh|json)\n(.*?)^```$/gms)].map(([, kind, content = '']) => ({
    kind,
    content,
  }));
  return blocks.flatMap(({ kind, content }, place) => {
    const next = blocks[place + 1];
    if (kind !== 'sh') return [];
    return [{ script: content, prints: next?.kind === 'json' ? parseValues(next.content) : [] }];
  });
};

/** JSON values that follow each other, each beginning on a line of its own. */
const parseValues = (text: string): unknown[] =>
  text
    .split(/\n(?=\{)|(?<=\})(?=\{)/)
    .filter((value) => value.trim() !== '')
    .map((value): unknown => JSON.parse(value));

/** What stands for any text on the page does so here. */
const toExpected = (value: unknown): unknown => {
  if (value === '…') return expect.any(String);
  if (Array.isArray(value)) return value.map(toExpected);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([field, content]) => [field, toExpected(content)]));
};

it('every example of docs/sandbox.md does what the page says, and every control has one', async () => {
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['idempotency-key']));
    response.end();
  });
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  const env = {
    PATH: process.env['PATH'],
    SANDBOX: new URL(sandbox.url).origin,
    KEY: sandbox.privateKey,
    LIVE_KEY: sandbox.livePrivateKey,
    WORKFLOW: sandbox.workflowToken,
    RECEIVER: `http://127.0.0.1:${await listenOnLoopback(receiver)}/events`,
  };
  const examples = await readExamples();
  for (const { script, prints } of examples) {
    const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env, cwd: root });
    expect([script, ...parseValues(stdout)]).toMatchObject([script, ...prints.map(toExpected)]);
  }
  await expect.poll(() => received.length, { timeout: 20_000 }).toBe(20);
  expect(new Set(received).size).toBe(10);

  const scripts = examples.map(({ script }) => script).join('\n');
  const controls = createApp(createService(1, () => '')).routes.filter(({ path }) => path.startsWith('/_sandbox/'));
  const paths = [...new Set(controls.map(({ path }) => path))].filter((path) => !path.includes('/media/'));
  const shown = new Set([...scripts.matchAll(/\$SANDBOX(\/_sandbox\/\S+)/g)].map(([, path]) => path));
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !shown.has(path))).toEqual([]);
  await sandbox.close();
  receiver.close();
});
