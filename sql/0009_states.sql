-- The state of each customer, and its changes.

-- The state of each customer on each account that has screened its roster. `judge_customers` writes it whenever something may have changed it; the
-- view `customer_judgement` defines it. A night may write a row per customer, so it has no foreign keys, like the ledger.
create table customer_state (
  account_id bigint not null,
  customer_id bigint not null,
  risk_tier text not null,
  -- By the last answers and the alerts of all its parties, however old the answers are; null without any.
  last_state text,
  -- Why these answers do not count, whatever their age; null where they count.
  reason text check (reason in ('never', 'changed', 'unproven', 'conflicting_duplicate', 'related_party_unreadable', 'doubtful_name')),
  -- Why there is no later valid answer, by a stable code, and the run that says so; null where the newest answer is valid.
  because text,
  because_run_id bigint,
  -- The last search failed, and `because` says why.
  has_failed boolean default false not null,
  waiting integer not null,
  worst_topic text,
  -- As last recorded in `customer_state_change`, and when. Screenings may have expired since.
  state text not null,
  changed_at timestamptz not null,
  run_id bigint,
  -- Of the oldest and the newest of the answers.
  as_of timestamptz,
  latest_at timestamptz,
  primary key (customer_id, account_id)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Each time a customer's state was seen to be another than before.
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
  run_id bigint,
  changed_at timestamptz not null
);

create index customer_state_change_by_customer on customer_state_change (customer_id, change_id);

-- Customers to be searched for: their dossier has changed, or was in an event about AML screening, and they have not been searched for since.
create table customer_mark (
  account_id bigint references account,
  customer_id bigint references customer,
  marked_at timestamptz not null,
  -- The run that was to search last; null where the customer was marked after it was planned.
  tried_run_id bigint references run,
  tried_at timestamptz,
  primary key (account_id, customer_id)
);

create index customer_mark_by_customer on customer_mark (customer_id);
create index customer_mark_by_run on customer_mark (tried_run_id) where (tried_run_id is not null);

-- Each party of each roster on each account (null: no account yet) by its last applied answer and by its alerts.
create view party_standing as
select
  roster.organisation_id, roster.roster_id, account.account_id,
  customer.customer_id, customer.reference, customer.version, customer.left_at, customer.unreadable_party_since,
  coalesce(version.risk_tier, 'high') as risk_tier, version.has_doubtful_name,
  party.party_id, party.ordinal, party.is_current, party.request_id,
  answer.run_id, answer.screened_at, answer.customer_version as answered_version, answer.failed_run_id,
  -- What is sent has changed, or what identifies the party beside it, or the customer was away in between.
  coalesce(
    answer.request_id <> party.request_id or answer.screened_at < customer.returned_at or party.is_current and facts.have_changed, false
  ) as has_changed,
  -- With a live key an answer counts only when control searches have vouched for its run.
  answer.run_id is not null and (account.is_test or answering.proven_wave > 0) as is_proven,
  -- By the answer alone; hits that are all settled, or may be cut off, are known by the alerts.
  case
    when answer.state is distinct from 'open_alert' then answer.state
    when alerts.settled = 0 then 'open_alert'
    when answer.unreturned is not null or exists (
      select from response
      where response.response_id = answer.response_id and (response.truncated or response.total = account.list_cap)
    ) then 'truncated'
    else 'false_positive'
  end as answer_state,
  alerts.waiting, alerts.is_true_match, alerts.topic_place
from roster
cross join lateral (
  select account_id, is_test, list_cap from account where account.organisation_id = roster.organisation_id
  union all select null, null, null
) account
join customer on customer.roster_id = roster.roster_id
join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
join party on party.customer_id = customer.customer_id
left join party_state answer on answer.account_id = account.account_id and answer.party_id = party.party_id
left join run answering on answering.run_id = answer.run_id
left join lateral (
  select true as have_changed
  from customer_version former
  cross join lateral (select former.record -> 'parties' -> party.ordinal as facts) before
  cross join lateral (select version.record -> 'parties' -> party.ordinal as facts) after
  where answer.customer_version <> customer.version
    and former.customer_id = customer.customer_id and former.version = answer.customer_version
    and (
      before.facts ->> 'birthDate' is distinct from after.facts ->> 'birthDate'
      or (before.facts -> 'countries' @> (after.facts -> 'countries') and after.facts -> 'countries' @> (before.facts -> 'countries')) is not true
    )
  limit 1
) facts on true
cross join lateral (
  select
    count(*) filter (where alert.state in ('open', 'pending_approval'))::integer as waiting,
    count(*) filter (where alert.state = 'false_positive') as settled,
    coalesce(bool_or(alert.is_true_match), false) as is_true_match,
    min(array_position(array['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'], alert.topic))
      filter (where alert.state in ('open', 'pending_approval') or alert.is_true_match) as topic_place
  from alert
  where alert.party_id = party.party_id and alert.account_id = account.account_id and alert.state <> 'no_longer_matched'
) alerts
where party.is_current or alerts.waiting > 0 or alerts.is_true_match;

