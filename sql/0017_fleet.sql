-- What several processes share: the rate of an account, and the searches of a run in chunks.

-- When the next call of an account may leave, by the clock of the database. Unlogged: a lost row begins anew, a second later than now.
create unlogged table account_pace (
  account_id bigint primary key,
  next_at timestamptz not null,
  -- No call leaves before, because the service wants a pause.
  paused_until timestamptz default '-infinity' not null,
  -- The last refusal of calls as too frequent, and the rate at which they were made.
  refused_at timestamptz,
  refused_per_second float8,
  -- When a worker last took the turn to try a service that was out of reach.
  tried_at timestamptz
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- Searches of a run that one process makes at a time. Open chunks of the current wave and of those before may be claimed.
create table chunk (
  run_id bigint references run,
  number integer,
  wave integer not null,
  -- The parties in the order of their searches.
  party_ids bigint[] not null,
  searches integer not null,
  -- That of the process which cut the run into chunks; a resumed run may have begun under another.
  version text not null,
  -- `stopped`: no further search is begun.
  state text default 'open' not null check (state in ('open', 'done', 'stopped')),
  -- The fencing number: whoever holds an earlier one writes nothing.
  epoch integer default 0 not null,
  -- The process that searches, by its number in the run and by its lease.
  worker integer,
  lease_key text references lease,
  lease_epoch bigint,
  claimed_at timestamptz,
  done_at timestamptz,
  -- How many processes have died or failed while they held it.
  deaths integer default 0 not null,
  -- Why the process stopped the run.
  halted_by text check (halted_by in ('account', 'address', 'outage', 'budget', 'max_searches', 'signal')),
  halt_reason text,
  primary key (run_id, number),
  check ((halted_by is null) = (halt_reason is null))
);

create index chunk_open on chunk (run_id, number) where (state = 'open');
create index chunk_by_lease on chunk (lease_key) where (lease_key is not null);

-- A process that only makes searches of a run: it neither began nor resumed it.
alter table run_worker add column has_joined boolean default false not null;

-- What a process reports with its lease: {"version", "settingsDigest", "accountId", "outageSince", "isAnswered", "clockAhead"}.
alter table lease add column details jsonb;
