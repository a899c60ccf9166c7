import { closeSync, fsyncSync, lstatSync, openSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite, type Transaction as PGliteTransaction, type Results } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { z } from 'zod';
import { LeaseLostError } from '../../errors.js';
import { makeFolder } from '../../files.js';
import {
  type Database,
  type Transaction,
  TransactionScope,
  TransactionState,
  toDatabaseError,
  validateRows,
} from './database.js';
import { type FolderLock, type FolderWaitPolicy, lockFolder } from './folder-lock.js';
import { requireOwnFolder } from './folder-ownership.js';
import { rawSql, type Sql, sql, toStatement } from './statement.js';
import { columnParsers } from './values.js';

type Init = NodeFS['init'];

interface FileStream {
  nfd: number;
  node: { parent: FileNode };
}

interface FileNode {
  name: string;
}

/** The part of the engine's file system that is used here, which PGlite does not type. */
interface NodeFiles {
  node_ops: { lookup(parent: FileNode, name: string): FileNode };
  stream_ops: {
    write(stream: FileStream, buffer: Uint8Array, offset: number, length: number, position?: number): number;
    fsync?(stream: FileStream): number;
  };
  tryFSOperation(work: () => void): void;
  realPath(node: FileNode): string;
}

/** The engine's number of ENOENT. */
const noSuchFile = 44;

/**
 * The file system of the embedded database. PGlite's own has no fsync, so a power loss would lose commits. This one has, and it stops writing
 * when `isHeld` is false because another process owns the folder.
 */
export class EmbeddedFiles extends NodeFS {
  readonly counts: {
    /** Bytes written to the write-ahead log. */
    walBytes: number;
    /** Files and folders that were synced to the disk. */
    syncs: number;
  } = { walBytes: 0, syncs: 0 };
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
      const { lookup } = files.node_ops;
      const missing: unknown = new module.FS.ErrnoError(noSuchFile);
      // Statements look up the maps of free space and visibility, which small tables do not have. A Node error with its stack for each look-up took
      // a quarter of the processor time of a small night.
      files.node_ops.lookup = (parent, name) => {
        const stats = lstatSync(`${files.realPath(parent)}/${name}`, { throwIfNoEntry: false });
        if (stats === undefined) throw missing;
        return lookup(parent, name);
      };
      // The engine handles errors of the operating system only; the message for operators comes from `isHeld`.
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
        // Every commit calls this before it is acknowledged.
        requireHeld(0);
        counts.syncs += 1;
        files.tryFSOperation(() => fsyncSync(stream.nfd));
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), extend] } };
  }
}

/** PGlite's own arguments, with a write-ahead log of at most 128 MB and the 64 MB between two checkpoints, and times as text of one form. */
const toStartParameters = (isDurable: boolean): string[] => [
  // -F disables fsync; the compiled-in fdatasync does nothing, so fsync must be named.
  ...PGlite.defaultStartParams.filter((parameter) => !isDurable || parameter !== '-F'),
  ...['wal_sync_method=fsync', 'max_wal_size=128MB', 'min_wal_size=32MB'].flatMap((setting) => ['-c', setting]),
  // As statements these took 30 ms, because the engine compiles its parts at their first use.
  ...['timezone=UTC', 'datestyle=ISO,YMD'].flatMap((setting) => ['-c', setting]),
];

/** Syncs every file and folder below `folder`, itself last: files that the engine wrote without fsync. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else if (entry.isFile()) syncPath(path);
  }
  syncPath(folder);
}

function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Opens the embedded database of a folder, which is created when missing (0700). `isDurable`: whether a commit survives a power loss; without it, as
 * when the folder was last opened. Throws RunLockedError, FolderOwnerError and ConfigError as `lockFolder`, `requireOwnFolder` and `makeFolder`.
 */
