-- A sweep continues after the page at which it was broken off, and writes no row for a dossier that is as it was.

alter table dossier rename column last_seen_run_id to changed_by_run_id;

-- The pages of a sweep in progress: the ids of their dossiers and when these were created, in the order of the walk. They are removed when the
-- sweep is closed.
create table swept_page (
  run_id bigint not null references run,
  ordinal integer not null,
  dossier_ids text[] not null,
  created_at text[] not null,
  appeared integer not null,
  changed integer not null,
  primary key (run_id, ordinal)
);
