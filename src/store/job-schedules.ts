import { z } from 'zod';
import type { Queryable } from './database.js';

const jobScheduleRow = z.object({
  job: z.string(),
  cron: z.string(),
  timezone: z.string(),
  plannedSince: z.date(),
  retiredAt: z.date().nullable(),
});
/** A schedule as it was last seen; nothing is missed before `plannedSince`, nor once it was retired. */
export type JobSchedule = z.infer<typeof jobScheduleRow>;

const columns = 'job, cron, timezone, planned_since as "plannedSince", retired_at as "retiredAt"';

/** Notes the schedule of a job; one that is new, changed or back from retirement counts from `now`. */
export async function saveJobSchedule(
  transaction: Queryable,
  organisationId: number,
  { job, cron, timezone }: Pick<JobSchedule, 'job' | 'cron' | 'timezone'>,
  now: Date,
): Promise<void> {
  await transaction.execute(
    `insert into job_schedule as known (organisation_id, job, cron, timezone, planned_since) values ($1, $2, $3, $4, $5)
     on conflict (organisation_id, job) do update set
       cron = excluded.cron, timezone = excluded.timezone, planned_since = excluded.planned_since, retired_at = null
     where (known.cron, known.timezone) is distinct from (excluded.cron, excluded.timezone) or known.retired_at is not null`,
    [organisationId, job, cron, timezone, now],
  );
}

/** Makes schedules count from `now` that a clock which was ahead has put off until later: before it comes to that nothing would be due. */
export async function bringSchedulesBack(transaction: Queryable, organisationId: number, now: Date): Promise<void> {
  await transaction.execute(
    `update job_schedule set planned_since = $2::timestamptz
     where organisation_id = $1 and planned_since > $2::timestamptz + interval '5 minutes'`,
    [organisationId, now],
  );
}

/** Retires every schedule but those of the jobs named. */
export async function retireJobSchedules(
  transaction: Queryable,
  organisationId: number,
  planned: readonly string[],
  now: Date,
): Promise<void> {
  await transaction.execute(
    'update job_schedule set retired_at = $3 where organisation_id = $1 and job <> all ($2::text[]) and retired_at is null',
    [organisationId, [...planned], now],
  );
}

/** The schedules of an organisation by the names of their jobs, those that are retired as well. */
export async function readJobSchedules(database: Queryable, organisationId: number): Promise<readonly JobSchedule[]> {
  return database.query(jobScheduleRow, `select ${columns} from job_schedule where organisation_id = $1 order by job`, [
    organisationId,
  ]);
}

const pauseRow = z.object({
  pausedAt: z.date(),
  until: z.date(),
  by: z.string(),
  reason: z.string().nullable(),
});
/** A pause of a schedule: no job is begun until its end. `by` is user@host. */
export type SchedulePause = z.infer<typeof pauseRow>;

/** Pauses the schedule from `pausedAt`; a pause that is not over goes on, and ends when this one does. */
export async function pauseSchedule(
  transaction: Queryable,
  organisationId: number,
  { pausedAt, until, by, reason }: SchedulePause,
): Promise<void> {
  await transaction.execute(
    `update organisation set schedule_paused_at = case when schedule_paused_until > $2 then schedule_paused_at else $2 end,
       schedule_paused_until = $3, schedule_paused_by = $4,
       schedule_pause_reason = $5, schedule_resumed_by = null
     where organisation_id = $1`,
    [organisationId, pausedAt, until, by, reason],
  );
}

/** Ends a pause. */
export async function resumeSchedule(
  transaction: Queryable,
  organisationId: number,
  by: string,
  now: Date,
): Promise<void> {
  await transaction.execute(
    `update organisation set schedule_paused_until = $3::timestamptz, schedule_resumed_by = $2
     where organisation_id = $1 and schedule_paused_until > $3::timestamptz`,
    [organisationId, by, now],
  );
}

/** The pause of a schedule that was not over at a moment; null where there is none. */
export async function findSchedulePause(
  database: Queryable,
  organisationId: number,
  now: Date,
): Promise<SchedulePause | null> {
  const [found] = await database.query(
    pauseRow,
    `select schedule_paused_at as "pausedAt", schedule_paused_until as until, schedule_paused_by as by, schedule_pause_reason as reason
     from organisation where organisation_id = $1 and schedule_paused_until > $2`,
    [organisationId, now],
  );
  return found ?? null;
}
