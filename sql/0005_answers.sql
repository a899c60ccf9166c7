-- The ledger of calls, each answer once, its matches, and the records behind the matches.
-- `planned` and `call` grow by a row per customer and night, so they are partitioned by run: 256 runs are about a month of three rosters that
-- are screened, swept and reconciled daily. Their one writer holds the lease of the run, so they need no foreign keys.

-- A transaction that saved answers or failures. Its number is known before the commit, so that a commit of unknown outcome is found again.
create table batch (
  run_id bigint references run,
  worker smallint,
  number integer,
  -- The wave of its answers.
  wave integer not null,
  committed_at timestamptz not null,
  primary key (run_id, worker, number)
);

-- The ledger: every POST of a run, noted before it is sent; its outcome is noted once.
create table call (
  run_id bigint not null,
  request_id bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- The answer for the parties of the plan, and the batch that saved it; null for all other calls.
  response_id bigint,
  batch integer,
  -- The process, and its number for the call.
  number integer not null,
  worker smallint not null,
  status smallint,
  outcome text default 'in_flight' not null check (outcome in (
    'in_flight', 'ok', 'error_status', 'bad_response', 'timeout', 'connection', 'aborted', 'not_sent', 'unknown'
  )),
  service_request_id text,
  primary key (run_id, request_id, worker, number),
  check ((response_id is null) = (batch is null)),
  check (response_id is null or outcome = 'ok')
) partition by range (run_id);

-- The answers of runs to planned requests, applied or not.
create view answer as
select call.run_id, call.request_id, call.response_id, batch.wave, batch.committed_at as answered_at
from call join batch on batch.run_id = call.run_id and batch.worker = call.worker and batch.number = call.batch;

-- Answers by keyed digest: an unchanged answer is stored once, ever.
create table response (
  response_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  digest bytea not null,
  body text not null,
  total bigint not null,
  truncated boolean not null,
  first_seen_at timestamptz not null,
  -- The sums of its matches, so that a closing run need not read them all.
  matches integer not null,
  hits integer not null,
  first_match_id text,
  -- The matches in the order of the answer; null without any. Listed parties are stored first and never deleted, so there is no foreign key.
  listed_ids bigint[],
  are_hits boolean[],
  scores double precision[],
  unique (organisation_id, digest),
  check ((hits >= 0) and (hits <= matches)),
  check (
    coalesce(cardinality(listed_ids), 0) = matches and coalesce(cardinality(are_hits), 0) = matches and coalesce(cardinality(scores), 0) = matches
  )
);

-- Listed parties as answers describe them: each description once, for all answers, changes and alerts.
create table listed_party (
  listed_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- SHA-256 of the description.
  digest bytea not null,
  match_id text not null,
  name text not null,
  schema text not null,
  topics text[] not null,
  birth_dates text[] not null,
  countries text[] not null,
  unique (organisation_id, digest)
);

-- The matches of each answer.
create view match as
select response.response_id, one.rank::integer as rank, one.listed_id, one.is_hit, one.score
from response
cross join lateral unnest(response.listed_ids, response.are_hits, response.scores) with ordinality as one (listed_id, is_hit, score, rank);

-- A match as JSON; its facts are null where the listed party is missing, which every reader refuses.
create function show_match(listed listed_party, rank integer, is_hit boolean, score double precision) returns jsonb stable language sql as $$
  select jsonb_build_object(
    'rank', rank, 'id', listed.match_id, 'name', listed.name, 'schema', listed.schema, 'isHit', is_hit, 'score', score,
    'topics', listed.topics, 'birthDates', listed.birth_dates, 'countries', listed.countries
  )
$$;

-- The records behind matches that a run requested, each once per run.
create table match_detail (
  run_id bigint references run,
  record_id text,
  account_id bigint not null references account,
  kind text not null check (kind in ('activity', 'entity')),
  asked_at timestamptz not null,
  status smallint,
  -- The code of why there is no body.
  reason text,
  service_request_id text,
  -- SHA-256 of the body as received and as stored; they differ where links were withheld.
  received_digest bytea check (length(received_digest) = 32),
  digest bytea check (length(digest) = 32),
  -- The JSON as received, without presigned links, which are never stored. Null where an earlier row of the record has the same digest.
  body text,
  withheld_links integer default 0 not null check (withheld_links >= 0),
  -- The AML entities that it names.
  entity_ids text[] default '{}' not null,
  primary key (run_id, record_id),
  check ((digest is null) = (reason is not null)),
  check ((digest is null) = (received_digest is null)),
  check ((body is null) or (digest is not null))
);

create index match_detail_by_record on match_detail (account_id, record_id, kind, digest);

-- The outcome of a call never changes.
create trigger call_ends_once before update on call for each row when (old.outcome <> 'in_flight') execute function refuse_rewriting();
