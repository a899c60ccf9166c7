-- Recording how customers stand looks closely only at those whose state can be another than the recorded one, and nobody waits while the
-- others are passed over.

-- Decided about while a run was open: to be looked at closely when the next one is planned or closed.
create table decided_state (
  customer_id bigint primary key
);

-- The customers of a roster who may stand otherwise than was recorded last, and of course all who do: found in one walk through the tables,
-- by joins that no guess at their sizes can make slow. Whoever is not simply what the last answer says is among them.
create function find_unrecorded_states(for_roster bigint, with_new boolean, few integer default 2000) returns setof bigint
language plpgsql stable set plan_cache_mode = force_custom_plan set enable_nestloop = off set work_mem = '32MB' as $$
declare
  moment constant timestamptz := coalesce(nullif(current_setting('nightscreen.status_at', true), '')::timestamptz, now());
  in_order constant text[] :=
    array['clear', 'below_threshold', 'settled_false_positive', 'incompletely_seen', 'not_screened', 'open_hit', 'confirmed'];
  basis record;
  hours jsonb;
begin
  -- A few are looked at closely in less time than the tables of everybody are walked through.
  if (select count(*) from (select from customer where roster_id = for_roster limit few + 1) some_of_them) <= few then
    return query select customer_id from customer where roster_id = for_roster;
    return;
  end if;
  -- As the view customer_standing has it.
  select account.account_id, account.is_test into basis
  from run join account using (account_id)
  where run.roster_id = for_roster
  order by account.is_test, run.run_id desc limit 1;
  if basis.account_id is null then
    return;
  end if;
  select run.cadence -> 'hours' into hours from run
  where run.roster_id = for_roster and run.account_id = basis.account_id and run.cadence is not null
  order by run.run_id desc limit 1;
  return query
    select judged.customer_id
    from (
      select
        customer.customer_id,
        bool_or(answer.is_unclear) as is_unclear,
        max(array_position(in_order, case when answer.is_valid then answer.state else 'not_screened' end)) as worst,
        bool_or(answer.state = 'open_hit') as has_open_hit
      from customer
      join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
      join party on party.customer_id = customer.customer_id
      left join party_state newest on newest.account_id = basis.account_id and newest.party_id = party.party_id
      left join run origin on origin.run_id = newest.run_id
      cross join lateral (
        select
          to_standing_state(newest.state, newest.reviewed_state) as state,
          party.is_current and newest.customer_version <> customer.version or origin.state in ('running', 'stopped') as is_unclear,
          newest.request_id = party.request_id and (customer.returned_at is null or newest.screened_at >= customer.returned_at)
            and newest.screened_at > moment - interval '1 hour'
              - coalesce((hours ->> coalesce(version.risk_tier, 'high'))::double precision, 24) * interval '1 hour'
            and (basis.is_test or origin.confirmed_batch_id is not null) as is_valid
      ) answer
      where customer.roster_id = for_roster and (party.is_current or answer.state = 'open_hit')
      group by customer.customer_id
      having customer.left_at is null or bool_or(answer.state = 'open_hit')
    ) judged
    left join (
      select distinct on (change.customer_id) change.customer_id, change.to_state, change.is_test
      from customer_state_change change
      order by change.customer_id, change.change_id desc
    ) last on last.customer_id = judged.customer_id
    where case
      when last.to_state is null then with_new
      else coalesce(judged.is_unclear, false) or (in_order[judged.worst], basis.is_test) is distinct from (last.to_state, last.is_test)
    end;
end
$$;

-- Records of these customers of a roster who stand otherwise than was recorded last, and what webhooks are to be told of it; gives how many.
-- Each is looked up by indexes, planned once for a session: whatever the statistics say, a single one takes no longer than that.
create function record_states_of(customers bigint[], for_roster bigint, with_new boolean) returns bigint
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  recorded bigint;
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
      and standing.is_test is not null and standing.is_provisional is not true
      and (with_new or last.to_state is not null)
      and (last.to_state, last.is_test) is distinct from (standing.state, standing.is_test)
    order by standing.customer_id
    returning change_id, from_state, to_state
  ),
  told as (
    insert into webhook_event (webhook_id, change_id)
    select webhook.webhook_id, changed.change_id
    from roster
    join webhook on webhook.organisation_id = roster.organisation_id and webhook.is_active
    cross join changed
    where roster.roster_id = for_roster
      and (webhook.rosters is null or roster.name = any (webhook.rosters))
      and (webhook.states is null or changed.from_state = any (webhook.states) or changed.to_state = any (webhook.states))
  )
  select count(*) into recorded from changed;
  return recorded;
end
$$;

-- What two see at once is recorded once, and the changes of a customer are numbered in their order: held until the transaction ends.
create function hold_states(for_roster bigint) returns void language sql as $$
  select from organisation
  where organisation_id = (select organisation_id from roster where roster_id = for_roster)
  for no key update
$$;

-- Records whose state is another than when it was last recorded, of one customer or of all of a roster, and what webhooks are to be told of
-- it; gives how many. Provisional states wait until the run that gave them closes; of customers without a recorded state nothing is said
-- unless `with_new`. Whoever does not own the tables cannot have it judged at another moment than now.
create function record_state_changes(for_roster bigint, for_customer bigint, with_new boolean) returns bigint
language plpgsql security definer as $$
declare
  looked_at bigint[] := array[for_customer];
  decided bigint[];
begin
  if not pg_has_role(session_user, current_user, 'member') then
    perform set_config('nightscreen.status_at', '', true);
  end if;
  -- Before anybody has to wait: what changes meanwhile is looked at again below.
  if for_customer is null then
    looked_at := array(select find_unrecorded_states(for_roster, with_new));
  end if;
  perform hold_states(for_roster);
  if for_customer is null then
    with gone as (
      delete from decided_state using customer
      where customer.customer_id = decided_state.customer_id and customer.roster_id = for_roster
      returning decided_state.customer_id
    )
    select array_agg(customer_id) into decided from gone;
    looked_at := looked_at || array(select one from unnest(decided) one where one <> all (looked_at));
    -- What has been decided in this transaction is recorded with it.
    perform set_config('nightscreen.recorded_roster', for_roster::text, true);
  end if;
  return record_states_of(looked_at, for_roster, with_new);
end
$$;

-- A decision changes a state the moment it is made; of answers that a run goes on with, the run says so when it closes.
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
  if exists (select from run where run.run_id = new.run_id and run.state in ('running', 'stopped')) then
    insert into decided_state (customer_id) values (whose.customer_id) on conflict do nothing;
  else
    perform record_state_changes(whose.roster_id, whose.customer_id, true);
  end if;
  return null;
end
$$;

-- At the end of the transaction, when it waits for no other row any more.
create constraint trigger record_decided_state after update on party_state
  deferrable initially deferred
  for each row when (old.reviewed_state is distinct from new.reviewed_state)
  execute function record_decided_state();

revoke execute on function find_unrecorded_states, record_states_of, hold_states, record_state_changes from public;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %1$s.record_state_changes set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
  execute format('alter function %1$s.record_decided_state set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;
