import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { FolderOwnerError } from '../../errors.js';
import { requireOwnDatabase } from '../open-database.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** Whether the embedded database and reports have the rights, the room and the memory that they need on this machine. */
export async function checkMachine(config: Config): Promise<Finding[]> {
  const { database, reports } = config.settings;
  const isEmbedded = config.secret('DATABASE_URL') === undefined;
  return [
    ...(await checkDataFolder(config)),
    ...(isEmbedded ? [await checkSpace('data space', database.folder), await checkMemory()] : []),
    await checkFolder('reports', 'reports.dir', reports.dir),
    await checkSpace('reports space', reports.dir),
  ];
}

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

/** Nothing is tried where the folder is another user's, which the check of the database reports. */
async function checkDataFolder(config: Config): Promise<Finding[]> {
  if (config.secret('DATABASE_URL') !== undefined) return [];
  try {
    await requireOwnDatabase(config, 'doctor');
  } catch (error) {
    if (error instanceof FolderOwnerError) return [];
    throw error;
  }
  return [await checkFolder('data folder', 'database.folder', config.settings.database.folder)];
}

const mebibyte = 1_048_576;
/** Below this a night may not end: a database cannot write its log, nor a run its report. */
const leastMegabytes = 200;
const scarceMegabytes = 2_000;

/** How much room is left on the disk that a folder lies on, or will. */
async function checkSpace(check: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(findExisting(resolve(folder)));
  const megabytes = Math.floor((bavail * bsize) / mebibyte);
  return assessSpace(check, folder, megabytes);
}

/** What so many free megabytes mean. */
export function assessSpace(check: string, folder: string, megabytes: number): Finding {
  const words = `${megabytes} MB are free for ${folder}`;
  if (megabytes < leastMegabytes) return wrong(check, words, 'make room, or move it: a full disk ends a run');
  return megabytes < scarceMegabytes ? doubtful(check, words, 'make room before it is full') : well(check, words);
}

const leastMemoryMegabytes = 1_536;
const groupLimits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/** Whether the machine and the container have the memory that the embedded database takes. */
async function checkMemory(): Promise<Finding> {
  const numbers = await Promise.all(groupLimits.map((path) => readFile(path, 'utf8').then(Number, () => Number.NaN)));
  const available = await readFile('/proc/meminfo', 'utf8').then(
    (text) => Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024,
    () => Number.NaN,
  );
  const bytes = [...numbers, Number.isNaN(available) ? freemem() : available].filter((number) => number > 0);
  return assessMemory(Math.floor(Math.min(...bytes) / mebibyte));
}

/** What so many megabytes mean for the embedded database. */
function assessMemory(megabytes: number): Finding {
  const words = `${megabytes} MB of memory are available; the embedded database takes 560 to 925 MB`;
  return megabytes < leastMemoryMegabytes
    ? doubtful(
        'memory',
        words,
        'give the machine or container 1.5 GB, or set DATABASE_URL: too little ends a run (137)',
      )
    : well('memory', words);
}
