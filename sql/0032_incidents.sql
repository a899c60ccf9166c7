-- What the watchdog found: each incident is told once when it is opened, again when something of it is new, and once when it is over.

create table incident (
  incident_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  kind text not null check (
    kind in ('did_not_run', 'stuck', 'partial', 'customers_failing', 'canary_failed', 'screening_overdue', 'job_failed')
  ),
  -- A roster, or `sweep`; of a run that is stuck, the run; of a job, its name.
  subject text not null check (subject <> ''),
  -- Whom it concerns: null for every roster.
  roster text,
  -- In words, as it was last told; without personal data.
  reason text not null,
  -- What is told only once: as long as it is the same, there is nothing new.
  mark text not null,
  -- The newest run that had been looked at when it was last told.
  run_id bigint references run,
  opened_at timestamptz not null,
  -- Queued in the transaction that says so here.
  told_at timestamptz not null,
  times_told integer not null default 1,
  recovered_at timestamptz,
  check (told_at >= opened_at),
  check (recovered_at >= opened_at)
);

-- One of a kind at a time, however many watchdogs look.
create unique index incident_open on incident (organisation_id, kind, subject) where recovered_at is null;
