-- Scheduled jobs, incidents that the watchdog found, and what is watched.

-- Each time at which a job was due, once, however many processes and attempts it takes.
create table job_run (
  job_run_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  job text not null check (job <> ''),
  -- Unique per job: a local date (yyyy-mm-dd), a local time (yyyy-mm-dd hh:mm:ss), or an instant (ISO 8601, UTC).
  occasion text not null check (occasion <> ''),
  -- The date in the time zone of the job.
  local_date date not null,
  due_at timestamptz not null,
  -- `running`: in progress, or left by a process that died (then nobody holds the lease job/<organisation>/<job>). `interrupted`: stopped on
  -- request or without its database; resumed while it is the newest. `missed`: its time passed while no scheduler was running.
  state text not null check (state in ('running', 'interrupted', 'finished', 'missed')),
  -- It began well after it was due.
  is_late boolean default false not null,
  attempts integer default 0 not null,
  -- host:pid:random of the last process that ran it.
  owner text,
  begun_at timestamptz,
  -- The end of the last attempt.
  ended_at timestamptz,
  exit_code integer check ((exit_code >= 0) and (exit_code <= 4)),
  -- Why it is not complete, or another remark.
  because text,
  -- The names of its runs.
  run_ids text[] default '{}' not null,
  -- When the last attempt began.
  attempt_at timestamptz,
  -- When the attempt exceeds its timeout.
  deadline_at timestamptz,
  -- The attempt exceeded its timeout.
  timed_out boolean default false not null,
  -- user@host of the person who cancelled the attempt.
  cancelled_by text,
  unique (organisation_id, job, occasion),
  check ((state = 'missed') = (begun_at is null)),
  check ((state = 'finished') = (exit_code is not null)),
  check ((state = 'running') = (ended_at is null))
);

create index job_run_by_due on job_run (organisation_id, job, due_at);

create table incident (
  incident_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  kind text not null check (kind in (
    'did_not_run', 'stuck', 'partial', 'customers_failing',
    'control_failed', 'screening_overdue', 'job_failed', 'job_stuck', 'clock_ahead'
  )),
  -- A roster or `sweep`; for a stuck run the run; for a job its name.
  subject text not null check (subject <> ''),
  -- The roster that it concerns; null for all.
  roster text,
  -- In words, as last reported; without personal data.
  reason text not null,
  -- It is reported again only when this changes.
  mark text not null,
  -- The newest run when it was last reported.
  run_id bigint references run,
  opened_at timestamptz not null,
  -- When it was last reported; the message is queued in the same transaction.
  told_at timestamptz not null,
  times_told integer default 1 not null,
  recovered_at timestamptz,
  -- Closed because its subject is no longer watched, not because it is over.
  is_dropped boolean default false not null,
  check (told_at >= opened_at),
  check (recovered_at >= opened_at)
);

-- One of a kind at a time, however many watchdogs there are.
create unique index incident_open on incident (organisation_id, kind, subject, coalesce(roster, '')) where (recovered_at is null);

-- What is watched, and since when: nothing is expected of a roster, a job or a schedule before.
create table watched (
  organisation_id bigint references organisation,
  -- By a watchdog: `roster/<name>`, `job/<name>`, or `schedule/<job> <cron> <time zone>`. By the scheduler: `plan/<job>`.
  subject text check (subject <> ''),
  -- A new or changed plan counts from the time when it was first seen.
  watched_since timestamptz not null,
  -- By the last of several watchdogs, whose configurations may differ.
  last_watched_at timestamptz,
  -- For a plan; the time zone is an IANA name.
  cron text,
  timezone text,
  -- When the job of a plan was removed from the configuration; null while it is planned.
  retired_at timestamptz,
  primary key (organisation_id, subject),
  check (num_nulls(cron, timezone) = case when starts_with(subject, 'plan/') then 0 else 2 end),
  check ((last_watched_at is null) = starts_with(subject, 'plan/')),
  check (retired_at is null or cron is not null)
);

