import { z } from 'zod';
import { findRow, type Queryable } from '../database/database.js';
import { insertInto, sql } from '../database/statement.js';
import { isBeyondClockSkewSql } from '../night/plan-sql.js';

/** One due time of a job; `dueSlot` is done only once, `localDate` (yyyy-mm-dd) is the date in the job's time zone. */
export interface JobDue {
  dueSlot: string;
  localDate: string;
  dueAt: Date;
}

const jobRunRow = z.object({
  jobRunId: z.number(),
  job: z.string(),
  dueSlot: z.string(),
  localDate: z.string(),
  dueAt: z.date(),
  state: z.enum(['running', 'interrupted', 'finished', 'missed']),
  isLate: z.boolean(),
  attempts: z.number(),
  /** The process that runs it or ran it last; null for a missed one. */
  owner: z.string().nullable(),
  begunAt: z.date().nullable(),
  endedAt: z.date().nullable(),
  /** Null unless finished. */
  exitCode: z.number().nullable(),
  because: z.string().nullable(),
  runIds: z.array(z.string()),
  /** Start of the last attempt; null for a missed one. */
  attemptAt: z.date().nullable(),
  /** The timeout of the last attempt. */
  deadlineAt: z.date().nullable(),
  /** Whether the last attempt exceeded its timeout. */
  isTimedOut: z.boolean(),
  /** user@host of the person who cancelled the last attempt. */
  cancelledBy: z.string().nullable(),
});
/** A run of a job at one due time. */
export type JobRun = z.infer<typeof jobRunRow>;

const jobRunColumns = sql`job_run_id, job, occasion as "dueSlot", local_date, due_at, state, is_late,
  attempts, owner, begun_at, ended_at, exit_code, because, run_ids, attempt_at, deadline_at, timed_out as "isTimedOut", cancelled_by`;

/**
 * Notes that a run of a job begins or is continued; null when it is already done. The lease of the job must be held: a run that is noted as
 * running was then left by a process that died. A run that a clock ahead began in the future begins anew. `again` lists the exit codes after
 * which a finished run may begin again. The job's successful runs before `forgetBefore` are forgotten.
 */
export async function beginJobRun(
  transaction: Queryable,
  organisationId: number,
  begun: JobDue &
    Pick<JobRun, 'job' | 'isLate'> & {
      owner: string;
      now: Date;
      again: readonly number[];
      timeoutMs: number;
      forgetBefore?: Date | null;
    },
): Promise<JobRun | null> {
  const { job, dueSlot: occasion, localDate, dueAt, owner, isLate } = begun;
  const { now, again, timeoutMs, forgetBefore = null } = begun;
  if (forgetBefore !== null) {
    await transaction.execute(
      sql`delete from job_run
       where organisation_id = ${organisationId} and job = ${job} and due_at < ${forgetBefore} and state = 'finished' and exit_code = 0`,
    );
  }
  await transaction.execute(sql`
    update job_run set state = 'interrupted', ended_at = ${now}, because = 'its process ended without a result'
    where organisation_id = ${organisationId} and job = ${job} and occasion <> ${occasion} and state = 'running'`);
  const isAheadSql = isBeyondClockSkewSql('job_run.begun_at', 'excluded.begun_at');
  const deadlineAt = new Date(now.getTime() + timeoutMs);
  const attempt = { state: 'running', attempts: 1, begunAt: now, attemptAt: now, deadlineAt };
  const row = { organisationId, job, occasion, localDate, dueAt, owner, isLate, ...attempt };
  return findRow(
    transaction,
    jobRunRow,
    sql`${insertInto('job_run', [row])}
     on conflict (organisation_id, job, occasion) do update set
       state = 'running', attempts = job_run.attempts + 1, owner = excluded.owner,
       begun_at = case when job_run.begun_at is null or ${isAheadSql} then excluded.begun_at else job_run.begun_at end,
       is_late = case when job_run.state = 'missed' or ${isAheadSql} then excluded.is_late else job_run.is_late end,
       ended_at = null, exit_code = null, because = null,
       attempt_at = excluded.attempt_at, deadline_at = excluded.deadline_at, timed_out = false, cancelled_by = null
     where job_run.state in ('running', 'interrupted', 'missed') or job_run.exit_code = any (${again}) or ${isAheadSql}
     returning ${jobRunColumns}`,
  );
}

