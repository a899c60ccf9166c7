import type { Incident } from '../../store/incidents.js';
import type { RunningFacts } from '../../store/watch-facts.js';
import type { Finding } from './finding.js';
import { type JobFacts, judgeJobs } from './judge-jobs.js';
import { judgeRoster, type RosterFacts } from './judge-roster.js';
import { judgeRunning } from './judge-running.js';
import { judgeSweep, type SweepFacts } from './judge-sweep.js';

/** Everything that is judged. */
export interface JudgedFacts {
  rosters: readonly RosterFacts[];
  running: readonly RunningFacts[];
  sweep: SweepFacts;
  jobs: readonly JobFacts[];
}

/** What is not as it should be at a moment, against what has been told and is not over (`open`). */
export function judge(
  { rosters, running, sweep, jobs }: JudgedFacts,
  open: readonly Incident[],
  { stuckAfterMs, now }: { stuckAfterMs: number; now: Date },
): readonly Finding[] {
  return [
    ...rosters.flatMap((facts) => judgeRoster(facts, open, now)),
    ...judgeRunning(running, stuckAfterMs, now),
    ...judgeSweep(sweep, open),
    ...judgeJobs(jobs, open, now),
  ];
}
