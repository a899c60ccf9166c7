import { closeSync, fsyncSync, openSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** What happens to the files of the embedded database, in this process. */
interface FileCounts {
  /** Bytes written to the write-ahead log. */
  walBytes: number;
  /** Files and folders whose content was brought to the disk. */
  syncs: number;
}

type Init = NodeFS['init'];

interface FileStream {
  nfd: number;
  node: { parent: { name: string } };
}

/** The part of the engine's file system that is used here; PGlite's own types leave it open. */
interface NodeFiles {
  stream_ops: {
    write(stream: FileStream, buffer: Uint8Array, offset: number, length: number, position?: number): number;
    fsync?(stream: FileStream): number;
  };
  tryFSOperation(work: () => void): void;
}

/**
 * The data directory of the embedded database. PGlite's own file system has no fsync: a commit would be lost with the power. This one has,
 * and writes nothing once `isHeld` says that another process owns the folder.
 */
export class EmbeddedFiles extends NodeFS {
  readonly counts: FileCounts = { walBytes: 0, syncs: 0 };
  readonly #isHeld: (maxAgeMs?: number) => boolean;

  constructor(dataDirectory: string, isHeld: (maxAgeMs?: number) => boolean) {
    super(dataDirectory);
    this.#isHeld = isHeld;
  }

  override async init(...parameters: Parameters<Init>): ReturnType<Init> {
    const { emscriptenOpts } = await super.init(...parameters);
    const { counts } = this;
    const isHeld = this.#isHeld;
    const extend: NonNullable<typeof emscriptenOpts.preRun>[number] = (module) => {
      const files: NodeFiles = module.FS.filesystems.NODEFS;
      const { write } = files.stream_ops;
      // The engine knows errors of the operating system only; what the operator reads is made of `isHeld`.
      const requireHeld = (maxAgeMs?: number): void =>
        files.tryFSOperation(() => {
          if (!isHeld(maxAgeMs)) throw Object.assign(new Error('the folder is lost'), { code: 'EIO' });
        });
      files.stream_ops.write = (stream, buffer, offset, length, position) => {
        requireHeld();
        if (stream.node.parent.name === 'pg_wal') counts.walBytes += length;
        return write(stream, buffer, offset, length, position);
      };
      files.stream_ops.fsync = (stream) => {
        // Each commit comes by here, and nothing is acknowledged before.
        requireHeld(0);
        counts.syncs += 1;
        files.tryFSOperation(() => fsyncSync(stream.nfd));
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), extend] } };
  }
}

/** PGlite's own arguments, with the log bounded: 128 MB of it, and the 64 MB between two checkpoints of ours. */
export const toStartParameters = (isDurable: boolean): string[] => [
  // -F is fsync off; the compiled-in fdatasync does nothing, so that fsync has to be named.
  ...PGlite.defaultStartParams.filter((parameter) => !isDurable || parameter !== '-F'),
  ...['wal_sync_method=fsync', 'max_wal_size=128MB', 'min_wal_size=32MB'].flatMap((setting) => ['-c', setting]),
];

/** Brings every file and folder below `folder` to the disk, itself last: what the engine wrote before it was durable. */
export async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) syncPath(path);
  }
  syncPath(folder);
}

/** Brings one file or folder to the disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
