import type { JobRun } from '../../src/store/jobs.js';

/** A job's run that ended well; `facts` say what is different, and when it was due. */
export const toJobRun = (facts: Partial<JobRun> & { dueAt: Date }): JobRun => ({
  jobRunId: 1,
  job: 'rescreen',
  occasion: '2026-03-10',
  localDate: '2026-03-10',
  state: 'finished',
  isLate: false,
  attempts: 1,
  owner: 'host:1:abcd',
  begunAt: facts.dueAt,
  endedAt: facts.dueAt,
  exitCode: 0,
  because: null,
  runIds: [],
  attemptAt: null,
  deadlineAt: null,
  isTimedOut: false,
  cancelledBy: null,
  ...facts,
});
