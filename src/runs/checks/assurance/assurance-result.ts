import { ConfigError } from '../../../errors.js';
import type { RunState } from '../../../reports/run-facts.js';
import { type AssuranceFacts, type AssuranceItem, readAssurance, readAssuranceItems } from '../../../store/checks.js';
import type { Database, Queryable } from '../../../store/database/database.js';
import { type RunRow, readRunKeys, toRunId } from '../../../store/runs.js';
import { findRun } from '../../session/list-runs.js';
import { toExitCode } from '../../session/run-summary.js';
import { measureRecall, measureStrata, type Recall, type StratumRecall } from './measure-recall.js';

/** A measurement of the service's recall, as it is kept. */
export interface AssuranceResult extends AssuranceFacts {
  runId: string;
  state: RunState;
  reasons: readonly string[];
  exitCode: number;
  mode: 'test' | 'live';
  keyFingerprints: readonly string[];
  startedAt: Date;
  finishedAt: Date | null;
  attempts: number;
  total: Recall;
  byTypeAndScript: readonly StratumRecall[];
  byVariant: readonly StratumRecall[];
  /** Listed names that the service answered without a hit. */
  missed: readonly AssuranceItem[];
  failed: readonly AssuranceItem[];
}

/** A measurement as it stands; throws ConfigError when no measurement has this name. */
export async function showAssurance(database: Database, text: string): Promise<AssuranceResult> {
  const run = await findRun(database, text);
  const measurement = await describeAssurance(database, run);
  if (measurement !== null) return measurement;
  const message = `${toRunId(run)} measured no recall; \`nightscreen runs show\` tells about it`;
  throw new ConfigError([{ where: 'run', path: '', message }]);
}

/** The measurement that a run was, or null when it was none. */
export async function describeAssurance(database: Queryable, run: RunRow): Promise<AssuranceResult | null> {
  const facts = await readAssurance(database, run.runId);
  if (facts === null) return null;
  const items = await readAssuranceItems(database, run.runId);
  return {
    ...facts,
    runId: toRunId(run),
    state: run.state,
    reasons: run.stateReasons,
    exitCode: toExitCode(run.state),
    mode: run.mode,
    keyFingerprints: await readRunKeys(database, run.runId),
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    attempts: run.sums?.counts.attempts ?? 0,
    total: measureRecall(items),
    byTypeAndScript: measureStrata(items, ({ type, script }) => `${type}, ${script}`),
    byVariant: measureStrata(items, ({ variant }) => variant),
    missed: items.filter((item) => item.outcome === 'answered' && item.hits === 0),
    failed: items.filter((item) => item.outcome === 'failed'),
  };
}
