-- Dossiers of the service as they were last swept, and what its events say has changed.

-- ISO 8601 with its offset says the same instant whatever a session's settings are.
create function to_instant(iso text) returns timestamptz immutable strict parallel safe language sql as $$
  select iso::timestamptz
$$;

create table dossier (
  account_id bigint references account,
  dossier_id text,
  snapshot jsonb not null,
  changed_by_run_id bigint not null references run,
  gone_at timestamptz,
  -- The last held sweep that did not list it; once that one is accepted, the next sweep removes it.
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

create index dossier_by_run on dossier (changed_by_run_id);

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
  -- When the change was seen: the run of a change is the sweep that reports it, which may be a later one.
  seen_at timestamptz not null
);

create index dossier_change_by_run on dossier_change (run_id);

create index dossier_change_by_dossier on dossier_change (dossier_id, change_id);

-- Records that sweeps have looked up, as they came last. A record that could not be had again stays as it was.
create table dossier_record (
  account_id bigint references account,
  dossier_id text,
  kind text check (kind in ('dossier', 'entity', 'decision')),
  -- Of the kind `dossier` the dossier's own id.
  record_id text,
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
  withheld_links integer default 0 not null check (withheld_links >= 0),
  -- Of an entity, where its record says so: yyyy, yyyy-mm or yyyy-mm-dd, and ISO 3166-1 alpha-2 in lower case, as of customers.
  name text,
  birth_date text check (birth_date ~ '^\d{4}(-\d{2}(-\d{2})?)?$'),
  country text check (country ~ '^[a-z]{2}$'),
  primary key (account_id, dossier_id, kind, record_id),
  check ((run_id is null) = (asked_at is null)),
  check ((body is null) = (fetched_at is null))
);

create index dossier_record_to_ask on dossier_record (account_id) where (run_id is null);

create index dossier_record_by_run on dossier_record (run_id);

-- The pages of a sweep in progress: the ids of their dossiers and when these were created, in the order of the walk. Each window of creation times
-- begins with a row without dossiers, most recent window first. They are removed when the sweep is closed.
create table swept_page (
  run_id bigint references run,
  ordinal integer,
  dossier_ids text[] default '{}' not null,
  created_at text[] default '{}' not null,
  appeared integer default 0 not null,
  changed integer default 0 not null,
  -- The window that a page belongs to, and whether it was its last.
  place integer not null,
  has_ended boolean default false not null,
  -- Of the first row of a window; null is an open end.
  created_from timestamptz,
  created_to timestamptz,
  primary key (run_id, ordinal)
);

-- The keys of events that were taken, so that a repetition marks nothing; forgotten after two days, for the service repeats for one.
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

-- Dossiers that an event was about and that have not been looked up since; they may not exist. Nothing of the event itself is kept.
create table dossier_mark (
  organisation_id bigint references organisation,
  dossier_id text check (length(dossier_id) <= 80),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Events since the mark was made: it is cleared only where this is as it was when the dossier was asked for.
  events bigint not null check (events > 0),
  -- One of them was about AML screening.
  is_aml boolean not null,
  -- Look-ups that did not find the dossier, and until when the next one waits.
  tries integer default 0 not null,
  try_after timestamptz,
  primary key (organisation_id, dossier_id)
);
