import type { RunFacts } from '../../src/reports/run-facts.js';
import { findRun } from '../../src/runs/run-reference.js';
import type { Database } from '../../src/store/database/database.js';
import { readRunFacts } from '../../src/store/reports/facts.js';

/** Everything stored about a run, by its name; throws ConfigError when there is none. */
export async function showRun(database: Database, organisation: string, text: string): Promise<RunFacts> {
  const run = await findRun(database, organisation, text);
  const covered = { sweepRunIds: run.kind === 'sweep' ? [run.runId] : [], earlierRunIds: [] };
  return readRunFacts(database, run, covered, database);
}
