-- Rosters in bulk, what became of every row, and how each snapshot differs from the one before.

-- Rows of an import on their way. Nothing reads them but the import itself, which begins anew after a crash: so they are not logged.
drop table roster_staging;
create unlogged table roster_staging (
  run_id bigint not null,
  -- Place in the source, from 1.
  ordinal integer not null,
  line integer not null,
  -- Further parties of the customer's own stand in the record.
  parties smallint,
  -- Accepted, and stands for a customer by itself.
  is_plain boolean not null default true,
  -- The same record as in an earlier row.
  is_repetition boolean not null default false,
  reference text collate "C",
  -- Null: the row is rejected as it stands.
  record_digest bytea,
  -- Why the row itself says that the customer has left.
  leaves text check (leaves in ('inactive', 'end_date')),
  -- The customer itself.
  type text collate "C",
  sent_name text collate "C",
  file text,
  reject_reason text,
  reject_column text,
  value_class text,
  fields json,
  check (not is_plain or reject_reason is null and not is_repetition)
);

-- What accepted rows say, apart from what they are judged by: of a roster that is as it was, nobody reads it.
create unlogged table roster_record (
  run_id bigint not null,
  ordinal integer not null,
  risk_tier text,
  record jsonb not null
);

-- The fields of accepted rows as they stand, in case another row contradicts one of them: those of a chunk in one text, each row behind its
-- place, with the unit separator between fields and the record separator between rows.
create unlogged table roster_raw (
  run_id bigint not null,
  first_ordinal integer not null,
  last_ordinal integer not null,
  rows text not null
);
alter table roster_raw alter column rows set storage external;

-- The same as for rows of the roster for related parties.
create unlogged table roster_party_staging (
  run_id bigint not null,
  ordinal integer not null,
  line integer not null,
  file text,
  reference text collate "C",
  -- Null: the row is rejected as it stands.
  party jsonb,
  reject_reason text,
  reject_column text,
  value_class text,
  fields json
);

-- Customers that are put together from several rows, or from rows and what is known of them.
create unlogged table roster_case (
  run_id bigint not null,
  reference text collate "C" not null,
  ordinal integer,
  own_record jsonb,
  own_digest bytea,
  leaves text,
  -- Records that contradict each other.
  conflicts jsonb not null default '[]',
  related jsonb not null default '[]',
  -- A row of theirs was not accepted, so that what was known of them stays.
  keeps_related boolean not null default false,
  -- The snapshot itself shows the customer.
  is_shown boolean not null default false,
  primary key (run_id, reference)
);

-- What a snapshot changes; of a roster's first one only its cases.
create unlogged table roster_step (
  run_id bigint not null,
  kind text not null check (kind in ('new', 'changed', 'same')),
  -- False: known, and not in the snapshot.
  is_shown boolean not null,
  -- The snapshot says more of the customer than rows that were not accepted.
  has_record boolean not null,
  reference text collate "C" not null,
  customer_id bigint,
  version integer,
  ordinal integer,
  record jsonb,
  record_digest bytea,
  own_digest bytea,
  leaves text
);

-- Rows of a first snapshot of which the same is sent as of another row, or as was sent before; those of all others have numbers of their own.
create unlogged table roster_request (
  run_id bigint not null,
  ordinal integer not null,
  request_id bigint not null
);

-- Which imports have something staged: to look for it among a million rows would take longer than to remove them.
create unlogged table roster_stager (run_id bigint primary key);

-- Empties what an import has staged: at once where nobody else is importing.
create function clear_roster_staging(cleared_run_id bigint) returns void language plpgsql as $$
begin
  delete from roster_case where run_id = cleared_run_id;
  delete from roster_step where run_id = cleared_run_id;
  delete from roster_party_staging where run_id = cleared_run_id;
  begin
    lock table roster_staging, roster_record, roster_raw, roster_request in access exclusive mode nowait;
    if not exists (select from roster_stager where run_id <> cleared_run_id) then
      truncate roster_staging, roster_record, roster_raw, roster_request;
      delete from roster_stager where run_id = cleared_run_id;
      return;
    end if;
  exception when lock_not_available or insufficient_privilege then
    null;
  end;
  delete from roster_request where run_id = cleared_run_id;
  delete from roster_raw where run_id = cleared_run_id;
  delete from roster_record where run_id = cleared_run_id;
  delete from roster_staging where run_id = cleared_run_id;
  delete from roster_stager where run_id = cleared_run_id;
end
$$;

