-- A sweep walks several windows of creation time at once, keeps when it saw a change, and fetches records of changed dossiers.

-- The windows of a sweep in progress, most recent first; they are removed when the sweep is closed. Null is an open end.
create table sweep_window (
  run_id bigint not null references run,
  place integer not null,
  created_from timestamptz,
  created_to timestamptz,
  has_ended boolean not null default false,
  primary key (run_id, place)
);

-- The window that a page belongs to.
alter table swept_page add column place integer not null default 0;

insert into sweep_window (run_id, place) select distinct run_id, 0 from swept_page;

-- When the change was seen: the run of a change is the sweep that reports it, which may be a later one. Null before this version.
alter table dossier_change add column seen_at timestamptz;

create index dossier_change_by_dossier on dossier_change (dossier_id, change_id);

-- Records that sweeps have looked up, as they came last. A record that could not be had again stays as it was.
create table dossier_record (
  account_id bigint not null references account,
  dossier_id text not null,
  kind text not null check (kind in ('dossier', 'entity', 'decision')),
  -- Of the kind `dossier` the dossier's own id.
  record_id text not null,
  -- The sweep that asked last; null while the record is only named by the dossier.
  run_id bigint references run,
  asked_at timestamptz,
  -- Stable code of why the last look-up gave nothing.
  reason text,
  -- The list's `updated_at` of the dossier when the record was fetched.
  dossier_updated_at timestamptz,
  fetched_at timestamptz,
  -- The JSON as it came, but for links that open something by themselves: they are never stored.
  body text,
  withheld_links integer not null default 0 check (withheld_links >= 0),
  -- Of an entity, where its record says so: yyyy, yyyy-mm or yyyy-mm-dd, and ISO 3166-1 alpha-2 in lower case, as of customers.
  name text,
  birth_date text check (birth_date ~ '^\d{4}(-\d{2}(-\d{2})?)?$'),
  country text check (country ~ '^[a-z]{2}$'),
  primary key (account_id, dossier_id, kind, record_id),
  check ((run_id is null) = (asked_at is null)),
  check ((body is null) = (fetched_at is null))
);

create index dossier_record_to_ask on dossier_record (account_id) where run_id is null;
create index dossier_record_by_run on dossier_record (run_id);

-- What became of a sweep's look-ups; null where none were to be made.
alter table sweep add column details jsonb;
