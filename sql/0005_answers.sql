-- What the service was asked and what it answered: the ledger of calls, each answer once, its matches, and the records behind them.
-- What grows by every customer of every night (`search_batch`, `search_call`, `screening_block`) is partitioned by run: 256 runs are about a
-- month of three rosters, each screened, swept and reconciled daily. All else of an unchanged night is rows that differ from the usual.

-- What one transaction of a run saved, written once; evidence hangs on these. All searches that were answered lie in arrays of one order:
-- a row for each would take four times the space.
create table search_batch (
  run_id bigint references run,
  -- Given by the process before it commits, so that a commit of unknown outcome is found again: the worker in the upper 32 bits, its
  -- sequence in the lower ones. Batches of a run are in the order of their numbers.
  batch_id bigint,
  committed_at timestamptz not null,
  -- Answered searches, as offsets; whole numbers where these do not fit.
  request_base bigint,
  requests integer[],
  wide_requests bigint[],
  -- The one call of each search that was answered at once: its number after `call_base` (from bit 48), the milliseconds from its start
  -- to the commit (from bit 24), and those that it took. Null: its calls are in `search_call`.
  call_base integer,
  calls bigint[],
  -- What the service called these calls: a common prefix with a UUID each, or whole texts.
  service_prefix text,
  service_ids uuid[],
  service_texts text[],
  primary key (run_id, batch_id)
) partition by range (run_id);

-- Calls that were noted and have not ended, by groups: noted before they are sent, emptied by the commit of what came of them.
create table call_in_flight (
  run_id bigint references run,
  worker integer,
  -- The number of the first call; those of the others follow.
  first_call integer,
  noted_at timestamptz not null,
  -- Null for a call that has ended.
  requests bigint[] not null,
  primary key (run_id, worker, first_call)
) with (fillfactor = 50);

-- Calls that differ from the usual: not answered, repeated, for no customer, or unknown after a crash.
create table search_call (
  run_id bigint references run,
  -- The worker in the upper 32 bits, the number that it gave the call in the lower ones.
  attempt_id bigint,
  request_id bigint not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  status smallint,
  outcome text not null check (outcome in (
    'ok', 'error_status', 'bad_response', 'timeout', 'connection', 'aborted', 'not_sent', 'unknown'
  )),
  service_request_id text,
  primary key (run_id, attempt_id)
) partition by range (run_id);

-- The ledger: every POST of a run, noted as in flight before it is sent. A call that lies in a batch is found by it: one run has thousands.
create view search_attempt as
select
  batch.run_id, batch.batch_id, (batch.batch_id >> 32 << 32) + batch.call_base + (one.call >> 48) as attempt_id,
  coalesce(batch.request_base + one.request, one.wide_request) as request_id,
  batch.committed_at - (one.call >> 24 & 16777215) * interval '1 millisecond' as started_at,
  batch.committed_at - ((one.call >> 24 & 16777215) - (one.call & 16777215)) * interval '1 millisecond' as ended_at,
  201::smallint as status, 'ok' as outcome,
  coalesce(batch.service_prefix || one.service_id, one.service_text) as service_request_id
from search_batch batch
cross join lateral unnest(batch.requests, batch.wide_requests, batch.calls, batch.service_ids, batch.service_texts)
  as one (request, wide_request, call, service_id, service_text)
where one.call is not null
union all
select run_id, null, attempt_id, request_id, started_at, ended_at, status, outcome, service_request_id from search_call
union all
select
  flight.run_id, null, (flight.worker::bigint << 32) + flight.first_call + one.place - 1, one.request_id, flight.noted_at, null, null,
  'in_flight', null
from call_in_flight flight
cross join lateral unnest(flight.requests) with ordinality as one (request_id, place)
where one.request_id is not null;

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

create trigger refuse_rewriting before delete or update or truncate on response for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on listed_party for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on match_detail for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on search_batch for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on search_call for each statement
  execute function refuse_rewriting();
