-- What changed in the answers.

create table change_event (
  change_id bigint generated always as identity primary key,
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
  before jsonb,
  after jsonb,
  -- What moved the severity away from its rule's.
  adjustments text[] default '{}' not null check (adjustments <@ array['birth_date_contradicts', 'risk_tier']),
  -- Whether the customer's facts agree with the match; null where they were not compared.
  birth_date_agreement text check (birth_date_agreement in ('agree', 'contradict', 'unknown')),
  country_agreement text check (country_agreement in ('agree', 'contradict', 'unknown')),
  -- A hit for a sanction always stands by itself in a report; so does every change from before anybody noted it.
  sanction_hit boolean default true not null,
  -- The state of the alert of a change when the run closed that reported it: a report shows it, whenever it is made again.
  alert jsonb,
  -- Beside which record of the customer the answer before was given: a report of a change by the customer's own record shows both records.
  -- Null where it is the same record, for first screenings, and for changes from before this was noted.
  former_customer_version integer,
  foreign key (run_id, batch_id) references search_batch
);

create index change_event_by_party on change_event (party_id);

create index change_event_critical on change_event (run_id, change_id) where (severity = 'critical');

-- What a run has found is read from where its alerts were last made of it, however many changes it or earlier runs have.
create index change_event_in_order on change_event (run_id, change_id);

-- Changes that such answers seemed to show; nothing that reads change_event knows of them.
create table taken_back_change (
  change_id bigint primary key,
  run_id bigint not null references run,
  batch_id bigint not null,
  party_id bigint not null references party,
  customer_version integer not null,
  kind text not null,
  severity text not null,
  rule text not null,
  cause text not null,
  is_baseline boolean not null,
  match_id text not null,
  fields text[] not null,
  before jsonb,
  after jsonb,
  taken_back_at timestamptz not null,
  adjustments text[] default '{}' not null,
  birth_date_agreement text,
  country_agreement text,
  sanction_hit boolean default true not null,
  former_customer_version integer,
  foreign key (run_id, batch_id) references search_batch
);

create index taken_back_change_by_run on taken_back_change (run_id);

-- A closing run needs only the number of rows of each run and party: a fifth of the usual sample shows it.
alter table change_event
  alter column run_id set statistics 20,
  alter column party_id set statistics 20,
  alter column is_baseline set statistics 20,
  alter column cause set statistics 20;
