import { rename, rm, writeFile } from 'node:fs/promises';

/** Writes a file for its owner's eyes only, whole or not at all; what stood there before is replaced. */
export async function writePrivately(
  file: string,
  content: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  try {
    // A link that somebody has put there is not followed.
    await writeFile(part, content, { mode: 0o600, flag: 'wx' });
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
