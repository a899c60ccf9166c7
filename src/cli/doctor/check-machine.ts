import { existsSync } from 'node:fs';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { RunLockedError } from '../../errors.js';
import { listNextRuns } from '../../scheduling/next-run.js';
import type { Queryable } from '../../store/database.js';
import { describeError } from '../describe-error.js';
import { planSchedule } from '../schedule/plan-schedule.js';
import { checkAccepted } from './check-accepted.js';
import { checkServer } from './check-capacity.js';
import { checkImportedMail } from './check-mail.js';
import { checkRights } from './check-rights.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** Tries the database, counts the migrations that wait, and says who works in it. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const { openDatabase } = await import('../../store/open-database.js');
  const { pendingMigrations } = await import('../../store/migrate.js');
  const url = config.secret('DATABASE_URL');
  const { folder } = config.settings.database;
  const place = url === undefined ? `embedded in ${folder}` : 'Postgres';
  if (url === undefined && !existsSync(folder)) return [well('database', `${place}, made at first use`)];
  try {
    const database = await openDatabase(url === undefined ? { folder } : { url }, 'nightscreen doctor', {
      isBrief: true,
    });
    try {
      const pending = await pendingMigrations(database);
      if (pending.length === 0)
        return [
          well('database', `${place}, schema up to date`),
          ...(await checkServer(database)),
          ...(await checkRights(database, 0)),
          ...(await listHolders(database)),
          ...(await checkAccepted(database, config)),
          ...(await checkImportedMail(database, config)),
        ];
      const message = `${place}, ${pending.length} migrations wait`;
      return [
        doubtful('database', message, 'the next command applies them, or run `nightscreen migrate` now'),
        ...(await checkServer(database)),
        ...(await checkRights(database, pending.length)),
      ];
    } finally {
      await database.close();
    }
  } catch (error) {
    const { message, next } = describeError(error);
    const advice = next ?? 'check DATABASE_URL or database.folder';
    return [
      error instanceof RunLockedError ? doubtful('database', message, advice) : wrong('database', message, advice),
    ];
  }
}

/** Says who is at work on what; a lease that its holder left behind is freed by time alone. */
async function listHolders(database: Queryable): Promise<Finding[]> {
  const { describeHolder, readHeldLeases } = await import('../../store/leases.js');
  return (await readHeldLeases(database)).map((holder) => {
    const words = `held by ${describeHolder(holder)}`;
    if (holder.expiresInMs > 0) return well(`lease ${holder.key}`, words);
    const message = `${words}: its process has ended without a word`;
    return doubtful(`lease ${holder.key}`, message, 'nothing: the next start takes it over and goes on with its run');
  });
}

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
