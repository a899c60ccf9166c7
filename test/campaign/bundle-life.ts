import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('./life.ts', import.meta.url));
const folder = fileURLToPath(new URL('../../dist/campaign/', import.meta.url));

/** The program of a campaign's processes as one file. */
export interface LifeScript {
  path: string;
  remove(): Promise<void>;
}

/** Compiles the program of a campaign's processes once: compiled at each start, a process costs three times as much. */
export async function bundleLife(): Promise<LifeScript> {
  await mkdir(folder, { recursive: true });
  // Inside the project, where its packages and its migrations are found.
  const path = `${folder}life-${process.pid}-${Date.now()}.mjs`;
  await build({
    entryPoints: [source],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  return { path, remove: () => rm(path, { force: true }) };
}
