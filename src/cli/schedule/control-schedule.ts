import { ConfigError } from '../../errors.js';
import { openOrganisation } from '../../runs/session.js';
import type { Workplace } from '../../runs/workplace.js';
import { toSpanMs } from '../../scheduling/settings.js';
import {
  cancelJobRun,
  findSchedulePause,
  pauseSchedule,
  resumeSchedule,
  type SchedulePause,
} from '../../store/jobs.js';
import { findCurrentUser } from '../current-user.js';
import { exitCodes } from '../exit-code.js';
import type { Outcome } from '../invocation.js';

const dayMs = 86_400_000;
/** Longer than that nobody would notice that nobody is screened. */
const longestPauseMs = 7 * dayMs;

const say = (document: Record<string, unknown>, text: string): Outcome => ({
  exitCode: exitCodes.complete,
  document: { schema: 'nightscreen/schedule-control/1', ...document },
  text: `${text}\n`,
});

/** Asks the process that runs a job to end it; throws ConfigError where it is not under way. */
export async function cancelJob(workplace: Workplace, job: string): Promise<Outcome> {
  const { organisationId } = await openOrganisation(workplace);
  const by = findCurrentUser();
  const run = await cancelJobRun(workplace.database, organisationId, job, by);
  if (run === null) {
    const message = `the job ${job} is not under way; see nightscreen schedule show`;
    throw new ConfigError([{ where: 'argument job', path: '', message }]);
  }
  const { owner, localDate: date } = run;
  return say(
    { action: 'cancel', job, date, owner, by },
    `${owner ?? 'its process'} is asked to end ${job} of ${date}; it does so within seconds: nightscreen schedule show`,
  );
}

/** Begins no job until a pause is over, at most seven days; jobs under way go on. */
export async function pauseJobs(
  workplace: Workplace,
  { until, reason }: { until: string; reason: string | null },
): Promise<Outcome> {
  const now = workplace.clock.now();
  const end = /^\d{1,6}(s|m|h|d)$/.test(until) ? new Date(now.getTime() + toSpanMs(until)) : new Date(until);
  const aheadMs = end.getTime() - now.getTime();
  if (!(aheadMs > 0 && aheadMs <= longestPauseMs)) {
    const message = 'must be a span or an instant within the next 7 days, such as 12h or 2027-01-31T06:00:00Z';
    throw new ConfigError([{ where: 'option --until', path: '', message }]);
  }
  const { organisationId } = await openOrganisation(workplace);
  const pause = { pausedAt: now, until: end, by: findCurrentUser(), reason };
  await pauseSchedule(workplace.database, organisationId, pause);
  return say(
    { action: 'pause', ...pause },
    `${describePause(pause)}; jobs under way go on; end it: nightscreen schedule resume`,
  );
}

/** Ends the pause. */
export async function resumeJobs(workplace: Workplace): Promise<Outcome> {
  const { organisationId } = await openOrganisation(workplace);
  const now = workplace.clock.now();
  const pause = await findSchedulePause(workplace.database, organisationId, now);
  const by = findCurrentUser();
  await resumeSchedule(workplace.database, organisationId, by, now);
  const text = pause === null ? 'the schedule is not paused' : 'the schedule is resumed; jobs begin within 15 seconds';
  return say({ action: 'resume', wasPaused: pause !== null, by }, text);
}

/** A pause in words. */
export const describePause = ({ until, by, reason }: SchedulePause): string =>
  `the schedule is paused until ${until.toISOString()} by ${by}${reason === null ? '' : ` (${reason})`}: no job is begun`;
