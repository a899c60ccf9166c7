import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { StoreError } from '../errors.js';
import type { Database } from '../store/database.js';
import { markDossiers } from '../store/event-marks.js';
import type { HeardEvent } from '../webhooks/listener.js';

const heardEventSchema = z.object({
  key: z.string().regex(/^[0-9a-f]{64}$/),
  dossierIds: z.array(z.string().max(80)),
  isAml: z.boolean(),
}) satisfies z.ZodType<HeardEvent>;

// At 25 files a second, which is the most that 200 events a second make, an hour of them.
const mostFiles = 100_000;

/**
 * Keeps hints of events in files of a folder, one file for each group, until whoever opens the embedded database takes them in: that database
 * has one owner at a time, and events come at any time. Each file is on the disk before its events are answered.
 */
export async function openEventSpool(folder: string): Promise<(hints: readonly HeardEvent[]) => Promise<number>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let number = 0;
  let files = (await readdir(folder)).length;
  const seen = new Set<string>();
  return async (hints) => {
    const fresh = [...new Map(hints.map((hint) => [hint.key, hint])).values()].filter(({ key }) => !seen.has(key));
    if (fresh.length === 0) return 0;
    number += 1;
    files += 1;
    if (files > mostFiles) files = (await readdir(folder)).length + 1;
    if (files > mostFiles) {
      throw new StoreError(
        'event_spool_full',
        `${folder} holds ${mostFiles} files of events: run nightscreen sweep --dirty`,
      );
    }
    const name = join(folder, `${Date.now()}-${process.pid}-${number}`);
    const file = await open(`${name}.part`, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify(fresh));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${name}.part`, `${name}.json`);
    await syncFolder(folder);
    for (const { key } of fresh) seen.add(key);
    // The database knows the others; this only keeps repetitions out of the files.
    for (const key of seen) if (seen.size > 100_000) seen.delete(key);
    return fresh.length;
  };
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Takes kept hints into the database; a file is removed once its marks are stored, so that after a crash it is taken once more and marks nothing new. */
export async function takeSpooledEvents(
  database: Database,
  organisationId: number,
  folder: string,
  now: Date,
): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const whole = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  const filesAtOnce = 200;
  for (let at = 0; at < whole.length; at += filesAtOnce) {
    const files = whole.slice(at, at + filesAtOnce);
    const hints = await Promise.all(files.map(async (file) => parseHints(await readFile(file, 'utf8'))));
    await markDossiers(database, organisationId, hints.flat(), now);
    await Promise.all(files.map((file) => unlink(file)));
  }
}

/** What somebody else has put there marks nothing. */
function parseHints(text: string): readonly HeardEvent[] {
  try {
    return z.array(heardEventSchema).parse(JSON.parse(text));
  } catch {
    return [];
  }
}
