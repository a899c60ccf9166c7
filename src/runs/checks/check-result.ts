import { ConfigError } from '../../errors.js';
import type { PartyState } from '../../matches/customer-state.js';
import type { MatchSet } from '../../matches/match.js';
import type { RunState } from '../../reports/run-facts.js';
import { readCheck } from '../../store/checks.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { readMatchSets } from '../../store/responses.js';
import { type RunRow, readRunKeys, toRunId } from '../../store/runs.js';
import { findRun } from '../session/list-runs.js';
import { type ControlStanding, judgeControls } from './judge-controls.js';

/** A single check and its evidence. `not_screened` is its verdict unless the service gave a valid answer. */
export interface CheckResult {
  runId: string;
  state: RunState;
  verdict: PartyState | 'not_screened';
  type: 'person' | 'entity';
  name: string;
  /** The name as it was sent. */
  sentName: string;
  reason: string;
  askedBy: string;
  askedAt: Date;
  endedAt: Date | null;
  mode: 'test' | 'live';
  keyFingerprints: readonly string[];
  /** Why there is no valid answer; empty where there is one. */
  notAnsweredBecause: readonly string[];
  /** Why the run is not complete: no valid answer, or one that no control search vouches for. */
  reasons: readonly string[];
  /** A check asks no control search itself: what those of other runs say. */
  controls: ControlStanding;
  /** Keyed digest (hex) of the answer as received. */
  responseDigest: string | null;
  /** In rank order. */
  answer: MatchSet | null;
  attempts: number;
}

/** A check as it is stored; throws ConfigError when no check of this name was made. */
export async function showCheck(database: Database, text: string): Promise<CheckResult> {
  const run = await findRun(database, text);
  const check = await describeCheck(database, run);
  if (check !== null) return check;
  const message = `${toRunId(run)} asked about nobody alone; \`nightscreen runs show\` tells about it`;
  throw new ConfigError([{ where: 'run', path: '', message }]);
}

/** The check that a run was, or null when it was none. */
export async function describeCheck(database: Queryable, run: RunRow): Promise<CheckResult | null> {
  const check = await readCheck(database, run.runId);
  if (check === null) return null;
  const { outcome, outcomeReason: _, responseId, ...question } = check;
  const matchSets = await readMatchSets(database, responseId === null ? [] : [responseId]);
  return {
    ...question,
    runId: toRunId(run),
    state: run.state,
    mode: run.mode,
    keyFingerprints: await readRunKeys(database, run.runId),
    notAnsweredBecause: outcome === 'answered' ? [] : run.stateReasons,
    reasons: run.stateReasons,
    controls: await judgeControls(database, run.accountId, check.endedAt ?? check.askedAt),
    answer: responseId === null ? null : (matchSets.get(responseId) ?? null),
    attempts: run.sums?.counts.attempts ?? 0,
  };
}
