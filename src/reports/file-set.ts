import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../files.js';

const blockLength = 262_144;

/** A file as it was written; `sha256` in hex. */
export interface WrittenFile {
  name: string;
  bytes: number;
  sha256: string;
}

/** What a file holds, piece by piece: text, which is written as UTF-8, or bytes. */
export type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Files that get their final names together: `add` writes one under a passing name, `commit` renames all in the order added, `discard` leaves none. */
export interface FileSet {
  add(name: string, chunks: Chunks): Promise<WrittenFile>;
  commit(): Promise<void>;
  discard(): Promise<void>;
}

/** Opens a set in `directory`, which is made with mode 0700 if need be; files get 0600. Throws when the folder is a link or no folder. */
export async function openFileSet(directory: string): Promise<FileSet> {
  await makeFolder(directory, 'name another folder');
  if (!(await lstat(directory)).isDirectory()) throw new Error('the folder is a symbolic link or not a folder');
  await chmod(directory, 0o700);
  const suffix = randomBytes(6).toString('hex');
  const names: string[] = [];
  const toPassing = (name: string): string => join(directory, `.${name}.${suffix}.tmp`);
  const committed: string[] = [];
  return {
    add: async (name, chunks) => {
      names.push(name);
      return { name, ...(await writeNew(toPassing(name), chunks)) };
    },
    commit: async () => {
      for (const name of names) {
        await rename(toPassing(name), join(directory, name));
        committed.push(name);
      }
      await syncDirectory(directory);
    },
    discard: async () => {
      // Part of a set is worse than none of it; what cannot be removed was never written.
      const paths = [...names.map(toPassing), ...committed.map((name) => join(directory, name))];
      await Promise.allSettled(paths.map((path) => rm(path, { force: true })));
    },
  };
}

async function writeNew(path: string, chunks: Chunks): Promise<Omit<WrittenFile, 'name'>> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const block of gather(chunks)) {
      await file.writeFile(block);
      hash.update(block);
      bytes += block.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Few large writes instead of many small ones; a text is never cut. */
async function* gather(chunks: Chunks): AsyncGenerator<Uint8Array> {
  let waiting = '';
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') waiting += chunk;
    if (waiting !== '' && (waiting.length >= blockLength || typeof chunk !== 'string')) {
      yield Buffer.from(waiting, 'utf8');
      waiting = '';
    }
    if (typeof chunk !== 'string') yield chunk;
  }
  if (waiting !== '') yield Buffer.from(waiting, 'utf8');
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
