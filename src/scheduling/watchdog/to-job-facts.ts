import type { JobRun } from '../../store/job-runs.js';
import type { Nights } from '../../store/watch-facts.js';
import type { Expectations } from './expectations.js';
import { type JobFacts, judgedByRuns } from './judge-jobs.js';

/** What is known of the jobs that are planned; `nights` by the job that makes them. */
export function toJobFacts(
  { plans, runs, silences, ofJob, sinceOf }: Expectations,
  nights: ReadonlyMap<string, readonly Pick<Nights, 'ended'>[]>,
  now: Date,
): readonly JobFacts[] {
  return [...plans].map(([job, { keptSince }]): JobFacts => {
    const known = runs.get(job) ?? [];
    // What a scheduler did that no longer plans the job is history.
    const current = keptSince === null ? known.filter((run) => isSince(run, sinceOf(job))) : known;
    // Only a scheduler notes each start; what a timer runs may leave runs and nothing else.
    const isNoted = keptSince !== null && !judgedByRuns.has(job);
    return {
      job,
      runs: current,
      silentMs: toSilence(current[0], silences.get(job), now),
      doneAt: findDone(nights.get(job) ?? []),
      start: isNoted ? ofJob(job) : null,
    };
  });
}

const isSince = ({ endedAt, begunAt, dueAt }: JobRun, since: Date): boolean => (endedAt ?? begunAt ?? dueAt) >= since;

function toSilence(newest: JobRun | undefined, silentMs: number | null | undefined, now: Date): number | null {
  if (newest?.state !== 'running' || silentMs === null) return null;
  return silentMs ?? now.getTime() - (newest.begunAt ?? newest.dueAt).getTime();
}

/** When the last of them was begun that has ended, where each has. */
function findDone(nights: readonly Pick<Nights, 'ended'>[]): Date | null {
  const moments = nights.flatMap(({ ended }) => ended?.takenAt.getTime() ?? []);
  return moments.length === 0 || moments.length < nights.length ? null : new Date(Math.min(...moments));
}
