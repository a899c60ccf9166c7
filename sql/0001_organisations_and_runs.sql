-- Who owns what, and who may write: organisations, service accounts, rosters, leases, runs, commit batches.

create table organisation (
  organisation_id bigint generated always as identity primary key,
  name text not null unique,
  -- Secret of the keyed digests: an answer cannot be recovered from its digest by dictionary.
  digest_key bytea not null,
  created_at timestamptz not null
);

-- One account at the service and one mode: what a test key found says nothing about a live one.
create table account (
  account_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  public_key text not null,
  is_test boolean not null,
  base_url text not null,
  created_at timestamptz not null,
  unique (organisation_id, public_key)
);

create table roster (
  roster_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  name text not null,
  created_at timestamptz not null,
  unique (organisation_id, name)
);

-- Locks are rows: the epoch is the fencing number that every write of a run checks.
create table lease (
  lease_key text primary key,
  epoch bigint not null,
  owner text not null,
  acquired_at timestamptz not null,
  heartbeat_at timestamptz not null,
  expires_at timestamptz not null
);

create table run (
  run_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  roster_id bigint references roster,
  -- Null until the service has said whose key it is.
  account_id bigint references account,
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('import', 'screen', 'rescreen', 'onboard', 'sweep')),
  state text not null check (state in ('running', 'complete', 'incomplete', 'stopped', 'unbalanced', 'refused', 'abandoned')),
  state_reasons text[] not null default '{}',
  -- How far it has come; a resumed run goes on from here.
  stage text not null check (stage in ('started', 'imported', 'planned', 'screened', 'finished')),
  -- Which parties its plan asks about; null for a run without a plan.
  selection text check (selection in ('due', 'new', 'all')),
  -- Customers it answers for, counted apart from its plan.
  in_scope integer,
  lease_key text not null,
  epoch bigint not null,
  owner text not null,
  resumed integer not null default 0,
  settings_digest text not null,
  key_fingerprint text,
  version text not null,
  -- The run whose results this one is compared with.
  compared_run_id bigint references run,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- Sums, fixed when the run closes: counts, states, skipped, baseline.
  sums jsonb
);

create index run_by_lease on run (lease_key, run_id);

-- What one transaction of a run saved; evidence hangs on these.
create table commit_batch (
  batch_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  epoch bigint not null,
  sequence integer not null,
  items integer not null,
  committed_at timestamptz not null,
  unique (run_id, sequence)
);
