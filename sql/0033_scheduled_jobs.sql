-- Jobs by the clock: what is planned since when, and what became of each time at which a job was due.

-- The schedules as the scheduler knows them. A new or changed one counts from the moment at which it was first seen: nothing is missed
-- before it.
create table job_schedule (
  organisation_id bigint not null references organisation,
  job text not null check (job <> ''),
  cron text not null,
  -- IANA name.
  timezone text not null,
  planned_since timestamptz not null,
  -- When the job was left out of the configuration; null while it is planned.
  retired_at timestamptz,
  primary key (organisation_id, job)
);

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
  is_late boolean not null default false,
  attempts integer not null default 0,
  -- host:pid:random of who runs it or ran it last.
  owner text,
  begun_at timestamptz,
  -- Of the last attempt.
  ended_at timestamptz,
  exit_code integer check (exit_code between 0 and 4),
  -- Why it is not complete, or what a reader should know.
  because text,
  -- Names of the runs that it made.
  run_ids text[] not null default '{}',
  unique (organisation_id, job, occasion),
  check ((state = 'missed') = (begun_at is null)),
  check ((state = 'finished') = (exit_code is not null)),
  check ((state = 'running') = (ended_at is null))
);

create index job_run_by_due on job_run (organisation_id, job, due_at);
