-- The state of each customer, and its changes.

-- By how much a screening outlasts its cadence: two hours so that one night skips the customers, and one for a next night that starts late.
-- In src/screening/cadence.ts it is the same.
create function screening_grace(cadence interval) returns interval language sql immutable as $$
  select case when cadence < interval '1 day' then interval '1 hour' else interval '3 hours' end
$$;

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

create index customer_state_change_by_run on customer_state_change (run_id) where (run_id is not null);

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

-- The offboarded customers of a roster who stay in scope on an account, because an alert waits. Most rosters have none, and the view takes 15 ms
-- to plan.
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

-- Each customer in the state that answers, alerts and dispositions give. A run over marked customers says nothing of the others.
create view customer_standing as
with basis as materialized (
  select
    roster.organisation_id, roster.roster_id, roster.name as roster, account.account_id, account.is_test,
    coalesce(nullif(current_setting('nightscreen.status_at', true), '')::timestamptz, now()) as moment,
    -- Of the last three plans: what was left out or failed in them.
    array(
      select run.run_id from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.in_scope is not null
        and run.selection is distinct from 'dirty'
      order by run.run_id desc limit 3
    ) as plan_run_ids,
    coalesce(nullif(current_setting('nightscreen.status_hours', true), '')::jsonb, (
      select run.cadence -> 'hours' from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.cadence is not null
      order by run.run_id desc limit 1
    )) as hours
  from roster
  left join lateral (
    select account.account_id, account.is_test
    from run join account using (account_id)
    where run.roster_id = roster.roster_id and coalesce(current_setting('nightscreen.status_account', true), '') in ('', account.account_id::text)
    order by account.is_test, run.run_id desc limit 1
  ) account on true
)
select
  basis.organisation_id, basis.roster_id, basis.roster, basis.is_test, basis.moment,
  customer.customer_id, customer.reference, customer.risk_tier,
  customer.left_at is null or customer.is_open as in_scope,
  (states.in_order)[customer.worst] as state,
  case
    when customer.standing < 5 then (array['never', 'changed', 'expired', 'unproven'])[customer.standing]
    when customer.has_only_conflicts then 'conflicting_duplicate'
    when customer.unreadable_party_since is not null then 'related_party_unreadable'
    when customer.has_doubtful_name then 'doubtful_name'
  end as reason,
  customer.because,
  (states.in_order)[customer.worst_seen] as last_state,
  customer.screened_at as as_of,
  customer.never_screened,
  case when customer.standing > 2 then customer.screened_at + customer.cadence end as due_at,
  case when customer.standing > 2 then customer.screened_at + customer.cadence + screening_grace(customer.cadence) end as expires_at,
  customer.run_id,
  customer.waiting,
  (array['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'])[customer.topic_place] as worst_topic,
  basis.account_id