/** The end of a run; without `exitCode` it was interrupted and will be continued. */
export interface JobEnding {
  exitCode?: number | undefined;
  because: string | null;
  runIds: readonly string[];
  isTimedOut?: boolean;
}

/** Notes the end of a run. */
export async function endJobRun(
  transaction: Queryable,
  jobRunId: number,
  { exitCode, because, runIds, isTimedOut = false }: JobEnding,
  endedAt: Date,
): Promise<void> {
  await transaction.execute(sql`
    update job_run set state = ${exitCode === undefined ? 'interrupted' : 'finished'}, exit_code = ${exitCode ?? null}, because = ${because},
      run_ids = (select coalesce(array_agg(distinct run_id order by run_id), '{}') from unnest(run_ids || ${runIds}::text[]) as made (run_id)),
      ended_at = ${endedAt}, timed_out = ${isTimedOut}
    where job_run_id = ${jobRunId}`);
}

/** Notes that a run of a job was missed. A run that began stays as it is, unless a clock ahead began it. */
export async function noteMissedJob(
  transaction: Queryable,
  organisationId: number,
  job: string,
  { dueSlot, localDate, dueAt }: JobDue,
  missed: { now: Date; because: string },
): Promise<void> {
  await transaction.execute(sql`
    insert into job_run as known (organisation_id, job, occasion, local_date, due_at, state, ended_at, because)
    values (${organisationId}, ${job}, ${dueSlot}, ${localDate}::date, ${dueAt}, 'missed', ${missed.now}, ${missed.because})
    on conflict (organisation_id, job, occasion) do update set
      state = 'missed', begun_at = null, exit_code = null, ended_at = excluded.ended_at, because = excluded.because
    where known.state <> 'running' and ${isBeyondClockSkewSql('coalesce(known.begun_at, known.ended_at)', 'excluded.ended_at')}`);
}

/** The run of a job at one due time; null when none is known. */
export function findJobRun(database: Queryable, organisationId: number, job: string, dueSlot: string) {
  return findRow(
    database,
    jobRunRow,
    sql`select ${jobRunColumns} from job_run where organisation_id = ${organisationId} and job = ${job} and occasion = ${dueSlot}`,
  );
}

/** The newest runs of each job by due time, newest first, at most `limit` of each. With `now`, runs that a clock ahead has noted count only later. */
export async function readJobRuns(database: Queryable, organisationId: number, limit: number, now: Date | null = null) {
  return database.query(
    jobRunRow,
    sql`select ${jobRunColumns} from (
       select job_run.*, row_number() over (partition by job order by due_at desc, job_run_id desc) as place
       from job_run cross join (select ${now}::timestamptz as now) clock
       where organisation_id = ${organisationId}
         and (clock.now is null or not (${isBeyondClockSkewSql('coalesce(begun_at, ended_at, due_at)', 'clock.now')}))
     ) numbered
     where place <= ${limit} order by due_at desc, job_run_id desc`,
  );
}

/** Asks the process that runs a job to end it; gives the run, or null when none is in progress. */
export function cancelJobRun(transaction: Queryable, organisationId: number, job: string, by: string) {
  return findRow(
    transaction,
    jobRunRow,
    sql`update job_run set cancelled_by = ${by} where organisation_id = ${organisationId} and job = ${job} and state = 'running' returning ${jobRunColumns}`,
  );
}

const keptScheduleRow = z.object({
  job: z.string(),
  cron: z.string(),
  timezone: z.string(),
  plannedSince: z.date(),
  retiredAt: z.date().nullable(),
});
/** A schedule as last seen; nothing is missed before `plannedSince` or after `retiredAt`. */
export type KeptSchedule = z.infer<typeof keptScheduleRow>;

