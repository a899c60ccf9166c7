import type { Incident } from '../../store/incidents.js';
import type { JobRun } from '../../store/job-runs.js';
import type { NightFacts, RunningFacts } from '../../store/watch-facts.js';
import type { ExpectedStart } from './expected-start.js';
import type { Finding } from './finding.js';
import { judgeJobs } from './judge-jobs.js';
import { judgeRoster, type RosterFacts } from './judge-roster.js';
import { judgeRunning, judgeSweep } from './judge-runs.js';

/** Everything that is judged. */
export interface WatchFacts {
  rosters: readonly RosterFacts[];
  running: readonly RunningFacts[];
  sweep: NightFacts | null;
  /** Null where nobody wrote down when sweeps should be made. */
  expectedSweep: ExpectedStart | null;
  /** The newest of each job of the scheduler. */
  jobs: readonly JobRun[];
}

/** What is not as it should be at a moment, against what has been told and is not over (`open`). */
export function judge(
  { rosters, running, sweep, expectedSweep, jobs }: WatchFacts,
  open: readonly Incident[],
  { stuckAfterMs, now }: { stuckAfterMs: number; now: Date },
): readonly Finding[] {
  return [
    ...rosters.flatMap((facts) => judgeRoster(facts, open, now)),
    ...judgeRunning(running, stuckAfterMs, now),
    ...judgeSweep(sweep, expectedSweep),
    ...judgeJobs(jobs),
  ];
}
