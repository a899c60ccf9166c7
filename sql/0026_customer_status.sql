-- How each customer stands now, for the systems that block accounts, and each change of that.

-- Each time a customer's state was seen to be another than before: when a run was planned or closed, or a reviewer decided.
create table customer_state_change (
  change_id bigint generated always as identity primary key,
  customer_id bigint not null,
  -- Null for a customer whose first state this is.
  from_state text,
  to_state text not null,
  reason text,
  is_test boolean not null,
  as_of timestamptz,
  due_at timestamptz,
  expires_at timestamptz,
  run_id bigint references run,
  changed_at timestamptz not null
);

create index customer_state_change_by_customer on customer_state_change (customer_id, change_id);

create trigger refuse_orphans_of_states after delete on customer referencing old table as gone for each statement
  execute function refuse_orphans('customer_state_change.customer_id.customer_id');

-- Everybody in scope of a roster once, in the worst state of their parties, by what is stored and at one moment: now, unless the session's
-- setting nightscreen.status_at names another. It is judged by the account of the roster's last live run, else of its last test run, and by
-- the cadence that this account's last run planned with. What counts is what counts for coverage and for the plan of a run.
create view customer_standing as
with basis as materialized (
  select
    roster.organisation_id, roster.roster_id, roster.name as roster, account.account_id, account.is_test,
    coalesce(nullif(current_setting('nightscreen.status_at', true), '')::timestamptz, now()) as moment,
    -- Of the last three plans: what was left out or failed in them.
    array(
      select run.run_id from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.in_scope is not null
      order by run.run_id desc limit 3
    ) as plan_run_ids,
    (
      select run.cadence -> 'hours' from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.cadence is not null
      order by run.run_id desc limit 1
    ) as cadence_hours
  from roster
  left join lateral (
    select account.account_id, account.is_test
    from run join account using (account_id)
    where run.roster_id = roster.roster_id
    order by account.is_test, run.run_id desc limit 1
  ) account on true
)
select
  basis.organisation_id, basis.roster_id, basis.roster, basis.is_test, basis.moment,
  customer.customer_id, customer.reference, tier.risk_tier,
  (states.in_order)[customer_state.worst] as state,
  (array['never', 'changed', 'expired', 'unproven'])[customer_state.standing] as reason,
  customer_state.because,
  (states.in_order)[customer_state.worst_seen] as last_state,
  customer_state.screened_at as as_of,
  case when customer_state.standing > 2 then customer_state.screened_at + tier.cadence end as due_at,
  -- An hour for a night that starts late.
  case when customer_state.standing > 2 then customer_state.screened_at + tier.cadence + interval '1 hour' end as expires_at,
  customer_state.is_provisional,
  customer_state.run_id,
  customer_state.open_items
