-- Single checks, and comparisons with published lists.

-- One ad-hoc search: who asked for it and why; what it came to hangs on the answer.
create table single_check (
  run_id bigint primary key references run,
  request_id bigint not null references screening_request,
  -- As it was typed; what was sent stands in the request.
  name text not null,
  reason text not null check (reason <> ''),
  asked_by text not null,
  asked_at timestamptz not null,
  outcome text not null check (outcome in ('in_progress', 'answered', 'not_answered')),
  -- Stable code of what stood in the way.
  outcome_reason text,
  response_id bigint references response,
  -- What the answer said when it came.
  verdict text not null check (verdict in ('clear', 'below_threshold', 'truncated', 'open_alert', 'not_screened')),
  ended_at timestamptz,
  check ((outcome = 'answered') = (response_id is not null)),
  check ((outcome = 'answered') = (verdict <> 'not_screened')),
  check ((outcome = 'in_progress') = (ended_at is null))
);

create index single_check_by_request on single_check (request_id);

create index single_check_by_response on single_check (response_id) where (response_id is not null);

-- The published list that was compared with the customers before a run was planned; whom it forced stands in that run's plan.
create table list_comparison (
  run_id bigint primary key references run,
  file text not null,
  format text not null,
  -- SHA-256 (hex) of every file that was read.
  files jsonb not null,
  digest text not null,
  listed integer not null,
  spellings integer not null,
  compared_parties integer default 0 not null,
  forced_parties integer default 0 not null,
  forced_customers integer default 0 not null,
  -- Null until every customer has been compared with it.
  compared_at timestamptz
);

-- A measurement of recall, whose sample is stored before it is searched for.
create table assurance (
  run_id bigint primary key references run,
  file text not null,
  format text not null,
  files jsonb not null,
  digest text not null,
  listed integer not null,
  seed text not null,
  spelling text not null check (spelling in ('as_listed', 'variants')),
  sample_size integer not null,
  at_least double precision
);

create table assurance_item (
  run_id bigint references assurance,
  ordinal integer,
  request_id bigint not null references screening_request,
  listed_id text,
  listed_name text not null,
  type text not null check (type in ('person', 'entity')),
  script text not null,
  -- How the name that was sent differs from the listed one.
  variant text not null,
  sent_name text not null,
  outcome text not null check (outcome in ('remaining', 'answered', 'failed')),
  outcome_reason text,
  response_id bigint references response,
  answered_at timestamptz,
  primary key (run_id, ordinal),
  check ((outcome = 'answered') = (response_id is not null))
);

create index assurance_item_by_request on assurance_item (request_id);

create index assurance_item_by_response on assurance_item (response_id) where (response_id is not null);
