-- Searches beside a plan: single checks and measurements of recall.

-- A single check is one search; a measurement stores its whole sample before its first search.
create table single_search (
  run_id bigint references run,
  -- From 1; a check has one.
  ordinal integer,
  request_id bigint not null references screening_request,
  -- As typed, or the spelling of a listed name; the request has the name as sent.
  name text not null,
  -- For a check: who requested it, when and why. For a measurement: the listed entry, its script, and how the spelling differs.
  facts jsonb not null,
  -- Null until it ends, with or without an answer.
  ended_at timestamptz,
  response_id bigint references response,
  -- The code of why there is no answer.
  outcome_reason text,
  -- What the answer to a check gave when it arrived.
  verdict answer_state,
  primary key (run_id, ordinal),
  check ((ended_at is null) or ((response_id is null) = (outcome_reason is not null))),
  check ((ended_at is not null) or (num_nonnulls(response_id, outcome_reason, verdict) = 0)),
  check ((verdict is null) or (response_id is not null)),
  check (
    facts -> 'askedBy' is null and verdict is null
    or num_nulls(nullif(facts ->> 'reason', ''), facts ->> 'askedBy', facts ->> 'askedAt') = 0
  )
);

create index single_search_by_request on single_search (request_id);
