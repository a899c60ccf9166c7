-- A customer's answers are held while any of its parties has no later answer, of a run that has ended, on an account of the same mode.

alter table run_second_search drop column is_whole;

-- As before but for `held`: by party and account, because a customer's parties may have been answered for by different runs.
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
    join run held on held.run_id = hold.run_id
    join account on account.account_id = held.account_id and account.is_test = standing.is_test
    join screening on screening.run_id = hold.run_id and screening.outcome = 'failed' and screening.outcome_reason = 'held'
    join party on party.party_id = screening.party_id and party.customer_id = standing.customer_id
    where hold.kind = 'answers' and hold.accepted_at is null
      and not exists (
        select from party_state newer
        join run answering on answering.run_id = newer.run_id and answering.state not in ('running', 'stopped')
        join account of_newer on of_newer.account_id = newer.account_id and of_newer.is_test = account.is_test
        where newer.party_id = screening.party_id and newer.run_id > hold.run_id
      )
  ) as held
from customer_standing standing
join organisation using (organisation_id)
left join run on run.run_id = standing.run_id
left join lateral (
  select change.to_state, change.is_test, change.changed_at from customer_state_change change
  where change.customer_id = standing.customer_id
  order by change.change_id desc limit 1
) last on true;

-- As before; on the embedded database a second person is only another name that the first one types.
create or replace function require_second_acceptor() returns trigger language plpgsql as $$
begin
  if not new.is_proposal
    and coalesce((
      select cardinality(rule.severities) from four_eyes_rule rule join run on run.organisation_id = rule.organisation_id
      where run.run_id = new.run_id order by rule.rule_id desc limit 1
    ), 0) > 0
    and (version() ~ 'emscripten' or not exists (
      select from run_acceptance proposal
      where proposal.run_id = new.run_id and proposal.is_proposal and proposal.accepted_by <> new.accepted_by
    ))
  then
    raise exception 'accepting a run takes two people' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %1$s.require_second_acceptor set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;
