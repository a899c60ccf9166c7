import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { FolderOwnerError } from '../../errors.js';
import { listNextRuns } from '../../scheduling/due-times.js';
import { describeError } from '../describe-error.js';
import { requireOwnDatabase } from '../open-database.js';
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

function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

/** Tries whether a folder, or the nearest one above that exists, can be written. */
export async function checkFolder(check: string, setting: string, folder: string): Promise<Finding> {
  const existing = findExisting(resolve(folder));
  try {
    const trial = await mkdtemp(join(existing, '.nightscreen-doctor-'));
    await rm(trial, { recursive: true });
    return well(check, `${folder} can be written`);
  } catch {
    return wrong(check, `${folder} cannot be written`, `give this user the right, or set ${setting} to another folder`);
  }
}

/** The same of the embedded database's folder; nothing is tried where it is another user's, which is told of the database. */
export async function checkDataFolder(config: Config): Promise<Finding[]> {
  if (config.secret('DATABASE_URL') !== undefined) return [];
  try {
    await requireOwnDatabase(config, 'doctor');
  } catch (error) {
    if (error instanceof FolderOwnerError) return [];
    throw error;
  }
  return [await checkFolder('data folder', 'database.folder', config.settings.database.folder)];
}
