-- What the service was asked and what it answered: the ledger of calls, each answer once, its matches, and the records behind them.
-- What grows by every customer of every night (`planned`, `call`) is partitioned by run: 256 runs are about a month of three rosters, each
-- screened, swept and reconciled daily. Its one writer holds the lease of the run, so it needs no foreign keys.

-- One transaction that saved answers or failures of a run. Its number is given by the process before it commits, so that a commit of unknown
-- outcome is found again.
create table batch (
  run_id bigint references run,
  worker smallint,
  number integer,
  -- Of its answers.
  wave integer not null,
  committed_at timestamptz not null,
  primary key (run_id, worker, number)
);

-- The ledger: every POST of a run, noted before it is sent. What came of it is noted once.
create table call (
  run_id bigint not null,
  request_id bigint not null,
  started_at timestamptz not null,
  -- The process, and the number that it gave the call.
  number integer not null,
  worker smallint not null,
  -- What its end changes stands behind the rest, so that the log of an update is short.
  status smallint,
  ended_at timestamptz,
  -- The answer for the parties of the plan, and the batch that saved it; null for all other calls.
  response_id bigint,
  batch integer,
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
  -- What the matches of an answer come to, so that a run that closes need not read them all again.
  matches integer not null,
  hits integer not null,
  first_match_id text,
  -- The matches in the order of the answer; null where there are none. Listed parties are stored before them and stay, so they need no foreign key.
  listed_ids bigint[],
  are_hits boolean[],
  scores double precision[],
  unique (organisation_id, digest),
  check ((hits >= 0) and (hits <= matches)),
  check (
    coalesce(cardinality(listed_ids), 0) = matches and coalesce(cardinality(are_hits), 0) = matches and coalesce(cardinality(scores), 0) = matches
  )
);

-- The parties that a service's lists name, as its answers describe them: each description once, however many answers, changes and alerts refer
-- to it.
create table listed_party (
  listed_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- SHA-256 of the description, which finds it again.
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

-- A match as it is read: null throughout where its party is missing, which every reader refuses.
create function show_match(listed listed_party, rank integer, is_hit boolean, score double precision) returns jsonb stable language sql as $$
  select jsonb_build_object(
    'rank', rank, 'id', listed.match_id, 'name', listed.name, 'schema', listed.schema, 'isHit', is_hit, 'score', score,
    'topics', listed.topics, 'birthDates', listed.birth_dates, 'countries', listed.countries
  )
$$;

-- Each record behind a match that a run asked for, once in a run.
create table match_detail (
  run_id bigint references run,
  record_id text,
  account_id bigint not null references account,
  kind text not null check (kind in ('activity', 'entity')),
  asked_at timestamptz not null,
  status smallint,
  -- Stable code of why there is nothing to keep.
  reason text,
  service_request_id text,
  -- SHA-256 of the body as received, and of what is kept of it; they differ where links were withheld.
  received_digest bytea check (length(received_digest) = 32),
  digest bytea check (length(digest) = 32),
  -- The JSON as it came, but for links that open something by themselves: they are never stored. Null where an earlier row of the record has the
  -- same digest: what is the same again is kept once.
  body text,
  withheld_links integer default 0 not null check (withheld_links >= 0),
  -- AML entities that it names.
  entity_ids text[] default '{}' not null,
  primary key (run_id, record_id),
  check ((digest is null) = (reason is not null)),
  check ((digest is null) = (received_digest is null)),
  check ((body is null) or (digest is not null))
);

create index match_detail_by_record on match_detail (account_id, record_id, kind, digest);

-- What came of a call is never changed.
create trigger call_ends_once before update on call for each row when (old.outcome <> 'in_flight')
  execute function refuse_rewriting();
