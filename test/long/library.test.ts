import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
  const configuration = ['package.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const part of [...configuration, 'CHANGELOG.md', 'src', 'jobs', 'test/comment-settings.ts'])
    await cp(join(project, part), join(staging, part), { recursive: true });
  await run('npm', ['run', '--silent', 'build'], { cwd: staging });
  const words = ['pack', '--ignore-scripts', '--offline', '--json', '--pack-destination', site];
  const { stdout } = await run('npm', words, { cwd: staging });
  const [packed]: { filename: string }[] = JSON.parse(stdout);
  return inSite(packed?.filename ?? '');
}

/** Packs the client alone, by the command that users type. */
async function packClient(): Promise<string> {
  const { stdout } = await run('npm', ['run', '--silent', 'pack:client', '--', site], { cwd: project });
  return inSite(stdout.trim());
}

/** An empty project that has installed a package with its dependencies and nothing else but the types of Node. */
async function installPackage(archive: string, name: string): Promise<string> {
  const folder = inSite(`uses-${name}`);
  const installed = join(folder, 'node_modules', name);
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  await mkdir(installed);
  await run('tar', ['-xzf', archive, '--strip-components', '1', '-C', installed]);
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    await readFile(join(installed, 'package.json'), 'utf8'),
  );
  for (const needed of [...Object.keys(dependencies), '@types/node', 'undici-types']) {
    await mkdir(dirname(join(folder, 'node_modules', needed)), { recursive: true });
    await symlink(join(project, 'node_modules', needed), join(folder, 'node_modules', needed));
  }
  const consumer = await readFile(join(project, 'test/long/library-consumer.mts'), 'utf8');
  await writeFile(join(folder, 'consumer.mts'), consumer.replaceAll(/'nightscreen(?=['/])/g, `'${name}`));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true }));
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    noImplicitReturns: true,
    noFallthroughCasesInSwitch: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    noUncheckedSideEffectImports: true,
    isolatedModules: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    skipLibCheck: false,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.mts'] }));
  return folder;
}

const packages = [
  { name: 'nightscreen', pack: packLibrary },
  { name: 'nightscreen-client', pack: packClient },
];

beforeAll(async () => {
  site = await realpath(await mkdtemp(join(tmpdir(), 'nightscreen-library-')));
  // The build of the whole package needs its tools.
  await mkdir(inSite('staging'));
  await symlink(join(project, 'node_modules'), inSite('staging', 'node_modules'));
  for (const { name, pack } of packages) await installPackage(await pack(), name);
});
afterAll(() => rm(site, { recursive: true }));

test.each(packages)(
  'a strict TypeScript project compiles against the packed $name, its declarations checked too, and what comes out works',
  async ({ name }) => {
    const folder = inSite(`uses-${name}`);
    await compile(folder);
    const dossiers = [1, 2, 3].map((number) => buildSandboxDossier(number));
    const sandbox = await startSandbox({ world: { watchlist, dossiers } });
    try {
      const environment = {
        PATH: process.env['PATH'] ?? '',
        NIGHTSCREEN_BASE_URL: sandbox.url,
        NIGHTSCREEN_API_KEY: sandbox.privateKey,
        SEARCHED_NAME: 'Control Listed',
      };
      const { stdout } = await run(process.execPath, ['consumer.mjs'], { cwd: folder, env: environment });
      const { attempts, ...said } = JSON.parse(stdout);
      expect(said).toEqual({
        isTyped: true,
        names: ['Control Listed'],
        dossiers: 3,
        refusal: 'AuthenticationError 401',
        manifest: join(folder, 'node_modules', name, 'package.json'),
      });
      // The call that was refused was a client's without an observer.
      expect(attempts).toBe(sandbox.ledger().filter(({ status }) => status !== 401).length);
    } finally {
      await sandbox.close();
    }
  },
  60_000,
);

test('the package of the client needs three others, and holds no part of the command line', async () => {
  const installed = inSite('uses-nightscreen-client', 'node_modules', 'nightscreen-client');
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const { dependencies: ours } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  expect(dependencies).toEqual({ bottleneck: ours.bottleneck, undici: ours.undici, zod: ours.zod });
  const files = await readdir(installed, { recursive: true });
  expect(files.filter((file) => file.endsWith('.js'))).toEqual(['src/client/index.js']);
  expect(await readFile(join(installed, 'README.md'), 'utf8')).not.toMatch(/\]\([\w-]+\.md/);
});

test('nothing of the package but its library can be imported', async () => {
  const inner = "import('nightscreen/dist/src/client/client.js').catch((error) => console.log(error.code))";
  const refused = await run(process.execPath, ['--input-type=module', '-e', inner], {
    cwd: inSite('uses-nightscreen'),
  });
  expect(refused.stdout.trim()).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
});
