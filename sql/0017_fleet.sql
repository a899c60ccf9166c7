-- What several processes share: the rate of an account.

-- When the next call of an account may leave, by the clock of the database. Unlogged: a lost row begins anew, a second later than now.
create unlogged table account_pace (
  account_id bigint primary key,
  next_at timestamptz not null,
  -- No call leaves before, because the service wants a pause.
  paused_until timestamptz default '-infinity' not null,
  -- The last refusal of calls as too frequent, and the rate at which they were made.
  refused_at timestamptz,
  refused_per_second float8
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
