import type { Logger } from 'pino';
import type { JobFailure } from './perform-job.js';

/** Logs that a job failed, with the run and the roster that it failed at, where these are known. */
export function logJobFailure(logger: Logger, job: string, { error, runId, roster }: JobFailure): void {
  const where = { ...(runId === null ? {} : { runId }), ...(roster === null ? {} : { roster }) };
  logger.error({ job, ...where, err: error }, 'job_failed');
}