export async function openFolder(
  folder: string,
  owner: string,
  waitPolicy: FolderWaitPolicy = {},
  isDurable?: boolean,
): Promise<Database> {
  await requireOwnFolder(folder, owner);
  await makeFolder(folder, 'set database.folder (NIGHTSCREEN_DATA) to another folder');
  const lock = await lockFolder(folder, owner, waitPolicy);
  try {
    const dataDirectory = join(folder, 'pgdata');
    const incomplete = join(folder, 'pgdata.incomplete');
    const durable = join(folder, 'pgdata.durable');
    await removeRemains(dataDirectory, incomplete);
    const wasDurable = await exists(durable);
    const becomesDurable = isDurable ?? wasDurable;
    if (!becomesDurable) await rm(durable, { force: true });
    const settings = { isDurable: becomesDurable, isHurried: () => waitPolicy.signal?.aborted === true };
    // Files written without fsync are synced once.
    if (becomesDurable && !wasDurable && (await exists(dataDirectory))) await syncTree(dataDirectory);
    const isNew = await exists(incomplete);
    const database = await EmbeddedDatabase.open(dataDirectory, lock, settings);
    if (becomesDurable && isNew) await syncTree(dataDirectory);
    await rm(incomplete, { force: true });
    if (becomesDurable && !wasDurable) {
      await writeFile(durable, '', { mode: 0o600 });
      syncPath(folder);
    }
    return database;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * A killed first start leaves a partial data directory without data, a killed start an empty `postmaster.pid` that lets no other start, and a
 * killed query temporary files. The lock of the folder proves that nobody uses them.
 */
async function removeRemains(dataDirectory: string, marker: string): Promise<void> {
  if (await exists(marker)) await rm(dataDirectory, { recursive: true, force: true });
  if (!(await exists(dataDirectory))) await writeFile(marker, '', { mode: 0o600 });
  await rm(join(dataDirectory, 'postmaster.pid'), { force: true });
  await rm(join(dataDirectory, 'base', 'pgsql_tmp'), { recursive: true, force: true });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The engine has no background processes. Without checkpoints its log grew to 2.6 GB; without vacuum 12 sweeps of 10,000 dossiers took 49 MB, not 4. */
const checkpointBytes = 64 * 1_048_576;
const vacuumRows = 1_000;
/** The time limit for starting to vacuum a further table; 70 MB took 0.4 s. */
const vacuumMs = 3_000;

const deadRow = z.object({ name: z.string() });

interface EmbeddedSettings {
  /** Whether a commit is on the disk before it is acknowledged. */
  isDurable: boolean;
  /** Whether the process must stop soon, so that closing skips the vacuum. */
  isHurried: () => boolean;
  files?: EmbeddedFiles;
}

/** A database in a folder, run by PGlite in this process; `lock` proves that no other process has it open. */
export class EmbeddedDatabase implements Database {
  readonly dialect = 'embedded';
  readonly #engine: PGlite;
  readonly #lock: FolderLock;
  readonly #files: EmbeddedFiles;
  readonly #isHurried: () => boolean;
  readonly #scope = new TransactionScope();
  #checkpointAt = checkpointBytes;
  #cursors = 0;
  #closed: Promise<void> | undefined;

  private constructor(engine: PGlite, lock: FolderLock, files: EmbeddedFiles, isHurried: () => boolean) {
    this.#engine = engine;
    this.#lock = lock;
    this.#files = files;
    this.#isHurried = isHurried;
  }

  /** Opens the data directory, or creates an empty one; throws DatabaseError when it cannot be opened. */
  static async open(
    dataDirectory: string,
    lock: FolderLock,
    { isDurable, isHurried, files = new EmbeddedFiles(dataDirectory, lock.isHeld) }: EmbeddedSettings,
  ): Promise<EmbeddedDatabase> {
    // With nothing to wait for, Node leaves its event loop and blocks until V8 has optimised the engine: a fifth of the time of a short command.
    const keepAlive = setInterval(() => {}, 60_000);
    const engine = await PGlite.create({ fs: files, startParams: toStartParameters(isDurable) })
      .catch(rethrow)
      .finally(() => clearInterval(keepAlive));
    // Parameters are text already, and both drivers share the parsers of columns; PGlite's would differ.
    engine.serializers = {};
    engine.parsers = { ...columnParsers };
    return new EmbeddedDatabase(engine, lock, files, isHurried);
  }

  async query<Row>(row: z.ZodType<Row>, statement: string | Sql): Promise<Row[]> {
    const result = await this.#run(statement);
    return validateRows(row, result.rows);
  }

  async execute(statement: string | Sql): Promise<number> {
    const result = await this.#run(statement);
    return result.rowCount ?? 0;
  }

  async runScript(sql: string): Promise<void> {
    this.#scope.assertOutside();
    await this.#guard(this.#engine.exec(sql));
    await this.#checkpoint();
  }

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    this.#scope.assertOutside();
    const state = new TransactionState();
    let failure: { error: unknown } | undefined;
    try {
      this.#assertHeld();
      const result = await this.#engine.transaction(async (inner) => {
        try {
          const result = await this.#scope.run(() => work(toTransaction(inner, state)));
          await state.end();
          state.assertIntact();
          return result;
        } catch (error) {
          failure = { error };
          await state.end();
          throw error;
        }
      });
      await this.#checkpoint();
      return result;
    } catch (error) {
      this.#assertHeld();
      // An error of the work is rethrown unchanged; an error of begin or commit is the engine's.
      throw failure ? failure.error : toDatabaseError(error);
    }
  }

  async *cursor<Row>(row: z.ZodType<Row>, statement: string | Sql, batchSize: number): AsyncGenerator<Row[]> {
    this.#cursors += 1;
    const name = `batches_${this.#cursors}`;
    // There is only one session: `with hold` keeps the rows after the statement's transaction, so other statements may run between batches.
    const rows = typeof statement === 'string' ? rawSql(statement) : statement;
    await this.#run(sql`declare ${rawSql(name)} no scroll cursor with hold for ${rows}`);
    try {
      for (;;) {
        const batch = await this.#run(`fetch forward ${batchSize} from ${name}`);
        if (batch.rows.length > 0) yield validateRows(row, batch.rows);
        if (batch.rows.length < batchSize) return;
      }
    } finally {
      if (!this.#engine.closed) await this.#engine.exec(`close ${name}`).catch(ignore);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    try {
      // Closing writes, and the folder may belong to another process: then the engine ends with this process.
      if (!this.#lock.isHeld(0)) return;
      // A process that wrote nothing has left no dead rows; looking for them took a tenth of the time of a short command.
      if (this.#files.counts.walBytes > 0 && !this.#isHurried()) await this.#vacuum();
      await this.#engine.close();
    } finally {
      await this.#lock.release();
    }
  }

  /** Removes dead rows from tables with many of them, also those of an earlier killed process. */
  async #vacuum(): Promise<void> {
    const startedMs = performance.now();
    try {
      // Without it the counts lack the last second.
      await this.#engine.exec('select pg_stat_force_next_flush()');
      const { rows } = await this.#engine.query<Record<string, unknown>>(
        `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables where n_dead_tup >= ${vacuumRows} order by n_dead_tup desc`,
      );
      for (const { name } of validateRows(deadRow, rows)) {
        if (performance.now() - startedMs > vacuumMs || this.#isHurried()) return;
        await this.#engine.exec(`vacuum (analyze) ${name}`);
      }
    } catch {
      // The vacuum is optional: a full disk, for example, must not fail a finished command.
    }
  }

  /** Writes a checkpoint once the log is long, so that recovery stays short; a failure does not affect commits. */
  async #checkpoint(): Promise<void> {
    if (this.#files.counts.walBytes < this.#checkpointAt) return;
    await this.#engine.exec('checkpoint').catch(ignore);
    this.#checkpointAt = this.#files.counts.walBytes + checkpointBytes;
  }

  /** Throws LeaseLostError when somebody has freed the folder: the engine only knows that its files failed. */
  #assertHeld(): void {
    if (this.#lock.isHeld()) return;
    throw new LeaseLostError(
      'somebody removed the file that makes this process the owner of the embedded database. It writes nothing more; the next owner continues',
    );
  }

  async #guard<T>(work: Promise<T>): Promise<T> {
    return work.catch((error: unknown) => {
      this.#assertHeld();
      return rethrow(error);
    });
  }

  async #run(statement: string | Sql): Promise<Results<Record<string, unknown>>> {
    this.#scope.assertOutside();
    this.#assertHeld();
    const { text, values } = toStatement(statement);
    const result = await this.#guard(this.#engine.query<Record<string, unknown>>(text, values));
    await this.#checkpoint();
    return result;
  }
}

function toTransaction(inner: PGliteTransaction, state: TransactionState): Transaction {
  const run = async (statement: string | Sql) => {
    const { text, values } = toStatement(statement);
    return state.run(() => inner.query<Record<string, unknown>>(text, values).catch(rethrow));
  };
  return {
    query: async (row, statement) => validateRows(row, (await run(statement)).rows),
    execute: async (statement) => (await run(statement)).rowCount ?? 0,
    runScript: async (sql) => {
      await state.run(() => inner.exec(sql).catch(rethrow));
    },
  };
}

function rethrow(error: unknown): never {
  throw toDatabaseError(error);
}

function ignore(): void {}