-- The offboarded customers who stay in scope, because an alert waits. Most rosters have none, and the view takes 15 ms to plan.
create function open_leavers(for_roster bigint, for_account bigint) returns setof bigint language plpgsql stable as $$
begin
  if exists (select from customer where roster_id = for_roster and left_at is not null) then
    return query
      select party.customer_id from party_standing party
      where party.roster_id = for_roster and party.account_id is not distinct from for_account and party.left_at is not null
        and party.waiting > 0;
  end if;
end
$$;

-- What the answers, alerts and dispositions of its parties say of each customer, whatever the time is.
create view customer_judgement as
select
  party.roster_id, party.account_id, party.customer_id, party.risk_tier,
  (states.in_order)[max(array_position(states.in_order, case
    when party.is_true_match then 'true_match'
    when party.waiting > 0 then 'open_alert'
    else party.answer_state
  end))] as last_state,
  case
    when bool_or(party.run_id is null) then 'never'
    when bool_or(party.has_changed) then 'changed'
    when not bool_and(party.is_proven) then 'unproven'
    -- Rows that contradict each other, and no accepted one: nobody can say who the customer is, though every name in them is searched for.
    when min(party.ordinal) > 0 then 'conflicting_duplicate'
    when party.unreadable_party_since is not null then 'related_party_unreadable'
    when party.has_doubtful_name then 'doubtful_name'
  end as reason,
  party.left_at is null or sum(party.waiting) > 0 or bool_or(party.is_true_match) as is_listed,
  sum(party.waiting)::integer as waiting,
  (array['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'])[min(party.topic_place)] as worst_topic,
  min(party.run_id) as run_id,
  min(party.screened_at) as as_of,
  max(party.screened_at) as latest_at
from party_standing party
cross join (
  -- Best first.
  select array['clear', 'below_threshold', 'false_positive', 'truncated', 'not_screened', 'open_alert', 'true_match'] as in_order
) states
group by
  party.roster_id, party.account_id, party.customer_id, party.risk_tier, party.left_at, party.unreadable_party_since, party.has_doubtful_name,
  states.in_order;

-- For how long a screening is valid, as in src/screening/cadence.ts: its cadence, two hours so that one night skips it, and one for a late night.
create function to_validity(cadence interval) returns interval language sql immutable parallel safe as $$
  select cadence + case when cadence < interval '1 day' then interval '1 hour' else interval '3 hours' end
$$;

-- How often customers of a tier are screened, by a roster's hours.
create function to_cadence(hours jsonb, risk_tier text) returns interval language sql immutable parallel safe as $$
  select coalesce((hours ->> risk_tier)::double precision, 24) * interval '1 hour'
$$;

-- Why the answers of a customer do not count at a moment; those before `stale_at` are too old. One of a wrong clock, dated ahead, has no age.
create function reason_at(reason text, as_of timestamptz, latest_at timestamptz, stale_at timestamptz, moment timestamptz) returns text
language sql stable parallel safe as $$
  select case
    when reason in ('never', 'changed') then reason
    when as_of <= stale_at or latest_at > moment + interval '1 hour' then 'expired'
    else reason
  end
$$;

-- A waiting alert or a true match holds whatever the answers are worth; nothing else does.
create function state_by(last_state text, reason text) returns text language sql immutable parallel safe as $$
  select case when last_state in ('open_alert', 'true_match') or reason is null then last_state else 'not_screened' end
$$;

-- The accounts that have screened a roster, with how often the customers of each tier are screened there (hours by tier).
create view roster_account as
select roster.roster_id, account.account_id, account.is_test, newest.run_id, planned.hours
from roster
join account using (organisation_id)
cross join lateral (
  select run_id from run
  where run.roster_id = roster.roster_id and run.account_id = account.account_id
  order by run_id desc limit 1
) newest
left join lateral (
  select cadence -> 'hours' as hours from run
  where run.roster_id = roster.roster_id and run.account_id = account.account_id and cadence is not null
  order by run_id desc limit 1
) planned on true;