-- Keys that are the same in every row of an import, or that an import takes from the very table they lead to, are checked by the import once
-- for all rows: row by row they took longer than everything else.
alter table screening_request drop constraint screening_request_organisation_id_fkey;
alter table customer
  drop constraint customer_roster_id_fkey,
  drop constraint customer_first_import_id_fkey,
  drop constraint customer_last_import_id_fkey;
alter table customer_version
  drop constraint customer_version_customer_id_fkey,
  drop constraint customer_version_import_id_fkey;
alter table party
  drop constraint party_customer_id_fkey,
  drop constraint party_request_id_fkey;

-- A first import gives a million of them numbers; those that a connection has left over are lost.
alter table party alter column party_id set cache 100;

-- What is led to still cannot be removed.
create function refuse_orphans() returns trigger language plpgsql as $$
declare
  child text;
  parts text[];
  found_any boolean;
begin
  foreach child in array tg_argv loop
    parts := string_to_array(child, '.');
    execute format('select exists (select from %I child join gone on gone.%I = child.%I)', parts[1], parts[3], parts[2]) into found_any;
    if found_any then
      raise foreign_key_violation using message = format('rows of %I still lead to what is removed from %I', parts[1], tg_table_name);
    end if;
  end loop;
  return null;
end
$$;

create trigger refuse_orphans after delete on organisation referencing old table as gone for each statement
  execute function refuse_orphans('screening_request.organisation_id.organisation_id');
create trigger refuse_orphans after delete on roster referencing old table as gone for each statement
  execute function refuse_orphans('customer.roster_id.roster_id');
create trigger refuse_orphans after delete on roster_import referencing old table as gone for each statement
  execute function refuse_orphans('customer.first_import_id.import_id', 'customer_version.import_id.import_id');
create trigger refuse_orphans after delete on customer referencing old table as gone for each statement
  execute function refuse_orphans('customer_version.customer_id.customer_id', 'party.customer_id.customer_id');
create trigger refuse_orphans after delete on screening_request referencing old table as gone for each statement
  execute function refuse_orphans('party.request_id.request_id');

-- Nobody gets a place that somebody had: over the years more than a small integer holds.
alter table party alter column ordinal type integer;

-- Text is compared byte by byte: a sorting rule of some language makes the indexes of a million rows three times as slow.
alter table screening_request
  alter column type type text collate "C",
  alter column name type text collate "C",
  -- By name first: sorted by a type that nearly all of them have, a million rows cannot be told apart by the beginnings of their keys.
  drop constraint screening_request_organisation_id_type_name_key,
  add unique (organisation_id, name, type);

alter table customer
  alter column reference type text collate "C",
  -- Half of the digest, as bytes.
  alter column record_digest type bytea using
    case when record_digest ~ '^[0-9a-f]{64}$' then decode(left(record_digest, 32), 'hex') else convert_to(record_digest, 'UTF8') end,
  -- The last snapshot shows everybody who is not absent.
  drop column last_import_id,
  -- Of what the customer's own row says, where the record holds more than that; null where it does not.
  add column own_digest bytea,
  -- Null: a customer still.
  add column left_at timestamptz,
  -- Answers from before do not count any more; null for one who never came back after having left.
  add column returned_at timestamptz,
  add column left_because text check (left_because in ('inactive', 'end_date', 'absent')),
  add constraint customer_left_check check ((left_at is null) = (left_because is null));

-- Which parts of the record are not as in the version before; null for the first.
alter table customer_version add column changed_fields text[];

-- The file that was given with the command in place of the configured source; '-' for standard input.
alter table run add column roster_file text;

alter table roster_import
  add column is_delta boolean not null default false,
  add column headers text[],
  add column party_headers text[],
  add column joined integer not null default 0,
  add column changed integer not null default 0,
  add column leavers integer not null default 0,
  add column returned integer not null default 0,
  -- Ids of which rows contradict each other; all their rows count as rejected.
  add column conflicts integer not null default 0,
  add column party_rows integer not null default 0,
  add column party_rejected integer not null default 0,
  -- Guards that held it and were overridden.
  add column overridden_guards text[] not null default '{}';

alter table roster_reject
  add column file text,
  add column value_class text,
  -- A row of a source of related parties; not counted among the roster's rows.
  add column is_party boolean not null default false;

-- Who is no longer shown, has left or has come back, by the snapshot that said so.
create table roster_standing (
  import_id bigint not null references roster_import,
  customer_id bigint not null,
  kind text not null check (kind in ('absent', 'left', 'returned')),
  because text,
  primary key (import_id, customer_id, kind)
);

create trigger refuse_orphans_of_standing after delete on customer referencing old table as gone for each statement
  execute function refuse_orphans('roster_standing.customer_id.customer_id');

