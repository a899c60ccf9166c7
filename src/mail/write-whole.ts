import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Writes a file (0600) under a passing name beside `path` and gives it its own, which `fill` says once it has written all; gives that name.
 * What `fill` throws leaves nothing behind.
 */
export async function writeWhole(path: string, fill: (file: FileHandle) => Promise<string>): Promise<string> {
  const passing = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(passing, 'wx', 0o600);
    let name: string;
    try {
      name = await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(passing, name);
    return name;
  } catch (error) {
    await rm(passing, { force: true });
    throw error;
  }
}
