import { type FileHandle, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readErrorCode, StoreError } from '../errors.js';
import { makeFolders, syncFolder } from '../files.js';
import type { Database } from '../store/database/database.js';
import { markDossiers } from '../store/dossiers/event-marks.js';
import type { HeardEvent } from '../webhooks/listener.js';

const heardEventSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  dossierIds: z.array(z.string().max(80)),
  isAml: z.boolean(),
}) satisfies z.ZodType<HeardEvent>;

// More than a day of 200 events a second, in 2 GB.
const mostFiles = 20_000;
const mostRemembered = 100_000;
/** A file is closed after this time and can then be imported. */
const closeAfterMs = 5_000;
/** A file that is open for longer belongs to a dead listener. */
const abandonedAfterMs = 60_000;

/**
 * Opens a folder that stores events until the next owner of the embedded database imports them: that database has one owner at a time, and
 * events come at any time. A group of events is one write to one file. With one file for each event, one answer in a hundred took half a second
 * at 200 events a second.
 */
export async function openEventSpool(folder: string) {
  await makeFolders(folder);
  const seen = new Set<string>();
  let file: { handle: FileHandle; name: string; timer: NodeJS.Timeout } | null = null;
  let number = 0;
  let work: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(next: () => Promise<T>): Promise<T> => {
    const done = work.then(next);
    work = done.catch(() => undefined);
    return done;
  };
  const closeFile = async (): Promise<void> => {
    if (file === null) return;
    const { handle, name, timer } = file;
    file = null;
    clearTimeout(timer);
    await handle.close();
    await rename(`${name}.open`, `${name}.events`);
  };
  const openFile = async (): Promise<NonNullable<typeof file>> => {
    if ((await readdir(folder)).length >= mostFiles) {
      throw new StoreError('event_spool_full', `${folder} holds ${mostFiles} files; run \`nightscreen sweep --dirty\``);
    }
    number += 1;
    const name = join(folder, `${Date.now()}-${process.pid}-${number}`);
    const handle = await open(`${name}.open`, 'ax', 0o600);
    await syncFolder(folder);
    return { handle, name, timer: setTimeout(() => void inOrder(closeFile).catch(() => undefined), closeAfterMs) };
  };
  return {
    /** Stores events and resolves once they are on the disk; gives the number of new ones. Rejects with StoreError while the folder is full. */
    keep: (events: readonly HeardEvent[]): Promise<number> =>
      inOrder(async () => {
        const fresh = [...new Map(events.map((event) => [event.key, event])).values()].filter(
          ({ key }) => !seen.has(key),
        );
        if (fresh.length === 0) return 0;
        file ??= await openFile();
        try {
          await file.handle.appendFile(`${JSON.stringify(fresh)}\n`);
          await file.handle.datasync();
        } catch (error) {
          // Half a line makes the next one unreadable.
          await closeFile().catch(() => undefined);
          throw error;
        }
        for (const { key } of fresh) seen.add(key);
        // The database knows all keys. This set only keeps recent repetitions out of the files.
        for (const key of seen) {
          if (seen.size <= mostRemembered) break;
          seen.delete(key);
        }
        return fresh.length;
      }),
    close: () => inOrder(closeFile),
  };
}

/** Imports stored events into the database. A file is removed after its marks are stored; after a crash it is imported again and marks nothing new. */
export async function takeSpooledEvents(
  database: Database,
  organisationId: number,
  folder: string,
  now: Date,
): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (readErrorCode(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    if (!name.endsWith('.events') && !(await isAbandoned(path))) continue;
    const events = (await readFile(path, 'utf8')).split('\n').flatMap(parseLine);
    for (let at = 0; at < events.length; at += eventsAtOnce) {
      await markDossiers(database, organisationId, events.slice(at, at + eventsAtOnce), now);
    }
    await unlink(path);
  }
}

const eventsAtOnce = 1_000;

async function isAbandoned(path: string): Promise<boolean> {
  if (!path.endsWith('.open')) return false;
  const { mtimeMs } = await stat(path);
  return Date.now() - mtimeMs > abandonedAfterMs;
}

/** The last line of a dead listener may be incomplete. Its events were not acknowledged, so the service sends them again. */
function parseLine(line: string): readonly HeardEvent[] {
  try {
    return z.array(heardEventSchema).parse(JSON.parse(line));
  } catch {
    return [];
  }
}
