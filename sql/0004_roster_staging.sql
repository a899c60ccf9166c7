-- A roster between its file and the tables of customers. Nothing here outlives an import.

create unlogged table roster_staging (
  run_id bigint not null,
  -- Place in the sources, from 1; those of related parties come last.
  ordinal integer not null,
  line integer not null,
  is_party boolean default false not null,
  -- A related party as its row says it; null where that is rejected.
  party jsonb,
  -- Further parties of the customer's own stand in the record.
  parties smallint,
  -- Accepted, and stands for a customer by itself.
  is_plain boolean default true not null,
  -- The same record as in an earlier row.
  is_repetition boolean default false not null,
  reference text collate "C",
  -- Null: the row is rejected as it stands.
  record_digest bytea,
  -- Why the row itself says that the customer has left.
  leaves text check (leaves in ('inactive', 'end_date')),
  -- The customer itself; null where the record is not staged, because the roster has the same.
  type text collate "C",
  sent_name text collate "C",
  -- In a first snapshot, where another row or an earlier import sends the same; every other row has a request of its own.
  request_id bigint,
  file text,
  reject_reason text,
  reject_column text,
  value_class text,
  fields json,
  check ((not is_plain) or ((reject_reason is null) and (not is_repetition) and (not is_party)))
);

create index roster_staging_party on roster_staging (run_id, reference) where is_party;

-- The fields of accepted rows as they stand, in case another row contradicts one of them: those of a chunk in one text, each row behind its
-- place, with the unit separator between fields and the record separator between rows. The first of an import is empty: whether something is
-- staged is looked up here, because to look for it among a million rows would take longer than to remove them.
create unlogged table roster_raw (
  run_id bigint not null,
  first_ordinal integer not null,
  last_ordinal integer not null,
  rows text not null
);

-- What accepted rows say, apart from what they are judged by, unless the roster has the same.
create unlogged table roster_record (
  run_id bigint not null,
  ordinal integer not null,
  risk_tier text,
  record jsonb not null
);

-- What a snapshot changes; of a roster's first one only customers that are put together from several rows, or from rows and what is known.
create unlogged table roster_step (
  run_id bigint not null,
  -- Null: still to be put together; `record` and `own_digest` are those of the customer's own row until then.
  kind text check (kind in ('new', 'changed', 'same')),
  -- False: known, and not in the snapshot.
  is_shown boolean default false not null,
  -- The snapshot says more of the customer than rows that were not accepted.
  has_record boolean default false not null,
  reference text collate "C" not null,
  customer_id bigint,
  version integer,
  ordinal integer,
  record jsonb,
  record_digest bytea,
  own_digest bytea,
  leaves text,
  -- Of what is put together: records that contradict each other, related parties, and whether a row of theirs was not accepted, so that
  -- what was known of them stays.
  conflicts jsonb,
  related jsonb,
  keeps_related boolean
);

create unique index roster_step_open on roster_step (run_id, reference) where kind is null;

-- Empties what a run has staged. Small tables are not truncated: truncating takes 10 ms, and every statement about them is planned again.
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
