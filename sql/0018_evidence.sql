-- Evidence as files: the packs of runs, what each of them holds, and the keys of its sealed lines.

-- The wave in which the search failed; null for failures that were stored before packs.
alter table failure add column wave integer;

-- When its plan, calls and failures left the database, because its packs hold them.
alter table run add column history_removed_at timestamptz;

-- A pack reads the records of an import.
create index customer_version_by_import on customer_version (import_id);

-- The match that an event of an alert is about, as `alert` showed it then; null for assignments and for events that were stored before packs.
alter table alert_event add column listed_id bigint;
alter table alert_event add column rank integer;
alter table alert_event add column is_hit boolean;
alter table alert_event add column score double precision;

-- What became of a planned party, by the waves of its run that are proven and applied; `wave` is that of its answer.
create function judge_outcome(
  skipped_because text, wave integer, is_reused boolean, failure text,
  proven_wave integer, applied_wave integer, is_held boolean, unconfirmed_because text
) returns table (outcome text, outcome_reason text) immutable language sql as $$
  select
    case
      when skipped_because is not null then 'skipped'
      when is_valid then case when is_reused then 'reused' else 'screened' end
      when wave is not null or failure is not null or unconfirmed_because = 'control_failed' then 'failed'
      else 'remaining'
    end,
    case
      when skipped_because is not null then skipped_because
      when is_valid then null
      when is_unproven then unconfirmed_because
      when wave is not null then 'held'
      else coalesce(failure, case when unconfirmed_because = 'control_failed' then unconfirmed_because end)
    end
  from (select coalesce(unconfirmed_because is not null and wave > proven_wave, false) as is_unproven) proof
  cross join lateral (
    select wave is not null and (wave <= applied_wave or not (is_unproven or is_held)) as is_valid
  ) counted
$$;

-- A pack is queued in the transaction that ends its run or applies it later, prepared right after that, and then written. What it holds of a run is
-- what was found up to its wave, so that it can be made again.
create table evidence_pack (
  pack_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  run_id bigint not null references run,
  -- From 1 in each run.
  number integer not null,
  ending text not null check (ending in ('ended', 'stopped', 'abandoned', 'accepted')),
  queued_at timestamptz not null,
  wave integer not null,
  -- How far its answers count, as in `run`.
  proven_wave integer not null,
  applied_wave integer not null,
  is_held boolean not null,
  unconfirmed_because text,
  -- How many calls each process of the run had noted: {"1": 500}.
  calls jsonb not null,
  -- Whether it lists the plan. A run that stopped before its first search makes its plan again.
  is_planned boolean not null,
  -- Of the roster: the records of the imports after the first and up to the second one are in this pack.
  after_import bigint not null,
  through_import bigint not null,
  -- Of the account of a sweep: the changes of dossiers after the first and up to the second one are in this pack. Later sweeps take changes over.
  after_dossier_change bigint not null,
  through_dossier_change bigint not null,
  -- The last change of a customer's state, and the last event of an alert, that it may hold.
  state_change bigint not null,
  alert_event bigint not null,
  -- The place in the chain of the organisation, the content of run.json, and the last pack that was written before; null until it is prepared.
  sequence integer check (sequence > 0),
  run_json text,
  head_sequence integer,
  -- SHA-256 (hex) of the manifest before it, where only the folder knows that pack: the database was restored from a backup, or begun anew.
  former_sha256 text,
  -- SHA-256 (hex) of its manifest; null until it is written.
  manifest_sha256 text,
  written_at timestamptz,
  unique (run_id, number) deferrable,
  unique (organisation_id, sequence) deferrable,
  check ((sequence is null) = (run_json is null)),
  check ((manifest_sha256 is null) = (written_at is null)),
  check (sequence is not null or written_at is null)
);

create index evidence_pack_waiting on evidence_pack (organisation_id, pack_id) where (written_at is null);

-- Answers, what people have decided, events of discrepancies, reports and erasures (by customer), each with the pack that holds it. Packs are
-- written one after the other, so there is no foreign key.
create table packed (
  kind text check (kind in ('answer', 'disposition', 'acceptance', 'discrepancy', 'report', 'erasure')),
  id bigint,
  -- The revision of a report.
  part integer default 0,
  pack_id bigint not null,
  primary key (kind, id, part)
);

create index packed_by_pack on packed (pack_id, kind, id);

-- A number for what has only a text as its name. Nobody can find the text from it by a dictionary without the secret of the organisation.
create function number_text(of_organisation bigint, of_text text) returns bigint stable strict language sql as $$
  select ('x' || left(encode(sha256(digest_key || convert_to(of_text, 'UTF8')), 'hex'), 13))::bit(52)::bigint
  from organisation where organisation_id = of_organisation
$$;

-- Copies of the keys of evidence outside of the database: {"file", "host", "at", "by"}.
alter table organisation add column key_copies jsonb default '[]' not null;

