import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../errors.js';
import { makeFolder } from '../../files.js';
import { type FolderLock, lockFolder } from '../../store/database/folder-lock.js';

const markerName = '.nightscreen-demo';
const ownedNames = ['database', 'reports'];

/** The demo's own folder, emptied and held against other demos until `release`. */
export interface DemoFolder {
  database: string;
  reports: string;
  release(): Promise<void>;
}

/**
 * Makes or resets the demo's folder. Throws ConfigError when there is a folder of that name that the demo did not make (it is left
 * alone) or when it cannot be written, RunLockedError when another demo runs in it.
 */
export async function prepareDemoFolder(folder: string): Promise<DemoFolder> {
  const marker = join(folder, markerName);
  await makeFolder(folder, 'start the demo in another folder');
  if (!existsSync(marker)) {
    if ((await readdir(folder)).length > 0) {
      const message = 'exists and was not made by the demo, so it is left alone; move it away or start elsewhere';
      throw new ConfigError([{ where: folder, path: '', message }]);
    }
    await writeFile(marker, 'The demo of Nightscreen made this folder and empties it at each start.\n');
  }
  const lock: FolderLock = await lockFolder(folder, 'nightscreen demo');
  try {
    for (const name of ownedNames) await rm(join(folder, name), { recursive: true, force: true });
  } catch (error) {
    await lock.release();
    throw error;
  }
  return { database: join(folder, 'database'), reports: join(folder, 'reports'), release: () => lock.release() };
}
