-- The changes that answers showed. A change counts once the wave of its answer is applied.

create table change (
  change_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  wave integer not null,
  -- The change that this one corrects, because the list turned out to be truncated.
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
  -- The listed party before and after, each with its place in the answer; null where there was or is none.
  before_listed_id bigint,
  before_rank integer,
  before_is_hit boolean,
  before_score double precision,
  after_listed_id bigint,
  after_rank integer,
  after_is_hit boolean,
  after_score double precision,
  -- What moved the severity from that of its rule.
  adjustments text[] default '{}' not null check (adjustments <@ array['birth_date_contradicts', 'risk_tier']),
  -- Whether the customer's facts agree with the match; null where they were not compared.
  birth_date_agreement agreement,
  country_agreement agreement,
  -- A report never groups a sanctions hit with similar changes.
  sanction_hit boolean default true not null,
  -- The record of the customer at the former answer: a report shows both records. Null where it is the same, and for first screenings.
  former_customer_version integer,
  check (num_nulls(before_listed_id, before_rank, before_is_hit, before_score) in (0, 4)),
  check (num_nulls(after_listed_id, after_rank, after_is_hit, after_score) in (0, 4))
);

create index change_by_party on change (party_id);
create index change_critical on change (run_id, change_id) where (severity = 'critical');
create index change_by_run on change (run_id, wave);

-- The alert of a change when the reporting run closed, so that a report can be written again. It refers only to rows that are never deleted.
create table change_alert (
  change_id bigint primary key,
  state alert_state not null,
  opened_at timestamptz not null,
  due_at timestamptz,
  assigned_to text,
  reopened_because text[] not null,
  -- Its last dispositions, by id.
  said bigint[] not null,
  -- The last disposition of a match that vanished when this one appeared, and that match.
  replaced_disposition_id bigint,
  replaced_listed_id bigint,
  check ((replaced_disposition_id is null) = (replaced_listed_id is null))
);

-- The screenings of each customer with their calls: a row per call, or one without a call.
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
-- `offset 0`: each run is read by its key. As a join the whole history was read: 6 s for 60 nights of 50,000.
cross join lateral (
  select * from screening where screening.run_id = run.run_id and screening.party_id = party.party_id offset 0
) screening
left join call on call.run_id = screening.run_id and call.request_id = screening.request_id;

-- All changes, applied or not, with the listed parties.
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