-- The one whose states are the roster's: of a live key before one of a test key, and of the newest run.
create view shown_account as
select roster.roster_id, shown.account_id, shown.is_test, shown.hours
from roster
left join lateral (
  select account_id, is_test, hours from roster_account
  where roster_account.roster_id = roster.roster_id
  order by is_test, run_id desc limit 1
) shown on true;

-- Judges these customers of a roster, or all of them, and records whose state has become another; `with_new` also whoever had none. The row of the
-- organisation is held until the transaction ends, so that nobody overwrites what another has decided.
create function judge_customers(for_roster bigint, for_account bigint, customers bigint[], with_new boolean, moment timestamptz) returns void
language plpgsql security definer
  set plan_cache_mode = 'force_custom_plan' set enable_seqscan = on set enable_hashjoin = on set enable_mergejoin = on as $$
#variable_conflict use_column
declare
  is_shown constant boolean := for_account = (select account_id from shown_account where roster_id = for_roster);
  is_of_test constant boolean := (select is_test from account where account_id = for_account);
  hours constant jsonb := (select hours from roster_account where roster_id = for_roster and account_id = for_account);
  recorded bigint[];
begin
  perform from organisation join roster using (organisation_id) where roster_id = for_roster for no key update of organisation;
  if customers is not null then
    -- Each is looked up by indexes, in a plan that a session makes once: one customer takes 1 ms instead of 19.
    perform set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
      set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
  end if;
  with tier as (
    select risk_tier, to_cadence(hours, risk_tier) as cadence, moment - to_validity(to_cadence(hours, risk_tier)) as stale_at
    from unnest(array['high', 'medium', 'low']) as risk_tier
  ), judged as (
    select
      judgement.*, tier.cadence, former.changed_at as former_changed_at,
      case when former.customer_id is not null then former.state else (
        select change.to_state from customer_state_change change
        where change.customer_id = judgement.customer_id
        order by change.change_id desc limit 1
      ) end as former_state,
      (
        judgement.risk_tier, judgement.last_state, judgement.reason, judgement.waiting, judgement.worst_topic,
        judgement.run_id, judgement.as_of, judgement.latest_at
      ) is distinct from (
        former.risk_tier, former.last_state, former.reason, former.waiting, former.worst_topic, former.run_id, former.as_of,
        former.latest_at
      ) as is_news,
      reason_at(judgement.reason, judgement.as_of, judgement.latest_at, tier.stale_at, moment) as reason_now
    from (
      select * from customer_judgement where roster_id = for_roster and account_id = for_account and customers is null
      union all
      select one.* from unnest(customers) as chosen (customer_id)
      cross join lateral (
        select * from customer_judgement
        where roster_id = for_roster and account_id = for_account and customer_judgement.customer_id = chosen.customer_id
        offset 0
      ) one
    ) judgement
    join tier using (risk_tier)
    left join customer_state former on former.account_id = for_account and former.customer_id = judgement.customer_id
    where with_new or former.customer_id is not null
  ), stated as (
    select judged.*, case when is_listed then state_by(last_state, reason_now) else former_state end as state from judged
  ), saved as (
    insert into customer_state (
      account_id, customer_id, risk_tier, last_state, reason, waiting, worst_topic, state, changed_at, run_id, as_of, latest_at
    )
    select
      account_id, customer_id, risk_tier, last_state, reason, waiting, worst_topic, state,
      case when state = former_state then coalesce(former_changed_at, moment) else moment end, run_id, as_of, latest_at
    from stated
    where state is not null and (is_news or state is distinct from former_state)
    order by customer_id
    on conflict (customer_id, account_id) do update set
      risk_tier = excluded.risk_tier, last_state = excluded.last_state, reason = excluded.reason,
      waiting = excluded.waiting, worst_topic = excluded.worst_topic, state = excluded.state, changed_at = excluded.changed_at,
      run_id = excluded.run_id, as_of = excluded.as_of, latest_at = excluded.latest_at
  ), changed as (
    insert into customer_state_change (
      customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at
    )
    select
      customer_id, former_state, state, reason_now, is_of_test, as_of, as_of + due.cadence,
      as_of + to_validity(due.cadence), run_id, moment
    from stated
    cross join lateral (select case when reason in ('never', 'changed') then null else stated.cadence end as cadence) due
    where is_shown and is_listed and state is distinct from former_state
    order by customer_id
    returning change_id
  )
  select array_agg(change_id) into recorded from changed;
  perform tell_webhooks(recorded);
