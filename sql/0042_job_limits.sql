-- Limits of jobs: when an attempt must have ended, who has cancelled it, and a pause of the schedule.

alter table job_run
  -- When the last attempt began.
  add column attempt_at timestamptz,
  -- When the attempt has exceeded its timeout; null for attempts of earlier versions.
  add column deadline_at timestamptz,
  -- The attempt exceeded its timeout.
  add column timed_out boolean not null default false,
  -- user@host of the person who asked to end the attempt.
  add column cancelled_by text;

alter table incident drop constraint incident_kind_check;
alter table incident add constraint incident_kind_check check (
  kind in ('did_not_run', 'stuck', 'partial', 'customers_failing', 'canary_failed', 'screening_overdue', 'job_failed', 'job_stuck')
);

-- The last pause of the schedule; it is over at `schedule_paused_until`, which a resume sets to its own moment.
alter table organisation
  add column schedule_paused_at timestamptz,
  add column schedule_paused_until timestamptz,
  -- user@host.
  add column schedule_paused_by text,
  add column schedule_pause_reason text,
  add column schedule_resumed_by text,
  add check ((schedule_paused_at is null) = (schedule_paused_until is null));
