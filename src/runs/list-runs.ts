import { ConfigError } from '../errors.js';
import type { RunFacts, RunKind, RunState } from '../reports/run-facts.js';
import type { Database } from '../store/database.js';
import { readRunFacts } from '../store/run-facts.js';
import { toRunId } from '../store/run-id.js';
import { type RunRow, readRun, readRuns } from '../store/runs.js';
import { parseRunId } from './run-id.js';

/** A run in one line. */
export interface RunListing {
  runId: string;
  kind: RunKind;
  state: RunState;
  reasons: readonly string[];
  startedAt: Date;
  finishedAt: Date | null;
  resumed: number;
  planned: number | null;
  screened: number | null;
  failed: number | null;
  remaining: number | null;
  changes: number | null;
}

/** The newest runs, newest first. */
export async function listRuns(database: Database, limit: number): Promise<readonly RunListing[]> {
  return (await readRuns(database, limit)).map((run) => ({
    runId: toRunId(run),
    kind: run.kind,
    state: run.state,
    reasons: run.stateReasons,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    resumed: run.resumed,
    planned: run.sums?.counts.planned ?? null,
    screened: run.sums?.counts.screened ?? null,
    failed: run.sums?.counts.failed ?? null,
    remaining: run.sums?.counts.remaining ?? null,
    changes: run.sums?.counts.changes ?? null,
  }));
}

/** The run that `text` names; throws ConfigError when there is none. */
export async function findRun(database: Database, text: string): Promise<RunRow> {
  const run = await readRun(database, parseRunId(text));
  if (run) return run;
  throw new ConfigError([
    { where: 'run', path: '', message: `there is no run ${text}; \`nightscreen runs list\` shows them` },
  ]);
}

/** Everything stored about a run; throws ConfigError when there is none of that name. */
export async function showRun(database: Database, text: string): Promise<RunFacts> {
  const run = await findRun(database, text);
  return readRunFacts(database, run, { sweepRunIds: run.kind === 'sweep' ? [run.runId] : [], earlierRunIds: [] });
}
