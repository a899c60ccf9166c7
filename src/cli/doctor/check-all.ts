import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { listNextRuns } from '../../scheduling/due-times.js';
import type { RunMode } from '../../vocabulary.js';
import { describeError } from '../describe-error.js';
import { planSchedule } from '../schedule/plan-schedule.js';
import { checkDatabase } from './database.js';
import { checkDelivery } from './delivery.js';
import { doubtful, type Finding, well, wrong } from './finding.js';
import { checkRosters } from './inputs.js';
import { checkMachine } from './machine.js';
import { checkService } from './service.js';

/** Every check of the doctor, in the order in which they are read; `mode` is what service, key and settings agree on. */
export async function checkAll(config: Config, folder: string): Promise<{ checks: Finding[]; mode: RunMode | null }> {
  const { findings, imported } = await checkDatabase(config);
  const service = await checkService(config);
  const checks = [
    well('config', config.file ?? `no file in ${folder}, defaults and environment only`),
    ...service.findings,
    checkClock(),
    ...findings,
    ...(await checkMachine(config)),
    ...(await checkRosters(config, imported)),
    ...(await checkDelivery(config)),
    ...(await checkSchedules(config)),
  ];
  return { checks, mode: service.mode };
}

const earliestSaneYear = 2024;

/** Whether the machine's clock can be right. */
function checkClock(): Finding {
  const now = systemClock.now();
  const words = `${now.toISOString()}, this machine is in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  return now.getUTCFullYear() >= earliestSaneYear ? well('clock', words) : wrong('clock', words, 'set the clock (NTP)');
}

const runsShown = 5;

/** Says when each scheduled job would start next, those of the user's own folder included. */
async function checkSchedules(config: Config): Promise<Finding[]> {
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