/** Notes the schedules of jobs; a new, changed or restored one counts from `now`. `areAll` retires those of all other jobs. */
export async function saveJobSchedules(
  transaction: Queryable,
  organisationId: number,
  schedules: readonly Pick<KeptSchedule, 'job' | 'cron' | 'timezone'>[],
  { areAll, now }: { areAll: boolean; now: Date },
): Promise<void> {
  for (const { job, cron, timezone } of schedules) {
    await transaction.execute(sql`
      insert into watched as known (organisation_id, subject, cron, timezone, watched_since)
      values (${organisationId}, 'plan/' || ${job}, ${cron}, ${timezone}, ${now})
      on conflict (organisation_id, subject) do update set
        cron = excluded.cron, timezone = excluded.timezone, watched_since = excluded.watched_since, retired_at = null
      where (known.cron, known.timezone) is distinct from (excluded.cron, excluded.timezone) or known.retired_at is not null`);
  }
  if (!areAll) return;
  await transaction.execute(sql`
    update watched set retired_at = ${now}
    where organisation_id = ${organisationId} and starts_with(subject, 'plan/')
      and subject <> all (${schedules.map(({ job }) => `plan/${job}`)}) and retired_at is null`);
}

/** Lets schedules that a clock ahead has postponed count from `now`; otherwise nothing would be due before that future moment. */
export async function bringSchedulesBack(transaction: Queryable, organisationId: number, now: Date): Promise<void> {
  await transaction.execute(sql`
    update watched set watched_since = ${now}::timestamptz
    where organisation_id = ${organisationId} and starts_with(subject, 'plan/') and watched_since > ${now}::timestamptz + interval '5 minutes'`);
}

/** The schedules of an organisation by job, retired ones included. */
export async function readJobSchedules(database: Queryable, organisationId: number): Promise<readonly KeptSchedule[]> {
  return database.query(
    keptScheduleRow,
    sql`select substr(subject, 6) as job, cron, timezone, watched_since as "plannedSince", retired_at
     from watched where organisation_id = ${organisationId} and starts_with(subject, 'plan/') order by subject`,
  );
}

const pauseRow = z.object({
  pausedAt: z.date(),
  until: z.date(),
  by: z.string(),
  reason: z.string().nullable(),
});
/** A pause of the schedule: no job begins before its end. `by` is user@host. */
export type SchedulePause = z.infer<typeof pauseRow>;

/** Pauses the schedule from `pausedAt`; a pause in progress continues and ends with this one. */
export async function pauseSchedule(
  transaction: Queryable,
  organisationId: number,
  { pausedAt, until, by, reason }: SchedulePause,
): Promise<void> {
  await transaction.execute(sql`
    update organisation set
      schedule_paused_at = case when schedule_paused_until > ${pausedAt} then schedule_paused_at else ${pausedAt} end,
      schedule_paused_until = ${until}, schedule_paused_by = ${by}, schedule_pause_reason = ${reason}, schedule_resumed_by = null
    where organisation_id = ${organisationId}`);
}

export async function resumeSchedule(transaction: Queryable, organisationId: number, by: string, now: Date) {
  await transaction.execute(sql`
    update organisation set schedule_paused_until = ${now}::timestamptz, schedule_resumed_by = ${by}
    where organisation_id = ${organisationId} and schedule_paused_until > ${now}::timestamptz`);
}

/** The pause of a schedule that was not over at a moment; null without one. */
export function findSchedulePause(database: Queryable, organisationId: number, now: Date) {
  return findRow(
    database,
    pauseRow,
    sql`select schedule_paused_at as "pausedAt", schedule_paused_until as until, schedule_paused_by as by, schedule_pause_reason as reason
     from organisation where organisation_id = ${organisationId} and schedule_paused_until > ${now}`,
  );
}