-- Keys of sealed lines: of what is about one customer, of an answer, which namesakes may share, and of what a run says of nobody in the roster.
-- Rows and customers without an accepted record have that of their reference, the records behind matches that of their id.
create table evidence_key (
  kind text check (kind in ('customer', 'answer', 'run', 'reference', 'record', 'acceptance')),
  -- For a reference `number_text` of the roster and the folded reference, for a record of the account and the id: `1/c-1042`.
  id bigint,
  -- 32 bytes; wrapped with EVIDENCE_KEY a nonce of 12, the ciphertext and a tag of 16.
  key bytea not null check (length(key) in (32, 60)),
  primary key (kind, id)
);

-- As in 0006, by the function that packs use too.
create or replace view screening as
select
  party.run_id, party.party_id, party.request_id, party.customer_version, party.plan_reason, party.search_order,
  case when judged.outcome in ('screened', 'reused') then party.response_id end as response_id,
  party.answered_at, party.wave, party.is_reused, judged.outcome, judged.outcome_reason
from planned_party party
join run on run.run_id = party.run_id
left join failure on failure.run_id = party.run_id and failure.request_id = party.request_id and party.search_order is not null
cross join lateral judge_outcome(
  party.skipped_because, party.wave, party.is_reused, failure.reason,
  run.proven_wave, run.applied_wave, run.is_held, run.unconfirmed_because
) judged;

-- What a written pack holds never changes, nor in which pack something is. Keys are only deleted: by an erasure.
create trigger refuse_rewriting before update or delete on evidence_pack for each row
  when (old.written_at is not null) execute function refuse_rewriting();
create trigger refuse_emptying before truncate on evidence_pack for each statement execute function refuse_rewriting();
create trigger refuse_rewriting before update or delete or truncate on packed for each statement execute function refuse_rewriting();
create trigger refuse_rewriting before update or truncate on evidence_key for each statement execute function refuse_rewriting();

-- The answers that parties had in runs whose plans and calls left the database: an erasure finds them here.
create table kept_answer (
  party_id bigint,
  request_id bigint,
  response_id bigint,
  primary key (party_id, request_id, response_id)
);

create index kept_answer_by_request on kept_answer (request_id);

-- Customers under legal hold are never erased. A hold is released once.
create table legal_hold (
  hold_id bigint generated always as identity primary key,
  customer_id bigint not null,
  reason written_text not null,
  held_by person_name not null,
  is_attested boolean not null,
  held_at timestamptz not null,
  released_at timestamptz,
  released_by person_name,
  release_reason written_text,
  check (num_nulls(released_at, released_by, release_reason) in (0, 3))
);

create unique index legal_hold_in_force on legal_hold (customer_id) where (released_at is null);

-- Customers whose personal data was removed; without personal data.
create table erasure (
  customer_id bigint primary key references customer,
  -- HMAC-SHA-256 of the reference with the key of the organisation, so that `evidence show` finds the erasure by the reference.
  reference_digest bytea not null,
  erased_at timestamptz not null,
  erased_by person_name not null,
  is_attested boolean not null,
  reason written_text not null,
  -- What was removed: {"rows of ...": 12}.
  removed jsonb not null
);

create index erasure_by_reference on erasure (reference_digest);

-- As in 0001; only an erasure by the owner removes what is personal.
create or replace function refuse_rewriting() returns trigger language plpgsql as $$
declare
  is_filled boolean := true;
begin
  if tg_op <> 'TRUNCATE' and current_setting('nightscreen.erases', true) = 'on' and is_owner() then
    return case tg_op when 'DELETE' then old else new end;
  end if;
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into is_filled;
  end if;
  if not is_filled then
    return null;
  end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- As in 0012, but for an erasure.
create or replace function check_invitation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('nightscreen.erases', true) = 'on' and is_owner() then
    return old;
  end if;
  if tg_op = 'DELETE' or tg_op = 'UPDATE' and not starts_with(new.events::text, rtrim(old.events::text, ']')) then
    raise exception 'events of invitations are never changed or removed' using errcode = 'restrict_violation';
  end if;
  if exists (
    select from jsonb_array_elements(new.events) event
    where event ->> 'runId' is not null and not exists (select from run where run.run_id = (event ->> 'runId')::bigint)
  ) then
    raise foreign_key_violation using message = 'an event of an invitation names a run that does not exist';
  end if;
  if tg_op = 'UPDATE' and new.reminded_at is not distinct from old.reminded_at
    and (new.state <> 'sending' or new.sending_at is not distinct from old.sending_at and old.state = 'sending') then
    return new;
  end if;
  if not exists (
    select from judge_invitations(
      new.account_id, array[new.discrepancy_id], greatest(new.intended_at, new.sending_at, new.reminded_at)
    ) judged
    join discrepancy using (discrepancy_id)
    where judged.obstacle is null and discrepancy.customer_id = new.customer_id
  ) then
    raise exception 'the customer of this invitation is not invited now' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;

-- As in 0016.
do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function refuse_rewriting() set search_path = pg_catalog, %s, pg_temp', tables_schema);
  execute format('alter function check_invitation() set search_path = pg_catalog, %s, pg_temp', tables_schema);
end
$$;

create trigger refuse_rewriting before delete or update or truncate on erasure for each statement execute function refuse_rewriting();
