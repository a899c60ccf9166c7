-- What reviewers have to decide about, what they have decided, and the history of both.

create table review_item (
  item_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  party_id bigint not null references party,
  state text not null check (state in ('open', 'proposed', 'settled', 'confirmed', 'gone')),
  -- The match as it was last seen, and the version of the customer's record beside which it was.
  listed jsonb not null,
  customer_version integer not null,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  rule text not null,
  priority smallint not null check (priority between 0 and 999),
  is_baseline boolean not null,
  -- Since when it waits: since it was opened, or opened again.
  opened_at timestamptz not null,
  due_at timestamptz,
  -- The decision that stands, or the proposal that nobody has confirmed yet.
  disposition_id bigint,
  assigned_to text
) with (fillfactor = 80);

create index review_item_by_party on review_item (party_id, account_id);
create index review_item_waiting on review_item (account_id) where state in ('open', 'proposed');

-- Each working list that was written.
create table review_sheet (
  sheet_id bigint generated always as identity primary key,
  exported_at timestamptz not null,
  exported_by text not null
);

create table disposition (
  disposition_id bigint generated always as identity primary key,
  item_id bigint not null references review_item,
  kind text not null check (kind in ('decided', 'proposed', 'confirmed', 'undone')),
  -- Null for a decision that is undone.
  verdict text check (verdict in ('true_match', 'false_positive', 'inconclusive')),
  reviewer text not null check (reviewer <> ''),
  -- True where nobody but the reviewer says who the reviewer is.
  is_attested boolean not null,
  reason text not null check (reason <> ''),
  comment text,
  decided_at timestamptz not null,
  origin text not null check (origin in ('review', 'legacy')),
  -- What the reviewer saw, and its keyed digest: the decision holds while it is the same.
  seen jsonb not null,
  seen_digest bytea not null,
  expires_at timestamptz,
  -- The working list that it came by.
  sheet_id bigint references review_sheet,
  -- The proposal that is confirmed, or the decision that is undone.
  refers_to bigint references disposition,
  check ((kind = 'undone') = (verdict is null)),
  check ((kind in ('confirmed', 'undone')) = (refers_to is not null))
);

create index disposition_by_item on disposition (item_id);

alter table review_item add constraint review_item_disposition_fkey foreign key (disposition_id) references disposition;

-- What became of an item in runs, and by people other than by deciding.
create table review_event (
  event_id bigint generated always as identity primary key,
  item_id bigint not null references review_item,
  kind text not null check (kind in ('opened', 'reopened', 'escalated', 'rekeyed', 'gone', 'returned', 'assigned')),
  happened_at timestamptz not null,
  run_id bigint references run,
  -- What was no longer as it was decided on; `expired`, `returned`.
  reasons text[] not null default '{}',
  severity text not null,
  actor text,
  assigned_to text,
  check ((kind = 'assigned') = (run_id is null))
);

create index review_event_by_item on review_event (item_id);

-- History is only added to; an empty table may be emptied.
create function refuse_rewriting() returns trigger language plpgsql as $$
declare
  is_filled boolean := true;
begin
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into is_filled;
  end if;
  if not is_filled then
    return null;
  end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'restrict_violation';
end
$$;

create trigger refuse_rewriting before update or delete or truncate on disposition for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before update or delete or truncate on review_event for each statement
  execute function refuse_rewriting();

-- What decisions have made of the state that the answer gives; null while there is anything in it to decide.
alter table party_state
  add column reviewed_state text check (reviewed_state in ('settled_false_positive', 'incompletely_seen', 'confirmed'));

-- On a server nobody decides under another name than that of their login, and where the role nightscreen_reviewer exists only its members
-- do. The embedded database knows one login only: there a name is attested.
create function require_reviewer() returns trigger language plpgsql as $$
begin
  if version() ~ 'emscripten' then
    if not new.is_attested then
      raise exception 'nobody is authenticated on the embedded database' using errcode = 'insufficient_privilege';
    end if;
  elsif new.is_attested or new.reviewer <> session_user then
    raise exception '% cannot decide in the name of %', session_user, new.reviewer using errcode = 'insufficient_privilege';
  elsif exists (select from pg_roles where rolname = 'nightscreen_reviewer')
    and not pg_has_role(session_user, 'nightscreen_reviewer', 'member') then
    raise exception '% is not a member of the role nightscreen_reviewer', session_user using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_reviewer before insert on disposition for each row execute function require_reviewer();

-- Up to which of a run's changes its items are made.
alter table run add column projected_change_id bigint;

-- What waited for reviewers when the run closed: a report says so, whenever it is made again.
alter table run add column open_items jsonb;

-- Whoever is an open hit already waits since the answer that first showed it, as far as that is known.
insert into review_item (
  account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at, due_at
)
select hit.account_id, hit.party_id, 'open', hit.listed, hit.customer_version,
  coalesce(change.severity, 'high'), coalesce(change.rule, 'hit_gained'), 500, coalesce(change.is_baseline, false),
  coalesce(change.changed_at, hit.screened_at), null
from (
  select state.account_id, state.party_id, state.customer_version, state.screened_at, jsonb_build_object(
      'rank', match.rank, 'id', match.match_id, 'name', match.name, 'schema', match.schema, 'isHit', match.is_hit, 'score', match.score,
      'topics', match.topics, 'birthDates', match.birth_dates, 'countries', match.countries
    ) as listed
  from party_state state
  join match on match.response_id = state.response_id and match.is_hit
  where state.state = 'open_hit'
  union all
  select state.account_id, state.party_id, state.customer_version, state.screened_at, hidden.listed
  from party_state state
  cross join lateral jsonb_array_elements(coalesce(state.unreturned, '[]')) as hidden (listed)
  where state.state = 'open_hit' and hidden.listed -> 'isHit' = 'true'
) hit
left join lateral (
  select event.severity, event.rule, event.is_baseline, batch.committed_at as changed_at
  from change_event event
  join commit_batch batch using (batch_id)
  where event.party_id = hit.party_id and event.match_id = hit.listed ->> 'id'
    and event.kind in ('match_added', 'hit_gained', 'match_rekeyed', 'match_changed')
  order by event.change_id desc limit 1
) change on true;

-- The state of a party by its answer and by what was decided about it.
create function to_standing_state(state text, reviewed_state text) returns text immutable language sql as $$
  select case when state = 'open_hit' or reviewed_state = 'confirmed' then coalesce(reviewed_state, state) else state end
$$;

-- A reviewer who may say of a party that it is settled need not be able to change runs, which looking one up under a lock asks for.
alter function require_run() security definer set search_path from current;
