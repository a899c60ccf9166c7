import type { JobRun } from '../../store/job-runs.js';
import type { Finding } from './finding.js';

/** What a run says for itself, by its state; these say that there may be none. */
const tellingExitCodes: ReadonlySet<number> = new Set([1, 2]);

/**
 * The jobs of the scheduler that failed or were refused the last time they were due, or that nobody began then; `newest` holds one of each
 * job. What runs were made is judged by themselves.
 */
export function judgeJobs(newest: readonly JobRun[]): readonly Finding[] {
  return newest.flatMap(({ job, state, exitCode, dueAt, because }): Finding[] => {
    const hasFailed = state === 'finished' && exitCode !== null && tellingExitCodes.has(exitCode);
    if (!hasFailed && state !== 'missed') return [];
    const what = hasFailed ? `ended with exit code ${exitCode}` : 'was not begun';
    const why = because ?? 'the log says more';
    return [
      {
        kind: 'job_failed',
        subject: job,
        roster: null,
        runId: null,
        reason: `the job ${job} that was due at ${dueAt.toISOString()} ${what}: ${why}`,
        mark: `${state} ${exitCode ?? ''}: ${why.replace(/\d+/g, '#')}`,
        isKnown: false,
        actions: [
          'See the jobs and how they ended: nightscreen schedule show',
          'Check settings, key and service: nightscreen doctor',
        ],
      },
    ];
  });
}
