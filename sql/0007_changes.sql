-- What changed in the answers: evidence, never changed or removed. What no longer counts is named by a retraction.

create table change_record (
  change_id bigint generated always as identity,
  -- 1 as it was found, 2 as it is told since its list proved to be cut: a retraction names the first.
  revision smallint default 1 not null,
  run_id bigint not null references run,
  batch_id bigint not null,
  party_id bigint not null references party,
  customer_version integer not null,
  kind text not null check (kind in (
    'match_added', 'match_changed', 'match_removed', 'match_not_returned',
    'match_rekeyed', 'match_returned', 'hit_gained', 'hit_lost'
  )),
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  rule text not null,
  cause text not null check (cause in ('service_data', 'customer_record', 'settings')),
  is_baseline boolean not null,
  match_id text not null,
  fields text[] not null,
  -- The listed party as it was and as it is, each with what the search said of it; null where there was, or is, none.
  before_listed_id bigint,
  before_rank integer,
  before_is_hit boolean,
  before_score double precision,
  after_listed_id bigint,
  after_rank integer,
  after_is_hit boolean,
  after_score double precision,
  -- What moved the severity away from its rule's.
  adjustments text[] default '{}' not null check (adjustments <@ array['birth_date_contradicts', 'risk_tier']),
  -- Whether the customer's facts agree with the match; null where they were not compared.
  birth_date_agreement text check (birth_date_agreement in ('agree', 'contradict', 'unknown')),
  country_agreement text check (country_agreement in ('agree', 'contradict', 'unknown')),
  -- A hit for a sanction always stands by itself in a report; so does every change from before anybody noted it.
  sanction_hit boolean default true not null,
  -- Beside which record of the customer the answer before was given: a report of a change by the customer's own record shows both records.
  -- Null where it is the same record, for first screenings, and for changes from before this was noted.
  former_customer_version integer,
  primary key (change_id, revision),
  check (num_nulls(before_listed_id, before_rank, before_is_hit, before_score) in (0, 4)),
  check (num_nulls(after_listed_id, after_rank, after_is_hit, after_score) in (0, 4))
);

create index change_record_by_party on change_record (party_id);

create index change_record_critical on change_record (run_id, change_id) where (severity = 'critical');

-- What a run has found is read from where its alerts were last made of it, however many changes it or earlier runs have.
create index change_record_in_order on change_record (run_id, change_id);

-- The state of the alert of a change when the run closed that reported it: a report shows it, whenever it is made again. Rows are made from
-- changes, dispositions and listed parties, which stay, so they need no foreign key. What these say in words is read there.
create table change_alert (
  change_id bigint primary key,
  state text not null check (state in ('open', 'pending_approval', 'false_positive', 'true_match', 'no_longer_matched')),
  opened_at timestamptz not null,
  due_at timestamptz,
  assigned_to text,
  reopened_because text[] not null,
  -- Its last dispositions.
  said bigint[] not null,
  -- The last disposition of a match that was absent when that of the alert appeared, and that match.
  replaced_disposition_id bigint,
  replaced_listed_id bigint,
  check ((replaced_disposition_id is null) = (replaced_listed_id is null))
);

-- Which answers and changes of a run do not count: those of a range of its batches.
create table retraction (
  retraction_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  first_batch_id bigint not null,
  last_batch_id bigint not null check (last_batch_id >= first_batch_id),
  -- Only those of these parties, of one batch; null: all of the range.
  party_ids bigint[] check ((party_ids is null) or (first_batch_id = last_batch_id)),
  -- A control search failed; an abandoned run has none after them; the run is held; the searches were made again; a later run has answered
  -- before the held one was accepted. `reclassified`: only that matches were removed, which a cut list does not say; the answers count.
  kind text not null check (kind in ('control_failed', 'not_confirmed', 'held', 'searched_again', 'superseded', 'reclassified')),
  retracted_at timestamptz not null
);

create index retraction_by_run on retraction (run_id, first_batch_id);

create index retraction_of_ranges on retraction (run_id) where (party_ids is null);

-- Retracted answers, no longer an outcome of their run and evidence all the same. Of a held run with what the state of the party said by the
-- answer, so that accepting the run restores it; null where the answer had only renewed the date.
create table retracted_answer (
  run_id bigint references run,
  party_id bigint references party,
  batch_id bigint,
  outcome text not null check (outcome in ('screened', 'reused')),
  response_id bigint not null references response,
  retracted_at timestamptz not null,
  request_id bigint,
  customer_version integer,
  settings_digest text,
  state text,
  reported_scores jsonb,
  unreturned jsonb,
  primary key (run_id, party_id, batch_id),
  check (num_nulls(request_id, customer_version, settings_digest, state) in (0, 4))
);

