import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenFile } from './file-set.js';

const blockLength = 262_144;

/** The bytes of a written file, block by block; symlinks are not followed. Throws at its end when it is no longer the file that was written. */
export async function* readWrittenFile(directory: string, { name, sha256 }: WrittenFile): AsyncGenerator<Uint8Array> {
  const file = await open(join(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  const hash = createHash('sha256');
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(blockLength));
      if (bytesRead === 0) break;
      const block = buffer.subarray(0, bytesRead);
      hash.update(block);
      yield block;
    }
  } finally {
    await file.close();
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} is no longer the file that was written`);
}
