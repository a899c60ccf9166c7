import { statSync } from 'node:fs';

/**
 * Says why a path must not be opened: it names a pipe, a socket or a device, whose reader may wait for ever and keeps the process from ending.
 * Null for a regular file, a folder, and a path that cannot be looked at: each reader has its own words for those.
 */
export function findOddFile(path: string): string | null {
  try {
    const found = statSync(path);
    if (found.isFile() || found.isDirectory()) return null;
    const kind = found.isFIFO() ? 'a pipe' : found.isSocket() ? 'a socket' : 'a device';
    return `is ${kind}, and only regular files are read`;
  } catch {
    return null;
  }
}
