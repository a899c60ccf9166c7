-- Acceptances, evidence, and the rights of functions.

-- The paths of changed settings that may release a customer: all but those that are certainly stricter. Guards of a roster that was never accepted
-- or imported apply to nobody yet; a roster that was imported with the default guards may have no accepted ones.
create function find_looser_settings(accepted jsonb, offered jsonb, imported text[]) returns text[] immutable language sql as $$
  with recursive node (is_after, path, value) as (
    values (false, array[]::text[], accepted), (true, '{}', offered)
    union all
    select is_after, path || inner_key, inner_value
    from node cross join lateral jsonb_each(case jsonb_typeof(value) when 'object' then value else '{}' end) as one (inner_key, inner_value)
  ),
  changed as (
    select path, former.value as before, latter.value as after
    from (select path, value from node where not is_after and jsonb_typeof(value) <> 'object') former
    full join (select path, value from node where is_after and jsonb_typeof(value) <> 'object') latter using (path)
    where former.value is distinct from latter.value
    union all
    select path, value, null from node
    where not is_after and path[1] = 'guards' and cardinality(path) = 2 and jsonb_typeof(value) = 'object' and offered #> path is null
  ),
  compared as (
    select array_to_string(path, '.') as name, case
      when path = '{review,autoClose}' then after = 'false'
      when path in ('{review,fourEyes}', '{controls}') then not exists (
        select from jsonb_array_elements(before) one (kept)
        where not exists (select from jsonb_array_elements(after) other (kept) where other.kept = one.kept)
      )
      when path = '{screening,reuseMaxAge}' then after = '0'
      -- Each exception of a roster may release a customer.
      when path[1] = 'rosters' then not exists (
        select from jsonb_array_elements(after) one (kept)
        where not exists (select from jsonb_array_elements(coalesce(before, '[]')) other (kept) where other.kept = one.kept)
      )
      when path[1] = 'guards' and not coalesce(accepted -> 'guards' ? path[2], false) and path[2] <> all (imported) then true
      -- No valid configuration has a negative limit, or a step, time or number of searches of 0.
      when jsonb_typeof(after) is distinct from 'number' or after < '0' then false
      when after = '0' and path[1] <> 'guards' and path[2] <> 'hold' then false
      when path[1:2] = '{review,expiresAfterDays}' then after < coalesce(before, '100000')
      when path[1] = 'guards' and path[3] like 'max%' then after < before
      when path = '{screening,leaveAfterDays}' then after > before
      when path in ('{changes,scoreStep}', '{screening,cadenceHours}', '{screening,controlsEvery}') then after < before
      when path[1:2] = '{screening,hold}' then after < before
    end as is_stricter
    from changed
  )
  select coalesce(array_agg(name order by name), '{}') from compared where is_stricter is not true
$$;

