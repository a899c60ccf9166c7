-- Runs whose answers are withheld because known hits vanished in bulk, webhooks that wait because far too many customers are newly open, and who
-- accepted either.

-- Of each run that came to its end: listed parties that were hits before it, by topic family, and how many of them it no longer found.
create table run_vanishing (
  run_id bigint not null references run,
  family text not null check (family in ('any', 'sanction', 'crime', 'pep', 'associate', 'other', 'unknown')),
  -- Among the customers that the run searched for; `standing`: among all of the roster.
  known integer not null,
  vanished integer not null check (vanished between 0 and known),
  standing integer not null check (standing >= known),
  primary key (run_id, family)
);

-- Searches that were made again before a run was judged.
create table run_second_search (
  run_id bigint primary key references run,
  searches integer not null,
  -- Listed parties that had vanished by the first answers.
  vanished integer not null,
  -- Whether every search that missed one of them was made again.
  is_whole boolean not null
);

create table run_hold (
  run_id bigint not null references run,
  -- `answers`: all answers of the run are withheld. `webhooks`: only what webhooks would be sent of it.
  kind text not null check (kind in ('answers', 'webhooks')),
  -- In words, with both figures.
  reasons text[] not null check (cardinality(reasons) > 0),
  customers integer not null,
  -- Alerts that its answers opened although they are withheld.
  opened_alerts integer not null default 0,
  -- How many customers of the roster are in which state while it is held.
  states jsonb not null default '{}',
  held_at timestamptz not null,
  -- When somebody accepted it.
  accepted_at timestamptz,
  primary key (run_id, kind)
);

-- Who proposed to accept a held run, and who accepted it.
create table run_acceptance (
  acceptance_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  is_proposal boolean not null,
  accepted_by text not null check (accepted_by <> ''),
  is_attested boolean not null,
  reason text not null check (reason <> ''),
  accepted_at timestamptz not null
);

create unique index run_acceptance_once on run_acceptance (run_id) where not is_proposal;
create index run_acceptance_by_run on run_acceptance (run_id);

create trigger refuse_rewriting before update or delete or truncate on run_acceptance for each statement
  execute function refuse_rewriting();
create trigger require_acceptor before insert on run_acceptance for each row execute function require_acceptor();

-- Where decisions need two people, accepting a run does too.
create function require_second_acceptor() returns trigger language plpgsql as $$
begin
  if not new.is_proposal
    and coalesce((
      select cardinality(rule.severities) from four_eyes_rule rule join run on run.organisation_id = rule.organisation_id
      where run.run_id = new.run_id order by rule.rule_id desc limit 1
    ), 0) > 0
    and not exists (
      select from run_acceptance proposal
      where proposal.run_id = new.run_id and proposal.is_proposal and proposal.accepted_by <> new.accepted_by
    )
  then
    raise exception 'accepting a run takes two people' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_second_acceptor before insert on run_acceptance for each row execute function require_second_acceptor();

-- An answer that a search was made again for stays as evidence beside the one that a held run takes back.
alter table taken_back_answer
  drop constraint taken_back_answer_pkey,
  add primary key (run_id, party_id, batch_id),
  -- Of a held run: what the party's state said, so that accepting the run restores it; null where only its date was new.
  add column answer jsonb;

-- Changes of state that wait until the run is accepted, and later ones of the same customers.
alter table webhook_event add column held_run_id bigint references run;
create index webhook_event_held on webhook_event (held_run_id) where held_run_id is not null;

-- As before, and whether the last answers for the customer are held.
create or replace view customer_screening_status as
select
  organisation.name as organisation,
  standing.roster,
  standing.reference,
  standing.in_scope,
  standing.state,
  standing.worst_topic,
  standing.waiting,
  standing.reason,
  standing.because,
  standing.last_state,
  standing.as_of,
  standing.never_screened,
  standing.due_at,
  standing.expires_at,
  standing.is_provisional,
  standing.risk_tier,
  case standing.is_test when true then 'test' when false then 'live' end as mode,
  to_char(run.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || run.kind || '-' || run.run_id as run_id,
  -- Null while the state is so new that no run and no decision has recorded it.
  case
    when last.to_state = standing.state and last.is_test = standing.is_test then last.changed_at
    when standing.reason = 'expired' then standing.expires_at
  end as changed_at,
  exists (
    select from run_hold hold
    join screening on screening.run_id = hold.run_id
    join party on party.party_id = screening.party_id
    where hold.kind = 'answers' and hold.accepted_at is null and hold.run_id > coalesce(standing.run_id, 0)
      and party.customer_id = standing.customer_id and screening.outcome = 'failed' and screening.outcome_reason = 'held'
  ) as held
from customer_standing standing
join organisation using (organisation_id)
left join run on run.run_id = standing.run_id
left join lateral (
  select change.to_state, change.is_test, change.changed_at from customer_state_change change
  where change.customer_id = standing.customer_id
  order by change.change_id desc limit 1
) last on true;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %1$s.require_second_acceptor set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;
