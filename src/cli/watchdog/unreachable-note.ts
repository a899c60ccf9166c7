import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { writePrivately } from '../write-privately.js';

const noteSchema = z.object({ since: z.coerce.date(), told: z.boolean() });
/** Since when the database cannot be looked into, and whether that has been told: it cannot be kept in the database itself. */
export type UnreachableNote = z.infer<typeof noteSchema>;

/** The note in a file; null when there is none, or none that can be read. */
export async function readNote(file: string): Promise<UnreachableNote | null> {
  try {
    return noteSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

/** Writes the note whole. */
export const writeNote = (file: string, note: UnreachableNote): Promise<void> =>
  writePrivately(file, `${JSON.stringify(note)}\n`);

/** Removes the note. */
export const removeNote = (file: string): Promise<void> => rm(file, { force: true });
