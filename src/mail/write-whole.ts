import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const toPassingName = (name: string): string => `.${name}.${randomBytes(6).toString('hex')}.tmp`;

/** The name that a file was to get whose passing name is this one; undefined for any other name. */
export const readPassingName = (name: string): string | undefined => /^\.(.+)\.[0-9a-f]{12}\.tmp$/.exec(name)?.[1];

/**
 * Writes a file (0600) under a passing name beside `path` and gives it its own, which `fill` says once it has written all; gives that name.
 * What `fill` throws leaves nothing behind.
 */
export async function writeWhole(path: string, fill: (file: FileHandle) => Promise<string>): Promise<string> {
  const passing = join(dirname(path), toPassingName(basename(path)));
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
