import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ReportError } from '../errors.js';
import type { WrittenFile } from './file-set.js';
import { readWrittenFile } from './read-written-file.js';
import { reportFileNames, type WrittenReport } from './write-report.js';

/**
 * Copies a written report into a folder of the same name under `publishTo`, manifest.json last, and gives that folder; a copy that is
 * there already is left alone. Others may read of it what they may read of `publishTo`. Throws ReportError `report_not_published`, with
 * nothing that could pass for this report, when `publishTo` is not there (as when a share is not mounted) or cannot be written to, or when
 * a file is no longer the one that was written.
 */
export async function publishReport(written: WrittenReport, publishTo: string): Promise<string> {
  try {
    return await copyReport(written, publishTo);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the report could not be copied to ${publishTo}: ${reason}`;
    throw new ReportError('report_not_published', message, { cause: error });
  }
}

async function copyReport({ directory, files }: WrittenReport, publishTo: string): Promise<string> {
  const { mode } = await stat(publishTo);
  const folder = join(publishTo, basename(directory));
  await mkdir(folder, { mode: 0o700 }).catch(ignoreCodes('EEXIST'));
  if (!(await lstat(folder)).isDirectory()) throw new Error('the folder is a symbolic link or not a folder');
  await permit(folder, 0o700 | (mode & 0o2055));
  const manifest = join(folder, 'manifest.json');
  if ((await digestFile(manifest)) === files.find(({ name }) => name === 'manifest.json')?.sha256) return folder;
  const suffix = randomBytes(6).toString('hex');
  const toPassing = (name: string): string => join(folder, `.${name}.${suffix}.tmp`);
  try {
    for (const file of files) await copyFile(directory, file, toPassing(file.name));
    // Until the new one comes last, no manifest may speak for files that are being replaced.
    await rm(manifest, { force: true });
    await removeStale(folder, files);
    for (const { name } of files) {
      await permit(toPassing(name), 0o600 | (mode & 0o044));
      await rename(toPassing(name), join(folder, name));
    }
  } catch (error) {
    await Promise.allSettled(files.map(({ name }) => rm(toPassing(name), { force: true })));
    throw error;
  }
  return folder;
}

/** A file of a former report that this one does not have would be taken for one of its own; what others have put there stays. */
async function removeStale(folder: string, files: readonly WrittenFile[]): Promise<void> {
  const stale = reportFileNames.filter((name) => files.every((file) => file.name !== name));
  for (const name of stale) await rm(join(folder, name), { force: true });
}

async function copyFile(directory: string, file: WrittenFile, to: string): Promise<void> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const target = await open(to, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  try {
    for await (const block of readWrittenFile(directory, file)) await target.writeFile(block);
    await target.sync();
  } finally {
    await target.close();
  }
}

async function digestFile(path: string): Promise<string | null> {
  const content = await readFile(path).catch(ignoreCodes('ENOENT'));
  return content === undefined ? null : createHash('sha256').update(content).digest('hex');
}

/** Mounts of other systems know no modes: then theirs hold. */
const permit = (path: string, mode: number): Promise<void> =>
  chmod(path, mode).catch(ignoreCodes('EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'));

const ignoreCodes =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (error instanceof Error && 'code' in error && codes.some((code) => code === error.code)) return undefined;
    throw error;
  };
