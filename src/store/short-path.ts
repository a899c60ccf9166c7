import { randomBytes } from 'node:crypto';
import { symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** What a socket address holds on every Unix we run on (macOS: 103 bytes, Linux: 107). */
const longestAddressBytes = 103;
const longestNameBytes = 40;

/** Runs `work` with a path of the folder that is short enough for sockets in it: its own, or a link in the temporary folder. */
export async function withShortPath<T>(folder: string, work: (shortFolder: string) => Promise<T>): Promise<T> {
  const path = resolve(folder);
  if (Buffer.byteLength(path) + 1 + longestNameBytes <= longestAddressBytes) return work(path);
  const link = join(tmpdir(), `ns-${randomBytes(4).toString('hex')}`);
  await symlink(path, link);
  try {
    return await work(link);
  } finally {
    await unlink(link);
  }
}