from basis
cross join (
  -- Best first.
  select array['clear', 'below_threshold', 'false_positive', 'truncated', 'not_screened', 'open_alert', 'true_match'] as in_order
) states
cross join lateral (
  select
    party.customer_id, party.reference, party.risk_tier, party.left_at, party.unreadable_party_since, party.has_doubtful_name, tier.cadence,
    min(judged.standing) as standing,
    -- Rows that contradict each other, and no accepted one: nobody can say who the customer is, though every name in them is searched for.
    min(party.ordinal) > 0 as has_only_conflicts,
    greatest(max(array_position(states.in_order, case
      when party.is_true_match then 'true_match'
      when party.waiting > 0 then 'open_alert'
      when judged.standing < 5 or party.unreadable_party_since is not null or party.has_doubtful_name then 'not_screened'
      else party.answer_state
    end)), case when min(party.ordinal) > 0 then array_position(states.in_order, 'not_screened') end) as worst,
    max(array_position(states.in_order, case
      when party.is_true_match then 'true_match'
      when party.waiting > 0 then 'open_alert'
      else party.answer_state
    end)) as worst_seen,
    min(party.screened_at) filter (where party.screened_at > 'epoch') as screened_at,
    bool_or(party.run_id is null) as never_screened,
    min(party.run_id) as run_id,
    bool_or(party.waiting > 0) as is_open,
    bool_or(party.is_true_match) as is_true_match,
    -- Why there is no later valid answer.
    min(case when judged.standing < 5 then (
      select case screening.outcome when 'remaining' then 'remaining' else screening.outcome_reason end as because
      from screening
      where screening.run_id = any (basis.plan_run_ids) and screening.party_id = party.party_id and screening.run_id >= coalesce(party.run_id, 0)
        and (screening.outcome in ('failed', 'remaining') or screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due')
      order by screening.run_id desc limit 1
    ) end) as because,
    sum(party.waiting)::integer as waiting,
    min(party.topic_place) as topic_place
  from party_standing party
  cross join lateral (
    select coalesce((basis.hours ->> party.risk_tier)::double precision, 24) * interval '1 hour' as cadence
  ) tier
  cross join lateral (
    select case
      when party.run_id is null then 1
      when party.has_changed then 2
      -- An answer that is dated ahead was dated by a clock that was wrong: it has no age.
      when party.screened_at + tier.cadence + screening_grace(tier.cadence) <= basis.moment
        or party.screened_at > basis.moment + interval '1 hour' then 3
      when not party.is_proven then 4
      else 5
    end as standing
  ) judged
  where party.roster_id = basis.roster_id and party.account_id is not distinct from basis.account_id
  group by
    party.customer_id, party.reference, party.risk_tier, party.left_at, party.unreadable_party_since, party.has_doubtful_name, tier.cadence
) customer
where customer.left_at is null or customer.is_open or customer.is_true_match
union all
select
  basis.organisation_id, basis.roster_id, basis.roster, basis.is_test, basis.moment, null, unaccepted.reference, 'high', true, 'not_screened',
  unaccepted.reason, null, null, null, true, null, null, null, 0, null, basis.account_id
from basis
join unaccepted_customer unaccepted on unaccepted.roster_id = basis.roster_id;

-- One row per customer for the systems that block accounts. `held` is by party and account, because a customer's parties may have been answered for by different runs.
create view customer_screening_status as
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
    join party on party.customer_id = standing.customer_id
    join party_answer screening on screening.run_id = hold.run_id and screening.party_id = party.party_id
    where hold.kind = 'answers' and held.is_held
      and not exists (
        select from party_state newer
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

-- The customers of a roster whose state is another than the recorded one, by one walk through the definition. What it saw stays for the rest of
-- the transaction: a walk through a million takes half a minute, and a run that closes takes its sums and its coverage from it as well.
create function find_unrecorded_states(for_roster bigint, with_new boolean) returns setof bigint
language plpgsql as $$
begin
  perform set_config('nightscreen.status_account', '', true), set_config('nightscreen.status_hours', '', true);
  -- Read before the walk: what changes during it is not in what the walk has seen.
  perform set_config('nightscreen.before_walk', jsonb_build_object(
    'disposition', (select coalesce(max(disposition_id), 0) from disposition),
    'caps', (select coalesce(jsonb_object_agg(account_id, list_cap), '{}') from account where list_cap is not null)
  )::text, true), set_config('nightscreen.walked_roster', for_roster::text, true);
  drop table if exists pg_temp.walked_state;
  create temporary table walked_state on commit drop as
  select
    standing.customer_id, standing.state, standing.is_test, standing.reason, standing.risk_tier, standing.as_of,
    standing.in_scope, standing.moment, standing.due_at, standing.expires_at, standing.run_id, standing.account_id, standing.last_state,
    standing.never_screened, last.to_state as from_state, last.change_id as last_change_id,
    standing.customer_id is not null and standing.is_test is not null
      and (with_new or last.to_state is not null)
      and (last.to_state, last.is_test) is distinct from (standing.state, standing.is_test) as is_new
  from customer_standing standing
  left join (
    select distinct on (change.customer_id) change.customer_id, change.change_id, change.to_state, change.is_test
    from customer_state_change change
    order by change.customer_id, change.change_id desc
  ) last on last.customer_id = standing.customer_id
  where standing.roster_id = for_roster;
  return query select customer_id from pg_temp.walked_state where is_new;
end
$$;

-- What two see at once is recorded once, and the changes of a customer are numbered in their order: held until the transaction ends.
create function hold_states(for_roster bigint) returns void language sql as $$
  select from organisation
  where organisation_id = (select organisation_id from roster where roster_id = for_roster)
  for no key update
$$;

-- Records which of these customers of a roster have another state than was recorded last; returns the changes.
-- Each is looked up by indexes, planned once for a session: whatever the statistics say, a single one takes no longer than that. Without the
-- switches, each of many new customers before an `analyze` reads all states: 10,000 took 7.7 s instead of 0.9 s, 50,000 more than 300 s.
create function record_states_of(customers bigint[], for_roster bigint, with_new boolean) returns bigint[]
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  recorded bigint[];
begin
  with changed as (
    insert into customer_state_change (
      customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at
    )
    select
      standing.customer_id, last.to_state, standing.state, standing.reason, standing.is_test, standing.as_of, standing.due_at,
      standing.expires_at, standing.run_id, standing.moment
    from unnest(customers) as one (customer_id)
    -- Fenced off: one after another.
    cross join lateral (select * from customer_standing where customer_standing.customer_id = one.customer_id offset 0) standing
    left join lateral (
      select change.to_state, change.is_test from customer_state_change change
      where change.customer_id = standing.customer_id
      order by change.change_id desc limit 1
    ) last on true
    where standing.roster_id = for_roster
      and standing.is_test is not null
      and (with_new or last.to_state is not null)
      and (last.to_state, last.is_test) is distinct from (standing.state, standing.is_test)
    order by standing.customer_id
    returning change_id
  )
  select array_agg(change_id) into recorded from changed;
  return recorded;
end
$$;

-- Of these customers of a roster, or of all. Whoever does not own the tables has the states judged now, on the roster's own account.
create function record_state_changes(for_roster bigint, for_customers bigint[], with_new boolean) returns bigint
language plpgsql security definer as $$
declare
  again bigint[] := for_customers;
  seen bigint[];
  recorded bigint[];
begin
  perform set_config('nightscreen.status_account', '', true), set_config('nightscreen.status_hours', '', true);
  if not pg_has_role(session_user, current_user, 'member') then
    perform set_config('nightscreen.status_at', '', true);
  end if;
  -- Until the first run of a roster closes, nobody has a recorded state that could differ: a walk through 100,000 took 1.5 s of the first night.
  if for_customers is null and not with_new and not exists (
    select from customer_state_change join customer using (customer_id) where customer.roster_id = for_roster
  ) then
    return 0;
  end if;
  -- Before anybody has to wait: what is decided meanwhile is looked at again below. A run that closes has walked already.
  if for_customers is null and current_setting('nightscreen.walked_roster', true) is distinct from for_roster::text then
    perform find_unrecorded_states(for_roster, with_new);
  end if;
  perform hold_states(for_roster);
  if for_customers is null then
    -- A decision about whoever this run has not screened has been recorded by itself.
    select coalesce(array_agg(seen.customer_id), '{}') into again
    from pg_temp.walked_state seen
    where seen.is_new and exists (
      select from customer_state_change change
      where change.customer_id = seen.customer_id and change.change_id > coalesce(seen.last_change_id, 0)
    );
    with changed as (
      insert into customer_state_change (
        customer_id, from_state, to_state, reason, is_test, as_of, due_at, expires_at, run_id, changed_at
      )
      select customer_id, from_state, state, reason, is_test, as_of, due_at, expires_at, run_id, moment
      from pg_temp.walked_state
      where is_new and customer_id <> all (again)
      order by customer_id
      returning change_id
    )
    select array_agg(change_id) into seen from changed;
    -- What has been decided in this transaction is recorded with it. Another call walks again.
    perform set_config('nightscreen.recorded_roster', for_roster::text, true), set_config('nightscreen.walked_roster', '', true);
  end if;
  recorded := seen || record_states_of(again, for_roster, with_new);
  perform tell_webhooks(recorded);
  return coalesce(cardinality(recorded), 0);
end
$$;

-- A decision changes a state the moment it is made.
create function record_decided_state() returns trigger language plpgsql security definer as $$
declare
  whose record;
begin
  select customer.roster_id, customer.customer_id into whose
  from party join customer on customer.customer_id = party.customer_id
  where party.party_id = new.party_id;
  if current_setting('nightscreen.recorded_roster', true) = whose.roster_id::text and pg_has_role(session_user, current_user, 'member') then
    return null;
  end if;
  -- First, so that a run which closes at the same time either sees what was decided or has closed.
  perform hold_states(whose.roster_id);
  perform record_state_changes(whose.roster_id, array[whose.customer_id], true);
  return null;
end
$$;

create constraint trigger record_decided_state after update on alert
  deferrable initially deferred for each row when ((old.state, old.is_true_match) is distinct from (new.state, new.is_true_match))
  execute function record_decided_state();
