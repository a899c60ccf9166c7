import { rename, rm, writeFile } from 'node:fs/promises';

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