-- The paths of changed settings that two people accept: with four eyes in force or offered, the looser ones; of first settings only `autoClose`.
create function find_settings_of_two(organisation bigint, offered jsonb) returns text[] stable language sql as $$
  select case
    when find_four_eyes(organisation) = '{}'
      and coalesce(former.settings #> '{review,fourEyes}', '[]') = '[]' and coalesce(offered #> '{review,fourEyes}', '[]') = '[]' then '{}'
    when former.settings is not null then find_looser_settings(former.settings, offered, array(
      select name from roster where organisation_id = organisation
        and exists (select from roster_import where roster_import.roster_id = roster.roster_id)
    ))
    when offered #> '{review,autoClose}' = 'true' then array['review.autoClose']
    else '{}'
  end
  from (select) nothing
  left join lateral (
    select settings from acceptance
    where organisation_id = organisation and settings is not null and not is_proposal order by acceptance_id desc limit 1
  ) former on true
$$;

-- The people who have accepted these settings since the last change of settings, and wait for a second person.
create function find_proposers(organisation bigint, offered jsonb) returns text[] stable language sql as $$
  select array(
    select accepted_by from acceptance
    where organisation_id = organisation and is_proposal and settings = offered and acceptance_id > coalesce((
      select max(acceptance_id) from (
        select acceptance_id, settings, lag(settings) over (order by acceptance_id) as former
        from acceptance where organisation_id = organisation and not is_proposal
      ) one
      where settings is distinct from former
    ), 0)
    order by acceptance_id
  )
$$;

-- First settings need no acceptance. With four eyes two people accept a held run and looser settings; the embedded database knows only one.
create function check_acceptance() returns trigger language plpgsql as $$
declare
  of_two text[];
begin
  new.proposed_by := null;
  if new.kind = 'settings' and new.accepted_by = 'first settings' and not new.is_proposal
    and not exists (select from acceptance where organisation_id = new.organisation_id and not is_proposal) then
    return new;
  end if;
  perform require_author(new.accepted_by, new.is_attested, 'accept anything', new.accepted_at);
  if new.kind = 'settings' and not new.is_proposal then
    of_two := find_settings_of_two(new.organisation_id, new.settings);
    if of_two <> '{}' then
      new.proposed_by := (array_remove(find_proposers(new.organisation_id, new.settings), new.accepted_by))[1];
      if new.proposed_by is null or version() ~ 'emscripten' then
        raise exception 'accepting % takes two people: another person accepts the same settings first', array_to_string(of_two, ', ')
          using errcode = 'insufficient_privilege';
      end if;
    end if;
  end if;
  if new.kind = 'answers' and new.is_proposal and not exists (select from run_hold where run_hold.run_id = new.run_id) then
    raise exception 'run % is not held: there is nothing to accept', new.run_id using errcode = 'integrity_constraint_violation';
  end if;
  if new.kind <> 'answers' or new.is_proposal then
    return new;
  end if;
  perform require_owner('a run is accepted');
  if find_four_eyes((select organisation_id from run where run_id = new.run_id)) <> '{}'
    and (version() ~ 'emscripten' or not exists (
      select from acceptance proposal
      where proposal.run_id = new.run_id and proposal.is_proposal and proposal.accepted_by <> new.accepted_by
    ))
  then
    raise exception 'accepting a run takes two people' using errcode = 'insufficient_privilege';
  end if;
  -- Otherwise the run would read as accepted although its answers are not applied.
  if exists (
    select from party_answer answer
    join run on run.run_id = answer.run_id
    left join party_state state on state.account_id = run.account_id and state.party_id = answer.party_id
    where run.run_id = new.run_id and run.is_held and answer.wave > run.applied_wave and coalesce(state.run_id < new.run_id, true)
  ) then
    raise exception 'run % still withholds answers: nightscreen runs accept gives them back', new.run_id
      using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;

create trigger check_acceptance before insert on acceptance for each row execute function check_acceptance();

-- Evidence is only added to.
do $$
declare
  evidence text;
begin
  foreach evidence in array array[
    'acceptance', 'alert_event', 'batch', 'change', 'change_alert', 'discrepancy_event', 'disposition', 'failure', 'listed_party',
    'match_detail', 'response', 'review_sheet', 'run_hold'
  ] loop
    execute format(
      'create trigger refuse_rewriting before delete or update or truncate on %I for each statement execute function refuse_rewriting()', evidence
    );
  end loop;
end
$$;

-- A plan may be made again before its first search; a call is updated when it ends, and a next state when it is superseded.
create trigger refuse_rewriting before update or truncate on planned for each statement execute function refuse_rewriting();
create trigger refuse_rewriting before delete or truncate on call for each statement execute function refuse_rewriting();
create trigger refuse_rewriting before delete or truncate on next_state for each statement execute function refuse_rewriting();
create trigger refuse_rewriting before truncate on invitation for each statement execute function refuse_rewriting();

-- By default names are looked up in temporary tables first, which everybody may create. Functions that check, or write for others, look there last.
do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
  one regprocedure;
begin
  foreach one in array array(
    select oid::regprocedure from pg_proc
    where pronamespace = tables_schema
      and (prolang = (select oid from pg_language where lanname = 'plpgsql') or proname in ('is_owner', 'counts_as_true_match', 'find_four_eyes', 'find_settings_of_two', 'find_proposers'))
  ) loop
    execute format('alter function %s set search_path = pg_catalog, %s, pg_temp', one, tables_schema);
  end loop;
end
$$;

revoke execute on function judge_customers, tell_webhooks, open_run_range(bigint), hold_party_states from public;
