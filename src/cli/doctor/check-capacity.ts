import { existsSync } from 'node:fs';
import { readFile, statfs } from 'node:fs/promises';
import { freemem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Database } from '../../store/database/database.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

const mebibyte = 1_048_576;
/** Below this a night may not end: a database cannot write its log, nor a run its report. */
const leastMegabytes = 200;
const scarceMegabytes = 2_000;

const findExisting = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));

/** How much room is left on the disk that a folder lies on, or will. */
export async function checkSpace(check: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(findExisting(resolve(folder)));
  const megabytes = Math.floor((bavail * bsize) / mebibyte);
  return judgeSpace(check, folder, megabytes);
}

/** What so many free megabytes mean. */
export function judgeSpace(check: string, folder: string, megabytes: number): Finding {
  const words = `${megabytes} MB are free for ${folder}`;
  if (megabytes < leastMegabytes) return wrong(check, words, 'make room, or move it: a full disk ends a run');
  return megabytes < scarceMegabytes ? doubtful(check, words, 'make room before it is full') : well(check, words);
}

const oldestMajor = 14;

const serverSchema = z.object({ version: z.string(), major: z.number(), fsync: z.string() });

/** Which server the database is, and of the embedded one whether its commits survive power loss. */
export async function checkServer(database: Database): Promise<Finding[]> {
  const [facts] = await database.query(
    serverSchema,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major,
      current_setting('fsync') as fsync`,
  );
  if (!facts) return [];
  const { version, major, fsync } = facts;
  const server = `PostgreSQL ${version}`;
  const words =
    fsync === 'on'
      ? 'each commit is brought to the disk (fsync)'
      : 'commits survive a kill, not power loss (no fsync); database.durable: always changes that';
  return [
    major < oldestMajor
      ? doubtful('database server', server, `use PostgreSQL ${oldestMajor} or newer`)
      : well('database server', server),
    ...(database.dialect === 'embedded' ? [well('database durability', words)] : []),
  ];
}

const leastMemoryMegabytes = 1_536;
const groupLimits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'];

/** Whether the machine and the container have the memory that the embedded database takes. */
export async function checkMemory(): Promise<Finding> {
  const numbers = await Promise.all(groupLimits.map((path) => readFile(path, 'utf8').then(Number, () => Number.NaN)));
  const available = await readFile('/proc/meminfo', 'utf8').then(
    (text) => Number(/^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024,
    () => Number.NaN,
  );
  const bytes = [...numbers, Number.isNaN(available) ? freemem() : available].filter((number) => number > 0);
  return judgeMemory(Math.floor(Math.min(...bytes) / mebibyte));
}

/** What so many megabytes mean for the embedded database. */
function judgeMemory(megabytes: number): Finding {
  const words = `${megabytes} MB of memory are available; the embedded database takes 560 to 925 MB`;
  return megabytes < leastMemoryMegabytes
    ? doubtful(
        'memory',
        words,
        'give the machine or container 1.5 GB, or set DATABASE_URL: too little ends a run (137)',
      )
    : well('memory', words);
}
