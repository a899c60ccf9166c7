import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import type { Queryable } from '../../store/database.js';
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

const serverSchema = z.object({ version: z.string(), major: z.number() });

/** Which server the database is. */
export async function checkServer(database: Queryable): Promise<Finding[]> {
  const [facts] = await database.query(
    serverSchema,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major`,
  );
  if (!facts) return [];
  const { version, major } = facts;
  const server = `PostgreSQL ${version}`;
  return [
    major < oldestMajor
      ? doubtful('database server', server, `use PostgreSQL ${oldestMajor} or newer`)
      : well('database server', server),
  ];
}
