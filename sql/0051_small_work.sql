-- An invitation is judged in a plan that a session makes once, and many in one that is made for them: a plan for one customer took 25 ms, four times
-- for each invitation that was sent.
create or replace function judge_invitations(account bigint, discrepancies bigint[], moment timestamptz)
  returns table (discrepancy_id bigint, obstacle text) language plpgsql
  set nightscreen.status_at = '' set nightscreen.status_account = '' set nightscreen.status_hours = ''
  -- A plan for whatever arrays compares each row with all of a large one: 90 s for 33,000 customers of 100,000, which take 1 s otherwise.
  set plan_cache_mode = 'force_custom_plan'
as $$
#variable_conflict use_column
declare
  customers constant bigint[] := array(
    select discrepancy.customer_id from discrepancy where discrepancy.discrepancy_id = any (discrepancies)
  );
begin
  perform set_config('nightscreen.status_at', moment::text, true);
  if cardinality(discrepancies) = 1 then
    perform set_config('plan_cache_mode', 'force_generic_plan', true);
  end if;
  return query
  with alerted as materialized (
    select distinct party.request_id, party.party_id, party.customer_id, party.ordinal
    from review_item item join party on party.party_id = item.party_id
    where item.state <> 'gone' and (item.state in ('open', 'proposed') or item.is_confirmed)
  ), flagged as materialized (
    select own.customer_id from party own join alerted on alerted.party_id = own.party_id where own.customer_id = any (customers)
    union
    select own.customer_id from party own join alerted on alerted.request_id = own.request_id
    where own.customer_id = any (customers) and own.is_current
      -- A year alone contradicts no day in it.
      and (
        select (starts_with(min(born), max(born)) or starts_with(max(born), min(born))) is not false or count(born) < 2
        from (
          select version.record -> 'parties' -> of.ordinal ->> 'birthDate' as born
          from (values (own.customer_id, own.ordinal), (alerted.customer_id, alerted.ordinal)) as of (customer_id, ordinal)
          join customer using (customer_id)
          join customer_version version using (customer_id, version)
        ) births
      )
  )
  select missing.discrepancy_id,
    case
      when missing.account_id <> account or missing.kind <> 'customer_without_dossier' or missing.state <> 'open' then 'not_missing'
      when customer.customer_id is null then 'no_record'
      when customer.left_at is not null then 'left'
      when standing.state = 'confirmed' then 'true_match'
      when standing.state = 'open_hit' or flagged.customer_id is not null then 'alert_waits'
      when standing.state is null or standing.is_test and not owner.is_test then 'not_screened'
      when standing.state not in ('clear', 'below_threshold', 'settled_false_positive') then standing.state
      when standing.is_provisional then 'screening_open'
    end
  from discrepancy missing
  join account owner on owner.account_id = missing.account_id
  left join customer on customer.customer_id = missing.customer_id
  left join flagged on flagged.customer_id = missing.customer_id
  left join (select * from customer_standing where customer_id = any (customers)) standing
    on standing.customer_id = missing.customer_id
  where missing.discrepancy_id = any (discrepancies);
end
$$;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %1$s.judge_invitations set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;

-- As before, but nothing is done for a run that has staged nothing, and small tables are not truncated: it takes 10 ms and has every statement
-- about them planned again.
create or replace function clear_roster_staging(cleared_run_id bigint) returns void language plpgsql as $$
begin
  if not exists (select from roster_stager where run_id = cleared_run_id) then
    return;
  end if;
  delete from roster_case where run_id = cleared_run_id;
  delete from roster_step where run_id = cleared_run_id;
  delete from roster_party_staging where run_id = cleared_run_id;
  if pg_table_size('roster_staging') + pg_table_size('roster_record') + pg_table_size('roster_raw') > 1048576 then
    begin
      lock table roster_staging, roster_record, roster_raw, roster_request in access exclusive mode nowait;
      if not exists (select from roster_stager where run_id <> cleared_run_id) then
        truncate roster_staging, roster_record, roster_raw, roster_request;
        delete from roster_stager where run_id = cleared_run_id;
        return;
      end if;
    exception when lock_not_available or insufficient_privilege then
      null;
    end;
  end if;
  delete from roster_request where run_id = cleared_run_id;
  delete from roster_raw where run_id = cleared_run_id;
  delete from roster_record where run_id = cleared_run_id;
  delete from roster_staging where run_id = cleared_run_id;
  delete from roster_stager where run_id = cleared_run_id;
end
$$;
