import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../../dist/programs/', import.meta.url));

/** A program of the tests as plain JavaScript. */
export interface Program {
  path: string;
  remove(): Promise<void>;
}

/** Compiles a program once: compiled at each start, a process costs three times as much, and its functions run slower. */
export async function bundleProgram(source: URL): Promise<Program> {
  const name = basename(source.pathname, '.ts');
  await mkdir(folder, { recursive: true });
  // Inside the project, where its packages and its migrations are found.
  const place = await mkdtemp(join(folder, `${name}-`));
  await build({
    entryPoints: [fileURLToPath(source)],
    outdir: place,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What the program imports only when it needs it stays so.
    splitting: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return { path: join(place, `${name}.mjs`), remove: () => rm(place, { recursive: true, force: true }) };
}
