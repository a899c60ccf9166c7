import { type ConfigError, usageError } from '../errors.js';
import type { Database, Queryable } from '../store/database/database.js';
import { describeHolder, readHeldLeases } from '../store/database/leases.js';
import { readRosterNames } from '../store/organisations.js';
import { findRunOf, type RunRow, readRuns, toRunId } from '../store/runs.js';

/** The error of a run that is not there, or not fit for what is wanted of it. */
export const refuseRun = (message: string): ConfigError => usageError('run', message);

/** The number of a run from its name or its number; throws ConfigError for other text. */
export function parseRunId(text: string): number {
  const digits = /^(?:\d{4}-\d{2}-\d{2}-[a-z]+-)?(\d{1,15})$/.exec(text.trim())?.[1];
  if (digits === undefined) {
    throw refuseRun(`"${text}" is not a run id; \`nightscreen runs\` shows the runs`);
  }
  return Number(digits);
}

/** The newest runs of an organisation, newest first. */
export async function listRuns(database: Database, organisation: string, limit: number) {
  const rosters = await readRosterNames(database, organisation);
  const leases = await readHeldLeases(database, organisation);
  return (await readRuns(database, organisation, limit)).map((run) => {
    const held = findRunLease(leases, run);
    return {
      runId: toRunId(run),
      roster: run.rosterId === null ? null : (rosters.get(run.rosterId) ?? null),
      kind: run.kind,
      state: run.state,
      reasons: run.stateReasons,
      haltedBy: run.haltedBy,
      startedAt: run.startedAt,
      finishedAt: run.finishedAt,
      resumed: run.resumed,
      /** The process that works on it and its last heartbeat; null when it is not running, or its process has died. */
      heldBy: held ? describeHolder(held) : null,
      planned: run.sums?.counts.planned ?? null,
      screened: run.sums?.counts.screened ?? null,
      failed: run.sums?.counts.failed ?? null,
      remaining: run.sums?.counts.remaining ?? null,
      changes: run.sums?.counts.changes ?? null,
    };
  });
}

/** The lease of the process that works on a run; undefined when it has ended, or when its process has died. */
export const findRunLease = (leases: Awaited<ReturnType<typeof readHeldLeases>>, run: RunRow) =>
  run.state === 'running'
    ? leases.find(({ key, epoch, expiresInMs }) => key === run.leaseKey && epoch === run.epoch && expiresInMs > 0)
    : undefined;

/** The run of an organisation that `text` names; throws ConfigError when there is none. */
export async function findRun(database: Queryable, organisation: string, text: string): Promise<RunRow> {
  const run = await findRunOf(database, organisation, parseRunId(text));
  // A name must match as a whole: a typing error must not show another run.
  if (run && (/^\d+$/.test(text.trim()) || toRunId(run) === text.trim())) return run;
  throw refuseRun(`there is no run ${text}; \`nightscreen runs\` shows the runs`);
}

/** Describes a run of one kind (`what`) by its name; throws ConfigError when `describe` knows nothing of it. */
export async function describeRunAs<T>(
  database: Database,
  organisation: string,
  text: string,
  { what, describe }: { what: string; describe: (database: Database, run: RunRow) => Promise<T | null> },
): Promise<T> {
  const run = await findRun(database, organisation, text);
  const found = await describe(database, run);
  if (found !== null) return found;
  throw refuseRun(`${toRunId(run)} is not ${what}; \`nightscreen runs show ${run.runId}\` describes it`);
}
