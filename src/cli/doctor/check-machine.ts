import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { listNextRuns } from '../../scheduling/next-run.js';
import { describeError } from '../describe-error.js';
import { planSchedule } from '../schedule/plan-schedule.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

const runsShown = 5;

/** Says when each scheduled job would start next, those of the user's own folder included. */
export async function checkSchedules(config: Config): Promise<Finding[]> {
  try {
    const { planned } = await planSchedule(config);
    return planned.map(({ job, schedule }) => {
      const next = listNextRuns(schedule, systemClock.now(), runsShown).map((moment) => moment.toISOString());
      const words = `${schedule.cron} ${schedule.timezone}`;
      if (next.length > 0) return well(`job ${job.name}`, `${words}, next ${next.join(', ')}`);
      return doubtful(`job ${job.name}`, `${words} never comes round`, `correct jobs.${job.name}.cron`);
    });
  } catch (error) {
    const { message } = describeError(error);
    return [wrong('jobs', message, 'mend the file that is named, or take it out of scheduler.jobsFolder')];
  }
}

const earliestSaneYear = 2024;

/** Whether the machine's clock can be right. */
export function checkClock(): Finding {
  const now = systemClock.now();
  const words = `${now.toISOString()}, this machine is in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  return now.getUTCFullYear() >= earliestSaneYear ? well('clock', words) : wrong('clock', words, 'set the clock (NTP)');
}