-- Parties that a snapshot no longer names although what is known of them is not settled: an open hit, or a list that was cut.
create table dropped_party (
  import_id bigint not null references roster_import,
  party_id bigint not null references party,
  account_id bigint not null references account,
  -- The last version of the customer that names the party.
  customer_version integer not null,
  state text not null,
  primary key (import_id, party_id, account_id)
);

create index customer_version_changed on customer_version (import_id) where changed_fields is not null;

-- What each snapshot has changed, customer by customer.
create view roster_change as
select first_import_id as import_id, customer_id, 'joined' as kind, null::text[] as fields, null::text as because from customer
union all
select import_id, customer_id, 'changed', changed_fields, null from customer_version where changed_fields is not null
union all
select import_id, customer_id, kind, null, because from roster_standing;

-- Blocks of customer numbers are taken one after another.
create table customer_block (is_only boolean primary key default true check (is_only));
insert into customer_block default values;

create function take_customer_ids(wanted bigint) returns bigint language plpgsql as $$
declare
  last bigint;
begin
  perform from customer_block for update;
  last := nextval(pg_get_serial_sequence('customer', 'customer_id'));
  perform setval(pg_get_serial_sequence('customer', 'customer_id'), last + wanted);
  return last;
end
$$;

-- Of numbers that nobody reaches who takes them one by one, so that both may go on at once.
create sequence screening_request_block start 1099511627776;

create function take_request_ids(wanted bigint) returns bigint language plpgsql as $$
declare
  last bigint;
begin
  perform from customer_block for update;
  last := nextval('screening_request_block');
  perform setval('screening_request_block', last + wanted);
  return last;
end
$$;

-- Rejected rows of related parties are no rows of the roster.
create or replace view run_balance as
select
  run.run_id,
  coalesce(imported.rows, 0)::bigint as rows,
  coalesce(imported.customers, 0)::bigint as customers,
  coalesce(imported.duplicates, 0)::bigint as duplicates,
  rejects.rejected,
  coalesce(run.in_scope, 0)::bigint as in_scope,
  tally.in_plan,
  tally.planned,
  tally.skipped,
  tally.screened,
  tally.reused,
  tally.failed,
  tally.remaining,
  answers.answered_parties,
  answers.proven_parties,
  calls.answered_searches,
  calls.recorded_searches
from run
left join lateral (
  select import_id, rows, customers, duplicates from roster_import
  where roster_import.run_id = run.run_id
  order by import_id desc limit 1
) imported on true
cross join lateral (
  select count(*) as rejected from roster_reject where roster_reject.import_id = imported.import_id and not is_party
) rejects
-- Each customer once, in the worst state of its parties.
cross join lateral (
  select
    count(*) as in_plan,
    count(*) filter (where worst > 0) as planned,
    count(*) filter (where worst = 0) as skipped,
    count(*) filter (where worst = 1) as reused,
    count(*) filter (where worst = 2) as screened,
    count(*) filter (where worst = 3) as remaining,
    count(*) filter (where worst = 4) as failed
  from (
    select max(array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], screening.outcome) - 1) as worst
    from screening
    join party on party.party_id = screening.party_id
    where screening.run_id = run.run_id
    group by party.customer_id
  ) customers
) tally
-- Nobody is screened without an answer that is stored, nor without the transaction that stored it.
cross join lateral (
  select
    coalesce(sum(answered), 0)::bigint as answered_parties,
    coalesce(sum(stored) filter (
      where outcome = 'reused'
        or exists (select from commit_batch batch where batch.batch_id = saved.batch_id and batch.run_id = run.run_id)
    ), 0)::bigint as proven_parties
  from (
    select
      screening.outcome,
      screening.batch_id,
      count(*) as answered,
      count(*) filter (
        where exists (select from response where response.response_id = screening.response_id)
      ) as stored
    from screening
    where screening.run_id = run.run_id and screening.outcome in ('screened', 'reused')
    group by screening.outcome, screening.batch_id
  ) saved
) answers
-- Nor without a call in the ledger that this run made and that was answered.
cross join lateral (
  select
    count(*) filter (where is_answered) as answered_searches,
    count(*) filter (where is_answered and is_recorded) as recorded_searches
  from (
    select request_id, bool_or(is_answer) as is_answered, bool_or(not is_answer) as is_recorded
    from (
      select screening.request_id, true as is_answer
      from screening where screening.run_id = run.run_id and screening.outcome = 'screened'
      union all
      select attempt.request_id, false
      from search_attempt attempt where attempt.run_id = run.run_id and attempt.outcome = 'ok'
    ) beside
    group by request_id
  ) searched
) calls;
