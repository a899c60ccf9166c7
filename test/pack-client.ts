import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { z } from 'zod';

/** Packs the client alone, as `nightscreen-client`, into the current folder or a given one: `npm run pack:client -- FOLDER`. */
const project = fileURLToPath(new URL('../', import.meta.url));
const needed = ['bottleneck', 'undici', 'zod'] as const;
const manifestSchema = z.object({
  version: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
  dependencies: z.object({ bottleneck: z.string(), undici: z.string(), zod: z.string() }),
});

const readText = (path: string): string => readFileSync(join(project, path), 'utf8');

async function packClient(target: string): Promise<string> {
  const staging = mkdtempSync(join(tmpdir(), 'nightscreen-client-'));
  try {
    const { version, license, engines, dependencies } = manifestSchema.parse(JSON.parse(readText('package.json')));
    const entry = { types: './src/client/index.d.ts', default: './src/client/index.js' };
    const manifest = {
      name: 'nightscreen-client',
      version,
      license,
      private: true,
      type: 'module',
      engines,
      description: 'A typed client of the identity-verification service that Nightscreen screens with',
      exports: { '.': entry, './package.json': './package.json' },
      types: entry.types,
      imports: { '#package.json': './package.json' },
      dependencies,
    };
    writeFileSync(join(staging, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    // The other pages are not in this package.
    const page = readText('docs/client.md').replaceAll(/\[([^\]]+)\]\([\w-]+\.md(?:#[\w-]+)?\)/g, '$1');
    writeFileSync(join(staging, 'README.md'), page.replaceAll("from 'nightscreen'", "from 'nightscreen-client'"));
    copyFileSync(join(project, 'LICENSE'), join(staging, 'LICENSE'));
    await build({
      absWorkingDir: project,
      entryPoints: ['src/client/index.ts'],
      outfile: join(staging, 'src/client/index.js'),
      bundle: true,
      external: [...needed, '#package.json'],
      platform: 'node',
      format: 'esm',
      target: 'es2023',
      charset: 'utf8',
      sourcemap: true,
      logLevel: 'warning',
    });
    execFileSync(join(project, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json', '--outDir', staging], {
      cwd: project,
    });
    execFileSync(join(project, 'node_modules/.bin/tsx'), ['test/comment-settings.ts', staging], { cwd: project });
    const words = ['pack', '--ignore-scripts', '--offline', '--json', '--pack-destination', target];
    const packed = z
      .tuple([z.object({ filename: z.string() })])
      .parse(JSON.parse(execFileSync('npm', words, { cwd: staging, encoding: 'utf8' })));
    return packed[0].filename;
  } finally {
    rmSync(staging, { recursive: true });
  }
}

process.stdout.write(`${await packClient(resolve(process.argv[2] ?? '.'))}\n`);
