-- What the service answered: each answer once, its matches, and the records behind them.

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
  matches integer default 0 not null,
  hits integer default 0 not null,
  first_match_id text,
  unique (organisation_id, digest),
  check ((hits >= 0) and (hits <= matches))
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

-- Rows refer to listed parties that were stored before them and stay, so they need no foreign key.
create table match (
  response_id bigint references response,
  rank integer,
  listed_id bigint not null,
  is_hit boolean not null,
  score double precision not null,
  primary key (response_id, rank)
);

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

-- Lengths at which an account's lists were found to be cut without a word.
create table list_cap (
  cap_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  length integer not null check (length > 0),
  found_run_id bigint not null references run,
  found_at timestamptz not null,
  -- The run that had a longer list, or one that showed a shorter cap.
  gone_run_id bigint references run,
  gone_at timestamptz,
  check ((gone_run_id is null) = (gone_at is null))
);

create index list_cap_by_run on list_cap (found_run_id);

create index list_cap_by_last_run on list_cap (gone_run_id) where (gone_run_id is not null);

-- One at a time stands for an account.
create unique index list_cap_standing on list_cap (account_id) where (gone_at is null);

create trigger refuse_rewriting before delete or update or truncate on listed_party for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before delete or update or truncate on match_detail for each statement
  execute function refuse_rewriting();
