-- A roster between its file and the tables of customers; empty when no import is in progress.

create unlogged table roster_staging (
  run_id bigint not null,
  -- The position in the sources, from 1; related parties come last.
  ordinal integer not null,
  line integer not null,
  is_party boolean default false not null,
  -- A related party as in its row; null where the row is rejected.
  party jsonb,
  -- The number of parties in the record.
  parties smallint,
  -- Accepted, and the only row of its customer.
  is_plain boolean default true not null,
  -- An earlier row has the same record.
  is_repetition boolean default false not null,
  reference text collate "C",
  -- Null for a row that is rejected by itself.
  record_digest bytea,
  -- Why the row itself offboards the customer.
  leaves text check (leaves in ('inactive', 'end_date')),
  -- The request of the customer itself; null where the record is not staged, because the roster has the same.
  type text collate "C",
  sent_name text collate "C",
  -- In a first snapshot, where another row or an earlier import has the same request; every other row gets its own.
  request_id bigint,
  file text,
  reject_reason text,
  reject_column text,
  value_class text,
  fields json,
  check ((not is_plain) or ((reject_reason is null) and (not is_repetition) and (not is_party)))
);

create index roster_staging_party on roster_staging (run_id, reference) where is_party;

-- The source texts of accepted rows, in case another row contradicts one of them. One text per chunk: each row after its ordinal, the unit
-- separator between fields, the record separator between rows. Each import begins with an empty one, which shows that something is staged.
create unlogged table roster_raw (
  run_id bigint not null,
  first_ordinal integer not null,
  last_ordinal integer not null,
  rows text not null
);

-- The records of accepted rows, unless the roster has the same.
create unlogged table roster_record (
  run_id bigint not null,
  ordinal integer not null,
  risk_tier text,
  record jsonb not null
);

-- The changes of a snapshot; of a first snapshot only customers with several rows, or with rows and known parties.
create unlogged table roster_step (
  run_id bigint not null,
  -- Null until the rows are combined; until then `record` and `own_digest` are those of the customer's own row.
  kind text check (kind in ('new', 'changed', 'same')),
  -- False for a known customer that is not in the snapshot.
  is_shown boolean default false not null,
  -- At least one row of the customer was accepted.
  has_record boolean default false not null,
  reference text collate "C" not null,
  customer_id bigint,
  version integer,
  ordinal integer,
  record jsonb,
  record_digest bytea,
  own_digest bytea,
  leaves text,
  -- Before they are combined: contradicting records, related parties, and whether one of their rows was rejected, so that known ones stay.
  conflicts jsonb,
  related jsonb,
  keeps_related boolean
);

create unique index roster_step_open on roster_step (run_id, reference) where kind is null;

-- Deletes what a run has staged. Only large tables are truncated, which takes 10 ms and makes the server plan each statement on them again.
create function clear_roster_staging(cleared_run_id bigint) returns void language plpgsql as $$
begin
  if not exists (select from roster_raw where run_id = cleared_run_id) then
    return;
  end if;
  delete from roster_step where run_id = cleared_run_id;
  if pg_table_size('roster_staging') + pg_table_size('roster_record') + pg_table_size('roster_raw') > 1048576 then
    begin
      lock table roster_staging, roster_record, roster_raw in access exclusive mode nowait;
      if not exists (select from roster_raw where run_id <> cleared_run_id) then
        truncate roster_staging, roster_record, roster_raw;
        return;
      end if;
    exception when lock_not_available or insufficient_privilege then
      null;
    end;
  end if;
  delete from roster_raw where run_id = cleared_run_id;
  delete from roster_record where run_id = cleared_run_id;
  delete from roster_staging where run_id = cleared_run_id;
end
$$;
