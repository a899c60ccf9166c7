import type { Job } from '../../runs/job.js';
import type { Workplace } from '../../runs/workplace.js';
import type { JobStanding } from '../../scheduling/decide-due.js';
import { type SchedulePlan, readStandings } from '../../scheduling/standings.js';
import type { JobRun } from '../../store/job-runs.js';

/**
 * Which of the jobs that a job comes after on its date failed, were missed or have not ended, with their exit codes and runs; null when all
 * that were due by now are complete.
 */
export async function describeBefore(
  workplace: Workplace,
  plan: SchedulePlan,
  { name, after = [] }: Job,
  { localDate }: JobRun,
): Promise<string | null> {
  if (after.length === 0) return null;
  const standings = await readStandings(workplace, plan);
  const now = workplace.clock.now();
  const incomplete = after.flatMap((other) => {
    const standing = standings.get(other);
    return (standing && describeIncomplete(standing, localDate, now)) ?? [];
  });
  return incomplete.length === 0 ? null : `not all that ${name} comes after is complete: ${incomplete.join('; ')}`;
}

function describeIncomplete(
  { job, times, plannedSince, toStart, known }: JobStanding,
  date: string,
  now: Date,
): string | null {
  const due = times.isByDate ? times.lastOn(date) : null;
  if (due === null) return null;
  const run = known.find(({ occasion }) => occasion === due.occasion);
  if (run) return describeEnd(run);
  return due.dueAt <= plannedSince || toStart(due) > now ? null : `${job} of ${date} has not begun`;
}

function describeEnd({ job, localDate, state, exitCode, because, runIds, owner }: JobRun): string | null {
  const what = `${job} of ${localDate}`;
  const made = runIds.length === 0 ? '' : ` (${runIds.join(', ')})`;
  switch (state) {
    case 'missed':
      return `${what} was missed`;
    case 'running':
      return `${what} has not ended${made}, begun by ${owner ?? 'nobody'}`;
    case 'interrupted':
      return `${what} was interrupted and is not done${made}`;
    case 'finished': {
      if (exitCode === 0) return null;
      // Of a run `nightscreen runs show` says why.
      const why = because === null ? '' : `: ${because}`;
      return `${what} ended with exit code ${exitCode}${made === '' ? `, without a run${why}` : made}`;
    }
  }
}
