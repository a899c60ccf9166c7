import { DatabaseError } from '../store/database/database.js';
import { dropRunRange, toRunId } from '../store/runs.js';
import type { AppContext } from './app-context.js';
import { findRun, refuseRun, requireStored } from './run-reference.js';
import type { Acceptance } from './settings-diff.js';

/** Refusals of the database: the runs are needed or not stored, others hold them, or the login does not own the tables. */
const refusals = new Set(['55006', 'P0002', '55P03', '42501']);

/**
 * Drops what the 256 runs around an old one planned, sent and found for each party; sums, answers and changes stay. Returns the names of the
 * runs. Throws ConfigError while something needs them, or when some are of another organisation.
 */
export async function dropRuns(app: AppContext, text: string, { by, reason }: Acceptance): Promise<readonly string[]> {
  const { database, settings } = app;
  const run = await findRun(database, settings.organisation, text);
  requireStored(run);
  try {
    const dropped = await dropRunRange(database, run, { by: by.name, reason });
    if (dropped !== null) return dropped;
  } catch (error) {
    if (!(error instanceof DatabaseError && refusals.has(error.sqlState ?? ''))) throw error;
    const isBusy = error.sqlState === '55P03';
    const why = isBusy ? 'others used the tables for 5 seconds; try again when no run works' : error.message;
    throw refuseRun(`the runs around ${toRunId(run)} were not dropped: ${why}`);
  }
  throw refuseRun(
    `the 256 runs around ${toRunId(run)} are not all of this organisation, so only the owner of the database drops them: \`select drop_run_range(${run.runId}, 'NAME', 'REASON')\``,
  );
}
