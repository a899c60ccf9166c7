import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../config/environment.js';
import { ConfigError, flagError } from '../errors.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program that prints PDFs: `CHROMIUM_PATH`, else the first one of the usual names on `PATH`; throws ConfigError that says what to install. */
export function findChromium(environment: Environment): string {
  const named = environment['CHROMIUM_PATH'];
  if (named) {
    if (isProgram(named)) return named;
    throw new ConfigError([
      { where: 'env CHROMIUM_PATH', path: '', message: `names no program that can be run (${named})` },
    ]);
  }
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
  if (found !== undefined) return found;
  throw flagError(
    '--pdf',
    'no Chromium is found: install one (Debian: `apt-get install chromium`) or Google Chrome, or name it with CHROMIUM_PATH',
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
