import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { testDatabases } from '../../helpers/databases.js';

const databases = testDatabases('embedded');
afterEach(() => vi.restoreAllMocks());

const created = z.object({ request: z.object({ method: z.string(), path: z.string() }) });

/** The functions of ours on the stack, those that wait (`at async`) included. */
function listFrames(): readonly string[] {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  const { stack = '' } = new Error('where are we');
  Error.stackTraceLimit = before;
  return stack.split('\n').filter((line) => /\/(src|jobs)\/[\w/-]+\.ts/.test(line) && !line.includes('node_modules'));
}

it('a reader gets from the command rescreen to the first statement in 10 functions, and to the first search in 20', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-way-'));
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers: [] } });
  const { folder: data = '' } = await databases.locate();
  await writeFile(join(folder, 'roster.csv'), 'customer_id,type,name\nK-1,person,Tamsin Oyelaran\n');
  const ways: { statement?: readonly string[]; search?: readonly string[] } = {};
  const note = (): void => {
    ways.statement ??= listFrames();
  };
  const { query, exec } = PGlite.prototype;
  vi.spyOn(PGlite.prototype, 'query').mockImplementation(function (this: PGlite, ...sent: unknown[]) {
    note();
    return Reflect.apply(query, this, sent);
  });
  vi.spyOn(PGlite.prototype, 'exec').mockImplementation(function (this: PGlite, ...sent: unknown[]) {
    note();
    return Reflect.apply(exec, this, sent);
  });
  const noteRequest = (message: unknown): void => {
    const { request } = created.parse(message);
    if (request.method === 'POST' && request.path.endsWith('/aml/search')) ways.search ??= listFrames();
  };
  subscribe('undici:request:create', noteRequest);
  const exitCode = await runCommandLine({
    words: ['rescreen', '--file', join(folder, 'roster.csv'), '--roster', 'retail'],
    environment: {
      NIGHTSCREEN_BASE_URL: sandbox.url,
      NIGHTSCREEN_API_KEY: sandbox.privateKey,
      NIGHTSCREEN_DATA: data,
      NIGHTSCREEN_REPORTS: join(folder, 'reports'),
    },
    folder,
    terminal: { writeData: async () => {}, writeMessage: () => {}, isScreen: false, columns: 80, hasColours: false },
  });
  unsubscribe('undici:request:create', noteRequest);
  await sandbox.close();
  expect(exitCode).toBe(0);
  // Of the program itself one more: the module that calls `runCommandLine`.
  expect(ways.statement?.length).toBeGreaterThan(0);
  expect(ways.statement?.length).toBeLessThanOrEqual(10 - 1);
  expect(ways.search?.length).toBeGreaterThan(9);
  expect(ways.search?.length).toBeLessThanOrEqual(20 - 1);
}, 60_000);
