import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { findOddFile } from '../files.js';

/** Writes metrics where the textfile collector reads them: whole or not at all, and readable for the collector's own user. */
export async function writeTextfile(file: string, text: string): Promise<void> {
  // Not .prom: what is half written must not be collected.
  const draft = `${file}.${process.pid}.draft`;
  try {
    await writeFile(draft, text, { mode: 0o644 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

const readableLine = /^nightscreen_facts_readable .*$/m;

/** Has the textfile say that the facts can no longer be read, and leaves the figures in it as they are; where there are none it holds `text`. */
export async function markTextfileUnreadable(file: string, text: string): Promise<void> {
  const former = findOddFile(file) === null ? await readFile(file, 'utf8').catch(() => '') : '';
  const isOurs = readableLine.test(former);
  await writeTextfile(file, isOurs ? former.replace(readableLine, 'nightscreen_facts_readable 0') : text);
}
