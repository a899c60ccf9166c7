-- Screenings: plan and outcome, ledger of attempts, answers, matches, changes.

-- Plan and outcome of one party in one run, one compact record.
create table screening (
  run_id bigint not null references run,
  party_id bigint not null references party,
  request_id bigint not null,
  response_id bigint,
  batch_id bigint,
  customer_version integer not null,
  plan_reason text not null check (plan_reason in ('new', 'changed', 'due', 'forced', 'not_due', 'not_selected')),
  outcome text not null check (outcome in ('remaining', 'screened', 'reused', 'failed', 'skipped')),
  -- Stable code, for failed and skipped.
  outcome_reason text,
  primary key (run_id, party_id),
  check ((outcome in ('screened', 'reused')) = (response_id is not null))
) with (fillfactor = 80);

-- The ledger: every POST of a run, noted as in flight before it is sent.
create table search_attempt (
  attempt_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  request_id bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  status smallint,
  outcome text not null check (
    outcome in ('in_flight', 'ok', 'error_status', 'bad_response', 'timeout', 'connection', 'aborted', 'not_sent', 'unknown')
  ),
  service_request_id text
);

create index search_attempt_by_run on search_attempt (run_id, request_id);

-- Answers by keyed digest: an unchanged answer is stored once, ever.
create table response (
  response_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  digest bytea not null,
  body text not null,
  total bigint not null,
  truncated boolean not null,
  first_seen_at timestamptz not null,
  unique (organisation_id, digest)
);

create table match (
  response_id bigint not null references response,
  rank integer not null,
  match_id text not null,
  name text not null,
  schema text not null,
  is_hit boolean not null,
  score double precision not null,
  topics text[] not null,
  birth_dates text[] not null,
  countries text[] not null,
  primary key (response_id, rank)
);

-- The last valid answer for a party on an account, which the next one is compared with.
create table party_state (
  account_id bigint not null references account,
  party_id bigint not null references party,
  run_id bigint not null references run,
  request_id bigint not null,
  response_id bigint not null references response,
  customer_version integer not null,
  settings_digest text not null,
  screened_at timestamptz not null,
  state text not null check (state in ('clear', 'below_threshold', 'incompletely_seen', 'open_hit')),
  -- Scores last reported where they differ from the answer's, by match id: slow drift is measured from these.
  reported_scores jsonb,
  -- Known matches that cut lists have hidden since they were last seen.
  unreturned jsonb,
  primary key (account_id, party_id)
) with (fillfactor = 80);

create table change_event (
  change_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  batch_id bigint not null references commit_batch,
  party_id bigint not null references party,
  customer_version integer not null,
  kind text not null check (
    kind in ('match_added', 'match_changed', 'match_removed', 'match_not_returned', 'match_rekeyed', 'hit_gained', 'hit_lost')
  ),
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  rule text not null,
  cause text not null check (cause in ('service_data', 'customer_record', 'settings')),
  is_baseline boolean not null,
  match_id text not null,
  fields text[] not null,
  before jsonb,
  after jsonb
);

create index change_event_by_run on change_event (run_id, is_baseline);
create index change_event_by_party on change_event (party_id);

-- Control searches of a run and what came of them.
create table canary_outcome (
  run_id bigint not null references run,
  ordinal smallint not null,
  type text not null,
  name text not null,
  expect text not null check (expect in ('match', 'none')),
  verdict text not null check (verdict in ('passed', 'failed')),
  found text,
  response_id bigint references response,
  primary key (run_id, ordinal)
);
