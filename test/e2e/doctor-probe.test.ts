import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { configSchema } from '../../src/config/schema.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { runCli } from '../helpers/cli-process.js';
import { buildSandboxDossier, canaries, watchlist } from '../helpers/small-world.js';
import { type DeviantService, startDeviantService } from './deviant-service.js';

const documentSchema = z.object({
  ok: z.boolean(),
  probe: z.object({
    findings: z.array(
      z.object({ check: z.string(), state: z.string(), message: z.string(), next: z.string().nullable() }),
    ),
    calls: z.object({ total: z.number(), searches: z.number(), byOperation: z.record(z.string(), z.number()) }),
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
      canaries,
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
  const { exitCode, stdout, stderr } = await runCli(['doctor', '--probe', '--json', ...words], { folder, environment });
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

test('a probe asks about every gap of the interface without one search, and counts its calls as the service does', async () => {
  const { exitCode, said, calls, snippet } = await probe([], access());
  expect(exitCode).toBe(0);
  expect(said('key mode')).toMatch(/^ok: the service says test/);
  expect(said('search without a name')).toMatch(/^ok: is refused: status 4\d\d .*naming `name`/);
  expect(said('name field')).toMatch(/^warn: `name`, not proven/);
  expect(said('end of list')).toMatch(
    /^ok: last page: 1 dossier, has_more false, next_cursor null; after it: an empty/,
  );
  expect(said('filters after cursor')).toMatch(/^ok: .*1 of 1/);
  expect(said('unknown cursor')).toMatch(/^(warn: gives an empty page|ok: is refused)/);
  expect(said('error shape')).toBe('ok: {error: {type, message}}, code not_found in error.type');
  expect(said('invitations list')).toBe('ok: the list is in `invitations`, found by itself');
  expect(said('locales list')).toBe('ok: the list is in `locales`, found by itself');
  expect(said('request id')).toMatch(/^ok: x-request-id/);
  expect(said('clock skew')).toMatch(/^ok/);
  expect(calls).toMatchObject({ total: countProbeCalls(), searches: 0 });
  expect(searchedNames()).toEqual([null]);
  expect(sandbox.ledger().every(({ method, path }) => method === 'GET' || path === '/aml/search')).toBe(true);
  expect(configSchema.parse(parse(snippet)).service).toMatchObject({ mode: 'test', aml: { nameField: 'name' } });
});

test('with --spend 2 it searches twice for the first listed canary and proves the name field and the match ids', async () => {
  const { exitCode, said, calls, snippet } = await probe(['--spend', '2'], access());
  expect(exitCode).toBe(0);
  expect(said('name field')).toBe("ok: `name` is accepted, the name's echo comes back");
  expect(said('match ids')).toBe('ok: 1 of 1 results of Canary Listed had the same id in a second search');
  expect(searchedNames()).toEqual([null, 'Canary Listed', 'Canary Listed']);
  expect(calls).toMatchObject({ total: countProbeCalls(), searches: 2 });
  expect(snippet).not.toContain('not proven');
});

test('with a live key nothing that may cost is sent unless it is allowed to be spent', async () => {
  const { exitCode, said } = await probe([], access(sandbox.livePrivateKey));
  expect(exitCode).toBe(0);
  expect(said('search without a name')).toBe('warn: not asked: a request with a live key may cost');
  expect(searchedNames()).toEqual([]);
  await probe(['--spend', '1'], access(sandbox.livePrivateKey));
  expect(searchedNames()).toEqual(['Canary Listed']);
});

test('an organisation without dossiers is told that the list shows nothing', async () => {
  const { exitCode, said } = await probe([], access(sandbox.otherPrivateKey));
  expect(exitCode).toBe(0);
  expect(said('end of list')).toBe('warn: not seen: there are no dossiers');
  expect(said('filters after cursor')).toMatch(/^warn: not seen/);
});

test('a refused key ends the probe at its first call', async () => {
  const { exitCode, findings, calls } = await probe(['--spend', '20'], access('private_sandbox_Pl4ntedKeyPl4nted'));
  expect([exitCode, findings.map(({ state }) => state), calls.total]).toEqual([3, ['fail'], 1]);
  expect(searchedNames()).toEqual([]);
});

test('a spend without a probe, or out of range, is a usage error and asks nothing', async () => {
  for (const words of [
    ['--spend', '2'],
    ['--probe', '--spend', '21'],
    ['--probe', '--spend', '-1'],
  ]) {
    const { exitCode } = await runCli(['doctor', ...words], { folder, environment: access() });
    expect(exitCode).toBe(2);
  }
  expect(sandbox.ledger()).toEqual([]);
});

test('another name field, changing ids, other shapes and a clock that is behind are found, and a probe that fails stops no other', async () => {
  const key = 'private_sandbox_Pl4ntedKeyPl4nted';
  const environment = { NIGHTSCREEN_BASE_URL: deviant.url, NIGHTSCREEN_API_KEY: key };
  const { exitCode, ok, said, calls, snippet } = await probe(['--spend', '3'], environment);
  expect([exitCode, ok]).toEqual([3, false]);
  expect(said('search without a name')).toMatch(/^warn: .*naming `query` where name is configured/);
  expect(said('name field')).toMatch(/^fail: `query` is accepted.*refused: `name` \(status 422 \(validation_error\)\)/);
  expect(said('match ids')).toBe('warn: 0 of 1 results of Canary Listed had the same id in a second search');
  expect(said('end of list')).toMatch(/after it: an empty page, has_more false, next_cursor an empty text$/);
  expect(said('filters after cursor')).toBe('warn: filters are ignored after a cursor');
  expect(said('unknown cursor')).toMatch(/^warn: gives 3 dossiers/);
  expect(said('error shape')).toBe('ok: {code, detail}, code no_such_thing in code');
  expect(said('invitations list')).toMatch(/^warn: could not be asked/);
  expect(said('locales list')).toBe('ok: a bare list without an envelope');
  expect(said('request id')).toBe('warn: no such header comes');
  expect(said('rate limit')).toMatch(/^ok: x-ratelimit-limit: 40/);
  expect(said('clock skew')).toMatch(/^warn: the service's clock is 1(19|20|21) s behind/);
  expect(configSchema.parse(parse(snippet)).service).toMatchObject({ mode: 'test', aml: { nameField: 'query' } });
  expect(calls).toMatchObject({ total: deviant.requests.length - 1, searches: 3 });
  expect(deviant.requests.filter(({ line }) => line === 'GET /v1/autodoc/invitations')).toHaveLength(1);
});
