import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { buildSandboxDossier, watchlist } from '../helpers/small-world.js';

const run = promisify(execFile);
const project = fileURLToPath(new URL('../../', import.meta.url));
const tsc = join(project, 'node_modules/.bin/tsc');

let site: string;
const inSite = (...path: string[]): string => join(site, ...path);

const compile = async (folder: string): Promise<void> => {
  await run(tsc, { cwd: folder }).catch((error: { stdout?: unknown }) => {
    throw new Error(`the compiler complains:\n${String(error.stdout)}`);
  });
};

/** Packs the project as it would be published, built anew, so that no earlier build is looked at. */
async function packLibrary(): Promise<string> {
  const staging = inSite('staging');
  await mkdir(staging);
  for (const part of ['package.json', 'CHANGELOG.md', 'tsconfig.json', 'tsconfig.build.json', 'src', 'jobs'])
    await cp(join(project, part), join(staging, part), { recursive: true });
  await run('npm', ['run', '--silent', 'build'], { cwd: staging });
  const words = ['pack', '--ignore-scripts', '--offline', '--json', '--pack-destination', site];
  const { stdout } = await run('npm', words, { cwd: staging });
  const [packed]: { filename: string }[] = JSON.parse(stdout);
  return inSite(packed?.filename ?? '');
}

/** A project that has installed the package: its dependencies are the ones of this project, one folder above. */
async function installPackage(archive: string): Promise<void> {
  const installed = inSite('consumer', 'node_modules', 'nightscreen');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', archive, '--strip-components', '1', '-C', installed]);
  await cp(join(project, 'test/long/library-consumer.mts'), inSite('consumer', 'consumer.mts'));
  await writeFile(inSite('consumer', 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
  };
  await writeFile(inSite('consumer', 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.mts'] }));
}

beforeAll(async () => {
  site = await realpath(await mkdtemp(join(tmpdir(), 'nightscreen-library-')));
  await symlink(join(project, 'node_modules'), inSite('node_modules'));
  await installPackage(await packLibrary());
});
afterAll(() => rm(site, { recursive: true }));

test('a strict TypeScript project compiles against the packed library, its declarations checked too, and what comes out works', async () => {
  await compile(inSite('consumer'));
  const dossiers = [1, 2, 3].map((number) => buildSandboxDossier(number));
  const sandbox = await startSandbox({ world: { watchlist, dossiers } });
  try {
    const environment = {
      PATH: process.env['PATH'] ?? '',
      NIGHTSCREEN_BASE_URL: sandbox.url,
      NIGHTSCREEN_API_KEY: sandbox.privateKey,
      SEARCHED_NAME: 'Canary Listed',
    };
    const { stdout } = await run(process.execPath, ['consumer.mjs'], { cwd: inSite('consumer'), env: environment });
    const { attempts, ...said } = JSON.parse(stdout);
    expect(said).toEqual({
      isTyped: true,
      names: ['Canary Listed'],
      dossiers: 3,
      refusal: 'AuthenticationError 401',
      manifest: inSite('consumer', 'node_modules', 'nightscreen', 'package.json'),
    });
    // The call that was refused was a client's without an observer.
    expect(attempts).toBe(sandbox.ledger().filter(({ status }) => status !== 401).length);
  } finally {
    await sandbox.close();
  }
}, 60_000);

test('nothing of the package but its library can be imported', async () => {
  const inner = "import('nightscreen/dist/src/client/client.js').catch((error) => console.log(error.code))";
  const refused = await run(process.execPath, ['--input-type=module', '-e', inner], { cwd: inSite('consumer') });
  expect(refused.stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
});