-- What is evidence names a batch that was stored with it, and stays when the batches of old runs are dropped: no foreign key allows that.
create function require_batch() returns trigger language plpgsql security definer as $$
begin
  if exists (
    select from (select distinct run_id, batch_id from written) wanted
    where not exists (select from search_batch batch where batch.run_id = wanted.run_id and batch.batch_id = wanted.batch_id)
  ) then
    raise foreign_key_violation using message = format('a row of %I names a batch that does not exist', tg_table_name);
  end if;
  return null;
end
$$;

-- Who was screened when, and by which calls: one row for each, one without a call where there was none. One customer and run are found by
-- indexes, however many there are.
create view customer_search as
select
  organisation.name as organisation, roster.name as roster, customer.reference, party.ordinal, run.run_id, run.mode,
  run.state as run_state, run.started_at as run_started_at,
  screening.plan_reason, screening.outcome, screening.outcome_reason, screening.response_id,
  -- When an answer that does not count was retracted: that of an earlier call, or, without a response, of the last one.
  retracted.retracted_at,
  call.started_at as called_at, call.outcome as call_outcome, call.service_request_id
from organisation
join roster on roster.organisation_id = organisation.organisation_id
join customer on customer.roster_id = roster.roster_id
join party on party.customer_id = customer.customer_id
join run on run.roster_id = roster.roster_id
-- `offset 0`: one run after the other, by its key. As a join, all history would be read.
cross join lateral (
  select run_id, party_id, request_id, response_id, batch_id, plan_reason, outcome, outcome_reason from screening
  where screening.run_id = run.run_id and screening.party_range = party.party_id >> 7 and screening.party_id = party.party_id
  offset 0
) screening
left join lateral (
  select max(taken.retracted_at) as retracted_at
  from retracted_answer taken
  where taken.run_id = screening.run_id and taken.party_id = screening.party_id
    and (taken.batch_id is distinct from screening.batch_id or screening.response_id is null)
) retracted on true
left join lateral (
  select attempt.started_at, attempt.outcome, attempt.service_request_id
  from (
    select screening.batch_id
    union
    select taken.batch_id from retracted_answer taken where taken.run_id = screening.run_id and taken.party_id = screening.party_id
  ) saved
  cross join lateral (
    select * from search_attempt
    where run_id = screening.run_id and batch_id = saved.batch_id and request_id = screening.request_id offset 0
  ) attempt
  union all
  select started_at, outcome, service_request_id from search_call
  where run_id = screening.run_id and request_id = screening.request_id
) call on true;

-- Accepting a held run ends its retraction.
create view retraction_in_force as
select retraction.* from retraction
where retraction.kind <> 'held' or not exists (select from accepted_run where accepted_run.run_id = retraction.run_id);

-- The changes that count.
create view change_event as
select
  record.*,
  case when record.before_listed_id is not null then
    show_match(former, record.before_rank, record.before_is_hit, record.before_score)
  end as before,
  case when record.after_listed_id is not null then
    show_match(latter, record.after_rank, record.after_is_hit, record.after_score)
  end as after
from change_record record
left join listed_party former on former.listed_id = record.before_listed_id
left join listed_party latter on latter.listed_id = record.after_listed_id
-- Nearly all runs have none, which is looked up in a table in memory: a join with the few retractions took three times as long per change.
where record.run_id not in (select run_id from retraction) or not exists (
  select from retraction_in_force retracted
  where retracted.run_id = record.run_id and retracted.party_ids is null
    and record.batch_id between retracted.first_batch_id and retracted.last_batch_id
)
-- Those that name parties are of one batch each, and a run may have thousands.
and not exists (
  select from retraction_in_force retracted
  where retracted.run_id = record.run_id and retracted.first_batch_id = record.batch_id and record.party_id = any (retracted.party_ids)
    and (retracted.kind <> 'reclassified' or record.kind = 'match_removed')
);

create trigger change_record_batch after insert on change_record referencing new table as written for each statement
  execute function require_batch();
create trigger retracted_answer_batch after insert on retracted_answer referencing new table as written for each statement
  execute function require_batch();

create trigger refuse_rewriting before delete or update or truncate on change_record for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on change_alert for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on retraction for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on retracted_answer for each statement
  execute function refuse_rewriting();

-- A closing run needs only the number of rows of each run and party: a fifth of the usual sample shows it.
alter table change_record
  alter column run_id set statistics 20,
  alter column party_id set statistics 20,
  alter column is_baseline set statistics 20,
  alter column cause set statistics 20;
