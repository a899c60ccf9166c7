-- Scheduled jobs, what was found wrong, and what is watched.

-- One row for each time at which a job was due, whoever runs it and however often it has to be taken up.
create table job_run (
  job_run_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  job text not null check (job <> ''),
  -- What is done once only: a local date (yyyy-mm-dd), a wall time of it (yyyy-mm-dd hh:mm:ss), or an instant (ISO 8601, UTC).
  occasion text not null check (occasion <> ''),
  -- The date in the job's time zone that it stands for.
  local_date date not null,
  due_at timestamptz not null,
  -- running: under way, or left so by a process that died (nobody holds the lease job/<organisation>/<job> then).
  -- interrupted: asked to stop, or its database went away; taken up again while it is the newest.
  -- finished: with an exit code. missed: its time passed while nobody was there to begin it.
  state text not null check (state in ('running', 'interrupted', 'finished', 'missed')),
  -- Begun well after it was due.
  is_late boolean default false not null,
  attempts integer default 0 not null,
  -- host:pid:random of who runs it or ran it last.
  owner text,
  begun_at timestamptz,
  -- Of the last attempt.
  ended_at timestamptz,
  exit_code integer check ((exit_code >= 0) and (exit_code <= 4)),
  -- Why it is not complete, or what a reader should know.
  because text,
  -- Names of the runs that it made.
  run_ids text[] default '{}' not null,
  -- When the last attempt began.
  attempt_at timestamptz,
  -- When the attempt has exceeded its timeout.
  deadline_at timestamptz,
  -- The attempt exceeded its timeout.
  timed_out boolean default false not null,
  -- user@host of the person who asked to end the attempt.
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
  -- A roster, or `sweep`; of a run that is stuck, the run; of a job, its name.
  subject text not null check (subject <> ''),
  -- Whom it concerns: null for every roster.
  roster text,
  -- In words, as it was last reported; without personal data.
  reason text not null,
  -- What is reported only once: as long as it is the same, there is nothing new.
  mark text not null,
  -- The newest run that had been looked at when it was last reported.
  run_id bigint references run,
  opened_at timestamptz not null,
  -- Queued in the transaction that says so here.
  told_at timestamptz not null,
  times_told integer default 1 not null,
  recovered_at timestamptz,
  -- Closed because nobody watches its subject any more: that it is over, nobody knows.
  is_dropped boolean default false not null,
  check (told_at >= opened_at),
  check (recovered_at >= opened_at)
);

create index incident_by_run on incident (run_id) where (run_id is not null);

-- One of a kind at a time, however many watchdogs look.
create unique index incident_open on incident (organisation_id, kind, subject, coalesce(roster, '')) where (recovered_at is null);

-- What is expected to happen, and since when: nothing is expected of a roster, a job or a schedule before.
create table watched (
  organisation_id bigint references organisation,
  -- Watched by a watchdog: `roster/<name>`, `job/<name>`, or `schedule/<job> <cron> <time zone>`. Planned by the scheduler: `plan/<job>`.
  subject text check (subject <> ''),
  -- A new or changed plan counts from the moment at which it was first seen.
  watched_since timestamptz not null,
  -- By whichever watchdog looked last: several may go by different configurations.
  last_watched_at timestamptz,
  -- Of a plan; the time zone is an IANA name.
  cron text,
  timezone text,
  -- When the job of a plan was left out of the configuration; null while it is planned.
  retired_at timestamptz,
  primary key (organisation_id, subject),
  check (num_nulls(cron, timezone) = case when starts_with(subject, 'plan/') then 0 else 2 end),
  check ((last_watched_at is null) = starts_with(subject, 'plan/')),
  check (retired_at is null or cron is not null)
);

-- Each restore of a backup into this database: nothing that happened between the two times is in it.
create table restoration (
  restored_at timestamptz primary key,
  backup_at timestamptz not null,
  -- Runs in between that left a folder of reports.
  lost_runs text[] not null
);

create trigger refuse_rewriting before delete or update or truncate on restoration for each statement
  execute function refuse_rewriting();
