import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { FolderOwnerError } from '../../errors.js';
import { requireOwnDatabase } from '../open-database.js';
import { type Finding, well, wrong } from './finding.js';

function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

/** Tries whether a folder, or the nearest one above that exists, can be written. */
export async function checkFolder(check: string, setting: string, folder: string): Promise<Finding> {
  const existing = findExisting(resolve(folder));
  try {
    const trial = await mkdtemp(join(existing, '.nightscreen-doctor-'));
    await rm(trial, { recursive: true });
    return well(check, `${folder} can be written`);
  } catch {
    return wrong(check, `${folder} cannot be written`, `give this user the right, or set ${setting} to another folder`);
  }
}

/** The same of the embedded database's folder; nothing is tried where it is another user's, which is told of the database. */
export async function checkDataFolder(config: Config): Promise<Finding[]> {
  if (config.secret('DATABASE_URL') !== undefined) return [];
  try {
    await requireOwnDatabase(config, 'doctor');
  } catch (error) {
    if (error instanceof FolderOwnerError) return [];
    throw error;
  }
  return [await checkFolder('data folder', 'database.folder', config.settings.database.folder)];
}
