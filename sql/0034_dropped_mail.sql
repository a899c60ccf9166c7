-- What was refused or given up can be put aside for good, by somebody and for a reason that is kept.
alter table outbox drop constraint outbox_state_check;
alter table outbox add constraint outbox_state_check check (state in ('queued', 'sent', 'refused', 'given_up', 'dropped'));
alter table outbox
  add column dropped_at timestamptz,
  add column dropped_by text check (dropped_by <> ''),
  add column dropped_because text check (dropped_because <> '');
-- Kept also when a report that was put aside before it was written is queued again, because its run has gone on.
alter table outbox add constraint outbox_dropped_by_somebody check (
  (dropped_at is null) = (dropped_by is null) and (dropped_at is null) = (dropped_because is null)
  and (state <> 'dropped' or dropped_at is not null)
);
