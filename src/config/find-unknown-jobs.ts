import { jobsSettingsSchema } from '../scheduling/settings.js';
import { type Mistake, readAt } from './describe-issue.js';
import { findNearMiss } from './near-miss.js';

/** Jobs that are given a schedule and that nobody knows, as far as that can be told: other names belong to the jobs in a folder of their own. */
export function findUnknownJobs(settings: unknown): Mistake[] {
  const jobs = readAt(settings, ['jobs']);
  if (typeof jobs !== 'object' || jobs === null || readAt(settings, ['scheduler', 'jobsFolder']) !== undefined)
    return [];
  const known = Object.keys(jobsSettingsSchema.shape);
  return Object.keys(jobs).flatMap((name) => {
    if (known.includes(name)) return [];
    const meant = findNearMiss(name, known);
    const advice = meant ? `did you mean ${meant}?` : `known here: ${known.join(', ')}; more with scheduler.jobsFolder`;
    return [{ path: ['jobs', name], isAboutKey: true, message: `unknown setting; ${advice}` }];
  });
}