from basis
join customer on customer.roster_id = basis.roster_id
join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
cross join (
  -- Best first; a customer's is the last that any of its parties has.
  select array['clear', 'below_threshold', 'settled_false_positive', 'incompletely_seen', 'not_screened', 'open_hit', 'confirmed'] as in_order
) states
cross join lateral (
  select
    coalesce(version.risk_tier, 'high') as risk_tier,
    coalesce((basis.cadence_hours ->> coalesce(version.risk_tier, 'high'))::double precision, 24) * interval '1 hour' as cadence
) tier
cross join lateral (
  select
    min(judged.standing) as standing,
    max(array_position(states.in_order, case when judged.standing < 5 then 'not_screened' else judged.state end)) as worst,
    max(array_position(states.in_order, judged.state)) as worst_seen,
    min(judged.screened_at) filter (where judged.screened_at > 'epoch') as screened_at,
    min(judged.run_id) as run_id,
    bool_or(judged.is_open_hit) as has_open_hit,
    bool_or(judged.is_provisional) as is_provisional,
    min(failure.because) as because,
    coalesce(sum(items.waiting), 0)::integer as open_items
  from (
    select
      held.*,
      case
        when held.run_id is null then 1
        when held.request_id <> party.request_id or held.screened_at < customer.returned_at or party.is_current and facts.have_changed then 2
        when held.screened_at + tier.cadence + interval '1 hour' <= basis.moment then 3
        -- With a live key only what control searches have vouched for.
        when not basis.is_test and held.confirmed_batch_id is null then 4
        else 5
      end as standing
    from party
    -- What was answered last, unless that waits for control searches: then what it took the place of.
    cross join lateral (
      select
        party.party_id,
        to_standing_state(newest.state, newest.reviewed_state) = 'open_hit' as is_open_hit,
        case when pending.former is null then newest.run_id else newest.former_run_id end as run_id,
        case when pending.former is null then newest.screened_at else newest.former_screened_at end as screened_at,
        coalesce((pending.former ->> 'request_id')::bigint, newest.request_id) as request_id,
        coalesce((pending.former ->> 'customer_version')::integer, newest.customer_version) as customer_version,
        case
          when pending.former is not null and newest.former_run_id is null then null
          when pending.former is null or newest.former_answer is null then to_standing_state(newest.state, newest.reviewed_state)
          else to_standing_state(pending.former ->> 'state', pending.former ->> 'reviewed_state')
        end as state,
        case
          when pending.former is null then origin.confirmed_batch_id
          else (select former.confirmed_batch_id from run former where former.run_id = newest.former_run_id)
        end as confirmed_batch_id,
        pending.former is null and origin.state in ('running', 'stopped') as is_provisional
      from (select 1) always
      left join party_state newest on newest.account_id = basis.account_id and newest.party_id = party.party_id
      left join run origin on origin.run_id = newest.run_id
      left join lateral (
        select coalesce(newest.former_answer, '{}') as former
        from screening
        where origin.state in ('running', 'stopped')
          and screening.run_id = newest.run_id and screening.party_id = party.party_id
          and screening.outcome in ('screened', 'reused') and screening.batch_id > coalesce(origin.confirmed_batch_id, 0)
          and exists (select from canary_outcome where canary_outcome.run_id = newest.run_id)
        limit 1
      ) pending on true
      where party.is_current or to_standing_state(newest.state, newest.reviewed_state) = 'open_hit'
      offset 0
    ) held
    -- What identifies the party beside what is sent.
    left join lateral (
      select true as have_changed
      from customer_version former
      cross join lateral (select former.record -> 'parties' -> party.ordinal as facts) before
      cross join lateral (select version.record -> 'parties' -> party.ordinal as facts) after
      where held.customer_version <> customer.version
        and former.customer_id = customer.customer_id and former.version = held.customer_version
        and (
          before.facts ->> 'birthDate' is distinct from after.facts ->> 'birthDate'
          or (before.facts -> 'countries' @> (after.facts -> 'countries') and after.facts -> 'countries' @> (before.facts -> 'countries')) is not true
        )
      limit 1
    ) facts on true
    where party.customer_id = customer.customer_id
    offset 0
  ) judged
  -- Why there is no later valid answer.
  left join lateral (
    select case screening.outcome when 'remaining' then 'remaining' else screening.outcome_reason end as because
    from screening
    where judged.standing < 5
      and screening.run_id = any (basis.plan_run_ids) and screening.party_id = judged.party_id
      and screening.run_id >= coalesce(judged.run_id, 0)
      and (screening.outcome in ('failed', 'remaining') or screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due')
    order by screening.run_id desc limit 1
  ) failure on true
  cross join lateral (
    select count(*) as waiting from review_item item
    where item.party_id = judged.party_id and item.account_id = basis.account_id and item.state in ('open', 'proposed')
  ) items
) customer_state
-- Whoever has left stays while there is a hit that nobody has decided about.
where customer.left_at is null or customer_state.has_open_hit;

-- Exactly one row for each customer in scope: what other systems read, with rights on this view alone.
create view customer_screening_status as
select
  organisation.name as organisation,
  standing.roster,
  standing.reference,
  standing.state,
  standing.reason,
  standing.because,
  standing.last_state,
  standing.as_of,
  standing.due_at,
  standing.expires_at,
  standing.is_provisional,
  standing.open_items,
  standing.risk_tier,
  case standing.is_test when true then 'test' when false then 'live' end as mode,
  to_char(run.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || run.kind || '-' || run.run_id as run_id,
  -- Null while the state is so new that no run and no decision has recorded it.
  case
    when last.to_state = standing.state and last.is_test = standing.is_test then last.changed_at
    when standing.reason = 'expired' then standing.expires_at
  end as changed_at
from customer_standing standing
join organisation using (organisation_id)
left join run on run.run_id = standing.run_id
left join lateral (
  select change.to_state, change.is_test, change.changed_at from customer_state_change change
  where change.customer_id = standing.customer_id
  order by change.change_id desc limit 1
) last on true;

-- Where changes of state are told; as the configuration of the last run says.
create table webhook (
  webhook_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  url text not null,
  -- Only changes from or to one of these; null for all.
  states text[],
  -- Only customers of these rosters; null for all.
  rosters text[],
  is_active boolean not null,
  unique (organisation_id, url)
);

-- Changes of state that are in no message to this webhook yet.
create table webhook_event (
  webhook_id bigint not null references webhook,
  change_id bigint not null,
  primary key (webhook_id, change_id)
);
