import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { runInProcess } from '../helpers/cli-process.js';
import { buildSandboxDossier, controls, watchlist } from '../helpers/small-world.js';
import { type DeviantService, startDeviantService } from './deviant-service.js';

const documentSchema = z.object({
  ok: z.boolean(),
  probe: z.object({
    findings: z.array(
      z.object({ check: z.string(), state: z.string(), message: z.string(), next: z.string().nullable() }),
    ),
    calls: z.object({ total: z.number(), searches: z.number() }),
    snippet: z.string(),
  }),
});

const customerName = 'Planted Customer';
let folder: string;
let sandbox: Sandbox;
let deviant: DeviantService;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-probe-'));
  writeFileSync(
    join(folder, 'nightscreen.config.yaml'),
    JSON.stringify({
      rosters: [{ name: 'few', csv: { path: 'few.csv' } }],
      controls,
      budget: { maxSearchesPerMonth: 1_000, pricePerSearch: 0.25 },
      database: { acceptEmbedded: true },
    }),
  );
  writeFileSync(join(folder, 'few.csv'), 'customer_id,type,name\n1,person,Ada Beispiel\n');
  deviant = await startDeviantService();
});
afterAll(async () => {
  await deviant.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  const dossiers = [1, 2, 3].map((number) =>
    buildSandboxDossier(number, { name: customerName, status: number === 1 ? 'open' : 'approved' }),
  );
  sandbox = await startSandbox({ world: { watchlist, dossiers } });
  return () => sandbox.close();
});

async function probe(words: readonly string[], environment: Record<string, string>) {
  const { exitCode, stdout, stderr } = await runInProcess(['doctor', '--probe', '--json', ...words], {
    folder,
    environment,
  });
  const key = environment['NIGHTSCREEN_API_KEY'] ?? '';
  const base64 = Buffer.from(`${key}:`).toString('base64');
  for (const secret of [key, base64, customerName]) expect(stdout + stderr).not.toContain(secret);
  const { ok, probe } = documentSchema.parse(JSON.parse(stdout));
  const said = (check: string): string => {
    const finding = probe.findings.find((each) => each.check === check);
    return `${finding?.state}: ${finding?.message}`;
  };
  return { exitCode, ok, said, ...probe };
}

const access = (key = sandbox.privateKey) => ({ NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: key });
// The doctor's own check asks whose key it is before anything is probed.
const countProbeCalls = () => sandbox.ledger().length - 1;
const searchedNames = () =>
  sandbox.ledger().flatMap(({ path, searchName }) => (path === '/aml/search' ? [searchName] : []));

test('a probe without a spend makes no call, and prints the mode and the configured name field', async () => {
  const { exitCode, said, calls, snippet } = await probe([], access());
  expect([exitCode, calls, countProbeCalls()]).toEqual([0, { total: 0, searches: 0 }, 0]);
  expect(said('name field')).toBe('warn: `name` is not proven');
  expect(snippet).toContain('nameField: name # not proven: --spend 2 tries it');
  expect(configSchema.parse(parse(snippet)).service).toMatchObject({ mode: 'test', aml: { nameField: 'name' } });
});

test('with --spend 2 one search for the first listed control proves the configured name field, and its calls are counted as the service does', async () => {
  const { exitCode, said, calls, snippet } = await probe(['--spend', '2'], access());
  expect(exitCode).toBe(0);
  expect(said('name field')).toBe('ok: `name` is accepted, and the answer echoes the name');
  expect(searchedNames()).toEqual(['Control Listed']);
  expect(calls).toEqual({ total: countProbeCalls(), searches: 1 });
  expect(snippet).not.toContain('not proven');
});

test('with a live key nothing that may cost is sent unless it is allowed to be spent', async () => {
  const { exitCode } = await probe([], access(sandbox.livePrivateKey));
  expect(exitCode).toBe(0);
  expect(searchedNames()).toEqual([]);
  await probe(['--spend', '1'], access(sandbox.livePrivateKey));
  expect(searchedNames()).toEqual(['Control Listed']);
});

test('a refused key is not probed', async () => {
  const { exitCode, findings, calls } = await probe(['--spend', '20'], access('private_sandbox_Pl4ntedKeyPl4nted'));
  expect([exitCode, findings.map(({ state }) => state), calls.total]).toEqual([3, ['fail'], 0]);
  expect(searchedNames()).toEqual([]);
});

test('a spend without a probe, or out of range, is a usage error and asks nothing', async () => {
  for (const words of [
    ['--spend', '2'],
    ['--probe', '--spend', '21'],
    ['--probe', '--spend', '-1'],
  ]) {
    const { exitCode } = await runInProcess(['doctor', ...words], { folder, environment: access() });
    expect(exitCode).toBe(2);
  }
  expect(sandbox.ledger()).toEqual([]);
});

test('another name field is found by what the refusal names, and printed', async () => {
  const key = 'private_sandbox_Pl4ntedKeyPl4nted';
  const environment = { NIGHTSCREEN_BASE_URL: deviant.url, NIGHTSCREEN_API_KEY: key };
  const { exitCode, ok, said, calls, snippet } = await probe(['--spend', '3'], environment);
  expect([exitCode, ok]).toEqual([3, false]);
  expect(said('name field')).toMatch(/^fail: `query` is accepted.*refused: `name` \(.*422 \(validation_error\)\)/);
  expect(configSchema.parse(parse(snippet)).service).toMatchObject({ mode: 'test', aml: { nameField: 'query' } });
  expect(calls).toEqual({ total: deviant.requests.length - 1, searches: 2 });
});
