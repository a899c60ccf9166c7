import { mkdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../../dist/programs/', import.meta.url));

/** A program of the tests as one file of plain JavaScript. */
export interface Program {
  path: string;
  remove(): Promise<void>;
}

/** Compiles a program once: compiled at each start, a process costs three times as much, and its functions run slower. */
export async function bundleProgram(source: URL): Promise<Program> {
  await mkdir(folder, { recursive: true });
  // Inside the project, where its packages and its migrations are found.
  const path = `${folder}${basename(source.pathname, '.ts')}-${process.pid}-${Date.now()}.mjs`;
  await build({
    entryPoints: [fileURLToPath(source)],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return { path, remove: () => rm(path, { force: true }) };
}