end
$$;

-- A decision changes a state the moment it is made. What a run decides by itself is judged with its answers.
create function judge_decided() returns trigger language plpgsql security definer as $$
declare
  decided record;
begin
  select customer.roster_id, alert.account_id, customer.customer_id into decided
  from alert join party using (party_id) join customer using (customer_id)
  where alert.alert_id = new.alert_id;
  perform judge_customers(decided.roster_id, decided.account_id, array[decided.customer_id], true, new.decided_at);
  return null;
end
$$;

create constraint trigger judge_decided after insert on disposition
  deferrable initially deferred for each row when (new.origin <> 'policy')
  execute function judge_decided();

-- Each customer with a record on each account (null: none yet). An offboarded one stays while an alert waits or is a true match.
create view customer_standing as
select
  roster.organisation_id, roster.roster_id, roster.name as roster, account.account_id, account.is_test,
  customer.customer_id, customer.reference,
  customer.left_at is null or state.waiting > 0 as in_scope,
  coalesce(state.risk_tier, (
    select version.risk_tier from customer_version version
    where version.customer_id = customer.customer_id and version.version = customer.version
  ), 'high') as risk_tier,
  state.last_state,
  case when state.customer_id is null then 'never' else state.reason end as reason,
  state.because,
  coalesce(state.has_failed, false) as has_failed,
  state.as_of, state.latest_at, state.run_id,
  coalesce(state.waiting, 0) as waiting,
  state.worst_topic, state.state as recorded_state, state.changed_at
from roster
cross join lateral (
  select account_id, is_test from account where account.organisation_id = roster.organisation_id
  union all select null, null
) account
join customer on customer.roster_id = roster.roster_id
left join customer_state state on state.account_id = account.account_id and state.customer_id = customer.customer_id
where customer.left_at is null or state.waiting > 0 or state.last_state = 'true_match';

-- One row per customer for the systems that block accounts. `held` is by party, because different runs may have answered for each.
create view customer_screening_status as
select
  organisation.name as organisation,
  standing.roster,
  standing.reference,
  standing.in_scope,
  now.state,
  standing.worst_topic,
  standing.waiting,
  now.reason,
  case when now.reason in ('never', 'changed', 'expired', 'unproven') then standing.because end as because,
  standing.last_state,
  standing.as_of,
  coalesce(standing.reason = 'never', false) as never_screened,
  standing.as_of + due.cadence as due_at,
  standing.as_of + to_validity(due.cadence) as expires_at,
  standing.risk_tier,
  case standing.is_test when true then 'test' when false then 'live' end as mode,
  to_char(run.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || run.kind || '-' || run.run_id as run_id,
  -- Null while the state is so new that no run and no decision has recorded it.
  case
    when standing.recorded_state = now.state then standing.changed_at
    when now.reason = 'expired' then standing.as_of + to_validity(due.cadence)
  end as changed_at,
  exists (
    select from run_hold hold
    join run held on held.run_id = hold.run_id
    join account on account.account_id = held.account_id and account.is_test = standing.is_test
    join party on party.customer_id = standing.customer_id
    join party_answer screening on screening.run_id = hold.run_id and screening.party_id = party.party_id
    where hold.kind = 'answers' and held.is_held
      and not exists (
        select from party_state newer
        join account of_newer on of_newer.account_id = newer.account_id and of_newer.is_test = account.is_test
        where newer.party_id = screening.party_id and newer.run_id > hold.run_id
      )
  ) as held
from organisation
join roster using (organisation_id)
join shown_account shown using (roster_id)
join customer_standing standing on standing.roster_id = roster.roster_id and standing.account_id is not distinct from shown.account_id
cross join lateral (select to_cadence(shown.hours, standing.risk_tier) as cadence) tier
cross join lateral (select case when standing.reason in ('never', 'changed') then null else tier.cadence end as cadence) due
cross join lateral (select reason_at(standing.reason, standing.as_of, standing.latest_at, now() - to_validity(tier.cadence), now()) as reason) judged
cross join lateral (select judged.reason, state_by(standing.last_state, judged.reason) as state) now
left join run on run.run_id = standing.run_id
union all
select
  organisation.name, roster.name, unaccepted.reference, true, 'not_screened', null, 0, unaccepted.reason, null, null, null, true, null, null, 'high',
  case shown.is_test when true then 'test' when false then 'live' end, null, null, false
from unaccepted_customer unaccepted
join roster using (roster_id)
join organisation using (organisation_id)
join shown_account shown using (roster_id);
