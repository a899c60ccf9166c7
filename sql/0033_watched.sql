-- Since when each roster and schedule is watched, and whom an incident concerns where a roster is called as a job is.

-- Nothing is expected of a roster or a schedule before somebody watched it.
create table watched (
  organisation_id bigint not null references organisation,
  -- `roster/<name>`, `job/<name>`, or `schedule/<job> <cron> <time zone>`.
  subject text not null check (subject <> ''),
  watched_since timestamptz not null,
  -- By whichever watchdog looked last: several may go by different configurations.
  last_watched_at timestamptz not null,
  primary key (organisation_id, subject)
);

-- Closed because nobody watches its subject any more: that it is over, nobody knows.
alter table incident add column is_dropped boolean not null default false;

-- A roster may be called `sweep`, or as a job is.
drop index incident_open;
create unique index incident_open on incident (organisation_id, kind, subject, coalesce(roster, '')) where recovered_at is null;
