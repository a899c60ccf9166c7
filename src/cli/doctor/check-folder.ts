import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
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
