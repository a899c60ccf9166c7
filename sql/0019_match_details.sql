-- What the service says of single matches beyond the answer to a search, fetched for new hits and kept as evidence.

create table match_detail (
  detail_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  kind text not null check (kind in ('activity', 'entity')),
  record_id text not null,
  -- SHA-256 of `body`: what is the same again is kept once.
  digest bytea not null check (length(digest) = 32),
  -- The JSON as it came, but for links that open something by themselves: they are never stored.
  body text not null,
  withheld_links integer not null check (withheld_links >= 0),
  -- AML entities that it names.
  entity_ids text[] not null,
  first_run_id bigint not null references run,
  first_fetched_at timestamptz not null,
  unique (account_id, kind, record_id, digest)
);

-- Each record that a run asked for, once in a run.
create table detail_lookup (
  run_id bigint not null references run,
  kind text not null check (kind in ('activity', 'entity')),
  record_id text not null,
  asked_at timestamptz not null,
  status smallint,
  -- Stable code of why there is nothing to keep.
  reason text,
  detail_id bigint references match_detail,
  -- SHA-256 of the body as received; another than the kept one's where links were withheld.
  received_digest bytea check (length(received_digest) = 32),
  service_request_id text,
  primary key (run_id, record_id),
  check ((detail_id is null) = (reason is not null)),
  check ((detail_id is null) = (received_digest is null))
);

create index detail_lookup_by_detail on detail_lookup (detail_id);

create trigger refuse_rewriting before update or delete or truncate on match_detail for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before update or delete or truncate on detail_lookup for each statement
  execute function refuse_rewriting();

-- How many hits were new, and how many of their records were asked for; null where none were to be fetched.
alter table run add column details jsonb;
