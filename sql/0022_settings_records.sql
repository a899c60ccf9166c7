-- Who accepted which settings that judge, and why; who took a roster against its guards; how much the service's data usually changes.

-- The settings that judge as somebody accepted them; the newest of an organisation are in force.
create table settings_record (
  settings_record_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  settings jsonb not null,
  -- SHA-256 (hex) of them with their keys in order.
  digest text not null,
  -- What differs from the record before, in words; empty for the first.
  differences text[] not null,
  accepted_by text not null check (accepted_by <> ''),
  -- True where nobody but the person says who they are.
  is_attested boolean not null,
  reason text not null check (reason <> ''),
  accepted_at timestamptz not null
);

create index settings_record_by_organisation on settings_record (organisation_id, settings_record_id);

create trigger refuse_rewriting before update or delete or truncate on settings_record for each statement
  execute function refuse_rewriting();

-- Under which of them a run was begun.
alter table run add column settings_record_id bigint references settings_record;

-- The settings that the roster's last report before this one was made under; null where nothing is known of them.
alter table report add column former_settings_record_id bigint references settings_record;

-- Rosters that somebody took although guards would have held them.
create table roster_acceptance (
  acceptance_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  accepted_by text not null check (accepted_by <> ''),
  is_attested boolean not null,
  reason text not null check (reason <> ''),
  accepted_at timestamptz not null,
  -- Each guard with what it found, in words that give both figures.
  held_by jsonb not null
);

create index roster_acceptance_by_run on roster_acceptance (run_id);

create trigger refuse_rewriting before update or delete or truncate on roster_acceptance for each statement
  execute function refuse_rewriting();

-- On a server nobody accepts anything under another name than that of their login. The embedded database knows one login only: there a name
-- is attested. The first settings of an organisation nobody has to accept.
create function require_acceptor() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'settings_record' then
    if new.accepted_by = 'first settings' and not exists (select from settings_record where organisation_id = new.organisation_id) then
      return new;
    end if;
  end if;
  if version() ~ 'emscripten' then
    if not new.is_attested then
      raise exception 'nobody is authenticated on the embedded database' using errcode = 'insufficient_privilege';
    end if;
  elsif new.is_attested or new.accepted_by <> session_user then
    raise exception '% cannot accept anything in the name of %', session_user, new.accepted_by using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_acceptor before insert on settings_record for each row execute function require_acceptor();
create trigger require_acceptor before insert on roster_acceptance for each row execute function require_acceptor();

-- Changes of the service's data beside searches for customers who had been screened before: what is usual is told from these.
alter table run_watch
  add column searches_again integer,
  -- Changes per search, added up, and their squares: parties that share a search count once.
  add column changes double precision,
  add column change_squares double precision,
  add column volume jsonb;

update run_watch set searches_again = asked.searches, changes = found.changes, change_squares = found.squares
from run
cross join lateral (
  select count(distinct request_id)::integer as searches
  from screening where screening.run_id = run.run_id and outcome = 'screened' and plan_reason <> 'new'
) asked
cross join lateral (
  select coalesce(sum(events), 0)::double precision as changes, coalesce(sum(events ^ 2), 0)::double precision as squares
  from (
    select count(*)::double precision / count(distinct screening.party_id) as events
    from change_event event
    join screening on screening.run_id = event.run_id and screening.party_id = event.party_id and screening.outcome = 'screened'
    where event.run_id = run.run_id and not event.is_baseline and event.cause = 'service_data'
    group by screening.request_id
  ) by_search
) found
where run_watch.run_id = run.run_id
  and not exists (select from change_event event where event.run_id = run.run_id and event.cause = 'settings');
