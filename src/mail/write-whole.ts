import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Writes a file (0600) under a passing name beside `path` and gives it its own when it is whole; what `fill` throws leaves nothing behind. */
export async function writeWhole(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const passing = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(passing, 'wx', 0o600);
    try {
      await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(passing, path);
  } catch (error) {
    await rm(passing, { force: true });
    throw error;
  }
}
