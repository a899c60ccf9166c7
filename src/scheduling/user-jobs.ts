import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ConfigError, type ConfigProblem, NightscreenError } from '../errors.js';
import { findOddFile } from '../files.js';
import type { AppContext, Job, JobResult, JobSlot } from '../runs/app-context.js';
import { jobScheduleSchema, timeoutSchema, toSpanMs } from './settings.js';

/** The input of a job of the user's own. */
interface UserJobContext extends JobSlot {
  job: string;
  /** The folder of the reports. */
  reportsFolder: string;
  /** The rows of a query; docs/internals.md has the tables, which may change with each version. */
  query(sql: string, parameters?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** A secret by the name of its environment variable (or `NAME_FILE`). */
  secret(name: string): string | undefined;
}

type RunUserJob = (context: UserJobContext, signal: AbortSignal) => unknown;

const jobNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be a short name of small letters, digits and hyphens');

const userJobSchema = z.strictObject({
  name: jobNameSchema,
  defaultSchedule: jobScheduleSchema.nullable().default(null),
  after: z.array(jobNameSchema).default([]),
  timeout: timeoutSchema.default('1h'),
  run: z.custom<RunUserJob>((value) => typeof value === 'function', 'must be a function (context, signal)'),
});

const userResultSchema = z.strictObject({
  exitCode: z.union([z.literal(0), z.literal(3)]).default(0),
  note: z.string().max(1_000).optional(),
});

/**
 * The jobs of the `.mjs` files in a folder, by file name; each file exports one as `default`. Throws ConfigError with all problems, by file. The
 * names in `shipped` are taken; `where` names the setting of the folder.
 */
export async function readUserJobs(folder: string, shipped: readonly string[], where: string): Promise<readonly Job[]> {
  const files = await listFiles(folder, where);
  const jobs: Job[] = [];
  const problems: ConfigProblem[] = [];
  const taken = new Map(shipped.map((name) => [name, 'Nightscreen itself']));
  for (const file of files) {
    const read = await readJob(join(folder, file));
    if ('reasons' in read) {
      problems.push(...read.reasons.map((message) => ({ where: join(folder, file), path: '', message })));
      continue;
    }
    const owner = taken.get(read.name);
    if (owner) {
      const message = `its name ${read.name} is taken by ${owner}`;
      problems.push({ where: join(folder, file), path: '', message });
    } else {
      taken.set(read.name, file);
      jobs.push(read);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return jobs;
}

async function listFiles(folder: string, where: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.mjs')).sort();
  } catch (cause) {
    const message = `the folder ${folder} cannot be read; create it, or remove the setting`;
    throw new ConfigError([{ where, path: 'scheduler.jobsFolder', message }], { cause });
  }
}

async function readJob(file: string): Promise<Job | { reasons: readonly string[] }> {
  const odd = findOddFile(file);
  if (odd !== null) return { reasons: [odd] };
  let exported: unknown;
  try {
    const module: unknown = await import(pathToFileURL(file).href);
    exported = typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : undefined;
  } catch (error) {
    return { reasons: [`it cannot be loaded: ${error instanceof Error ? error.message : String(error)}`] };
  }
  if (exported === undefined) return { reasons: ['it exports no job: write `export default { name, run }`'] };
  const parsed = userJobSchema.safeParse(exported);
  if (parsed.success) return toJob(parsed.data);
  return {
    reasons: parsed.error.issues.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': ')),
  };
}

function toJob({ name, defaultSchedule, after, timeout, run }: z.output<typeof userJobSchema>): Job {
  return {
    name,
    defaultSchedule,
    after,
    timeoutMs: toSpanMs(timeout),
    isOwn: true,
    run: async (app, signal, slot) => {
      const result: unknown = await run(toContext(name, app, slot), signal);
      const parsed = userResultSchema.safeParse(result ?? {});
      if (parsed.success) return toResult(parsed.data);
      const message = `the job ${name} has run, but its result is invalid: return nothing, or { exitCode: 0 or 3, note }`;
      throw new NightscreenError('job_result', message);
    },
  };
}

const toResult = ({ exitCode, note }: z.output<typeof userResultSchema>): JobResult => ({
  runs: [],
  exitCode,
  ...(note !== undefined && { note }),
});

const toContext = (job: string, { database, settings, secret }: AppContext, slot: JobSlot): UserJobContext => ({
  ...slot,
  job,
  reportsFolder: settings.reports.dir,
  query: (sql, parameters = []) => database.query(z.record(z.string(), z.unknown()), sql, parameters),
  secret,
});
