import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where the first of these programs is on PATH; null where there is none. */
export function findProgram(...names: readonly string[]): string | null {
  const { PATH = '' } = process.env;
  const places = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return places.find((place) => existsSync(place)) ?? null;
}

/** Where Chromium is: `CHROMIUM_PATH`, or the first of its usual names on PATH; null where there is none. */
export function findChromium(): string | null {
  const { CHROMIUM_PATH } = process.env;
  return CHROMIUM_PATH || findProgram('chromium', 'chromium-browser', 'google-chrome');
}
