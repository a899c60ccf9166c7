-- What answers changed: evidence, never changed or removed. A change counts once the wave of its answer is applied.

create table change (
  change_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  wave integer not null,
  -- The change that this one corrects, because its list proved to be cut.
  replaces bigint unique references change,
  party_id bigint not null references party,
  customer_version integer not null,
  kind text not null check (kind in (
    'match_added', 'match_changed', 'match_removed', 'match_not_returned',
    'match_rekeyed', 'match_returned', 'hit_gained', 'hit_lost'
  )),
  severity severity not null,
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
  birth_date_agreement agreement,
  country_agreement agreement,
  -- A hit for a sanction always stands by itself in a report; so does every change from before anybody noted it.
  sanction_hit boolean default true not null,
  -- Beside which record of the customer the answer before was given: a report of a change by the customer's own record shows both records.
  -- Null where it is the same record, for first screenings, and for changes from before this was noted.
  former_customer_version integer,
  check (num_nulls(before_listed_id, before_rank, before_is_hit, before_score) in (0, 4)),
  check (num_nulls(after_listed_id, after_rank, after_is_hit, after_score) in (0, 4))
);

create index change_by_party on change (party_id);

create index change_critical on change (run_id, change_id) where (severity = 'critical');

create index change_by_run on change (run_id, wave);

-- The state of the alert of a change when the run closed that reported it: a report shows it, whenever it is made again. Rows are made from
-- changes, dispositions and listed parties, which stay, so they need no foreign key. What these say in words is read there.
create table change_alert (
  change_id bigint primary key,
  state alert_state not null,
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

-- Who was screened when, and by which calls: one row for each, one without a call where there was none. One customer and run are found by
-- indexes, however many there are.
create view customer_search as
select
  organisation.name as organisation, roster.name as roster, customer.reference, party.ordinal, run.run_id, run.mode,
  run.state as run_state, run.started_at as run_started_at,
  screening.plan_reason, screening.outcome, screening.outcome_reason, screening.response_id,
  call.started_at as called_at, call.outcome as call_outcome, call.service_request_id
from organisation
join roster on roster.organisation_id = organisation.organisation_id
join customer on customer.roster_id = roster.roster_id
join party on party.customer_id = customer.customer_id
join run on run.roster_id = roster.roster_id
-- `offset 0`: one run after the other, by its key. As a join, all history was read: 6 s for 60 nights of 50,000.
cross join lateral (
  select * from screening where screening.run_id = run.run_id and screening.party_id = party.party_id offset 0
) screening
left join call on call.run_id = screening.run_id and call.request_id = screening.request_id;

-- All changes that answers showed, applied or not, with the listed parties.
create view found_change as
select
  change.*,
  case when change.before_listed_id is not null then
    show_match(former, change.before_rank, change.before_is_hit, change.before_score)
  end as before,
  case when change.after_listed_id is not null then
    show_match(latter, change.after_rank, change.after_is_hit, change.after_score)
  end as after
from change
left join listed_party former on former.listed_id = change.before_listed_id
left join listed_party latter on latter.listed_id = change.after_listed_id
where not exists (select from change later where later.replaces = change.change_id);

-- The changes that count: those of applied answers.
create view change_event as
select found.*
from found_change found
join run on run.run_id = found.run_id and found.wave <= run.applied_wave
where not exists (select from next_state next where next.run_id = found.run_id and next.party_id = found.party_id and next.is_superseded);

-- A closing run needs only the number of rows of each run and party: a fifth of the usual sample shows it.
alter table change
  alter column run_id set statistics 20,
  alter column party_id set statistics 20,
  alter column is_baseline set statistics 20,
  alter column cause set statistics 20;
