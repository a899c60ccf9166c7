-- Dossiers of the service as last swept, and marks of events about them.

-- ISO 8601 with an offset is the same instant under all session settings.
create function to_instant(iso text) returns timestamptz immutable strict parallel safe language sql as $$
  select iso::timestamptz
$$;

create table dossier (
  account_id bigint references account,
  dossier_id text,
  snapshot jsonb not null,
  changed_by_run_id bigint not null references run,
  gone_at timestamptz,
  -- The last held sweep that did not list it; once that sweep is accepted, the next one removes it.
  missing_run_id bigint references run,
  reference text generated always as ((snapshot ->> 'reference')) stored,
  reference_key text collate "C" generated always as (fold_reference((snapshot ->> 'reference'))) stored,
  type text generated always as ((snapshot ->> 'type')) stored,
  status text generated always as ((snapshot ->> 'status')) stored,
  name text generated always as ((snapshot ->> 'name')) stored,
  is_test boolean generated always as (((snapshot ->> 'isTest'))::boolean) stored,
  created_at timestamptz generated always as (to_instant((snapshot ->> 'createdAt'))) stored,
  updated_at timestamptz generated always as (to_instant((snapshot ->> 'updatedAt'))) stored,
  completed_at timestamptz generated always as (to_instant((snapshot ->> 'completedAt'))) stored,
  primary key (account_id, dossier_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index dossier_missing on dossier (missing_run_id) where (missing_run_id is not null);
create index dossier_by_reference_key on dossier (account_id, reference_key) include (dossier_id) where (gone_at is null);

create table dossier_change (
  change_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  dossier_id text not null,
  kind text not null check (kind in (
    'dossier_appeared', 'dossier_status_changed', 'dossier_changed',
    'dossier_touched', 'dossier_returned', 'dossier_gone'
  )),
  fields text[] not null,
  before jsonb,
  after jsonb,
  -- When the change was found; the sweep that reports it may be a later one.
  seen_at timestamptz not null
);

create index dossier_change_by_run on dossier_change (run_id);
create index dossier_change_by_dossier on dossier_change (dossier_id, change_id);

-- Records that sweeps have looked up, as last received. A failed look-up keeps the former record.
create table dossier_record (
  account_id bigint references account,
  dossier_id text,
  kind text check (kind in ('dossier', 'entity', 'decision')),
  -- For the kind `dossier` the id of the dossier.
  record_id text,
  -- The last sweep that requested it; null while the dossier only names it.
  run_id bigint references run,
  asked_at timestamptz,
  -- The code of why the last look-up failed.
  reason text,
  -- The `updated_at` of the dossier in the list when the record was fetched.
  dossier_updated_at timestamptz,
  fetched_at timestamptz,
  -- The JSON as received, without presigned links, which are never stored.
  body text,
  withheld_links integer default 0 not null check (withheld_links >= 0),
  -- For an entity, from its record: yyyy, yyyy-mm or yyyy-mm-dd, and ISO 3166-1 alpha-2 in lower case.
  name text,
  birth_date text check (birth_date ~ '^\d{4}(-\d{2}(-\d{2})?)?$'),
  country text check (country ~ '^[a-z]{2}$'),
  primary key (account_id, dossier_id, kind, record_id),
  check ((run_id is null) = (asked_at is null)),
  check ((body is null) = (fetched_at is null))
);

create index dossier_record_to_ask on dossier_record (account_id) where (run_id is null);
create index dossier_record_by_run on dossier_record (run_id);

-- The pages of a sweep in progress, in order: the ids of their dossiers and their creation times. Each window of creation times begins with a row
-- without dossiers, most recent window first. They are deleted when the sweep closes.
create table swept_page (
  run_id bigint references run,
  ordinal integer,
  dossier_ids text[] default '{}' not null,
  created_at text[] default '{}' not null,
  appeared integer default 0 not null,
  changed integer default 0 not null,
  -- The window of the page, and whether the page was its last.
  place integer not null,
  has_ended boolean default false not null,
  -- In the first row of a window; null for an open end.
  created_from timestamptz,
  created_to timestamptz,
  primary key (run_id, ordinal)
);

-- The keys of received events, so that a repetition marks nothing; deleted after two days, because the service repeats events for one day.
create table received_event (
  event_number bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- SHA-256 of `Idempotency-Key`.
  key_digest bytea not null check (length(key_digest) = 32),
  received_at timestamptz not null,
  unique (organisation_id, key_digest)
);

create index received_event_by_time on received_event (received_at);
create index received_event_in_order on received_event (organisation_id, event_number);

-- Dossiers of events that were not looked up since; they may not exist. The events themselves are not stored.
create table dossier_mark (
  organisation_id bigint references organisation,
  dossier_id text check (length(dossier_id) <= 80),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- The number of events since the mark was made: it is deleted only if no event came after the look-up began.
  events bigint not null check (events > 0),
  -- Whether one of them was about AML screening.
  is_aml boolean not null,
  -- The number of look-ups that did not find the dossier, and the time of the next one.
  tries integer default 0 not null,
  try_after timestamptz,
  primary key (organisation_id, dossier_id)
);
