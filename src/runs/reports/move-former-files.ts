import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenFile } from '../../reports/file-set.js';

/** SHA-256 (hex) of the manifest of the report that stands in a folder where these files are to go; null where there is none, or the same. */
export async function findOtherReport(folder: string, files: readonly WrittenFile[]): Promise<string | null> {
  const standing = await digestManifest(folder);
  return files.some((file) => file.name === 'manifest.json' && file.sha256 === standing) ? null : standing;
}

async function digestManifest(folder: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(join(folder, 'manifest.json')))
      .digest('hex');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Moves the report that stands in a folder, with all its files, into a folder of its own below it. */
export async function moveFormerFiles(folder: string, name: string): Promise<void> {
  const target = join(folder, name);
  await mkdir(target, { recursive: true, mode: 0o700 });
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name);
  // The manifest last: until then the folder still shows whose files they are.
  for (const file of [...files.filter((each) => each !== 'manifest.json'), 'manifest.json']) {
    await rename(join(folder, file), join(target, file));
  }
}
