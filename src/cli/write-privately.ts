import { writeFile } from 'node:fs/promises';
import { writeWhole } from '../files.js';

/** Writes a file for its owner's eyes only, whole or not at all; what stood there before is replaced. */
export async function writePrivately(
  file: string,
  content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  await writeWhole(file, async (draft) => {
    await writeFile(draft, content);
    return file;
  });
}
