import { chmod, rename, writeFile } from 'node:fs/promises';

/** Writes a file for its owner's eyes only, whole or not at all; what stood there before is replaced. */
export async function writePrivately(file: string, content: string | Uint8Array): Promise<void> {
  const part = `${file}.part`;
  await writeFile(part, content, { mode: 0o600 });
  await chmod(part, 0o600);
  await rename(part, file);
}
