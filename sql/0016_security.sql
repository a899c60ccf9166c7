-- Who accepts what, what functions see, and who may call them.

-- The changed settings (their paths) that may release somebody. Each change counts but those that are known to be stricter: in doubt two people
-- look at it. Guards of a roster that was never accepted or imported apply to nobody yet. One that was imported with the defaults may have none that
-- are accepted.
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
      -- Each exception of a roster may release somebody; without one more names are doubtful, and more columns are asked about.
      when path[1] = 'rosters' then not exists (
        select from jsonb_array_elements(after) one (kept)
        where not exists (select from jsonb_array_elements(coalesce(before, '[]')) other (kept) where other.kept = one.kept)
      )
      when path[1] = 'guards' and not coalesce(accepted -> 'guards' ? path[2], false) and path[2] <> all (imported) then true
      -- No configuration holds a negative limit, or a step, time or number of searches that is 0.
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

-- Those of them that two people accept: where four eyes are in force, or by the new settings. Of the first settings only a policy that closes alerts.
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
    where organisation_id = organisation and not is_proposal and jsonb_typeof(settings) = 'object' order by acceptance_id desc limit 1
  ) former on true
$$;

-- Who has accepted these settings since the last change, and waits for another person. Who accepts again what is in force changes nothing.
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

-- What is no settings, whoever accepts it, would end each later run.
create function require_settings(offered acceptance) returns void language plpgsql as $$
begin
  if jsonb_typeof(offered.settings) <> 'object' or jsonb_typeof(offered.settings -> 'controls') <> 'array' or exists (
    select from unnest(array['service', 'changes', 'screening', 'review', 'guards']) section
    where jsonb_typeof(offered.settings -> section) is distinct from 'object'
  ) or jsonb_path_exists(offered.settings, '$.controls.size() ? (@ > 1000)')
    or jsonb_path_exists(offered.settings, '$.controls[*].type() ? (@ != "object")')
    or length(offered.settings::text) > 1000000
  then
    raise exception 'the settings have not the form in which `nightscreen config accept` stores them' using errcode = 'check_violation';
  end if;
  if array_ndims(offered.differences) > 1 or array_position(offered.differences, null) is not null or cardinality(offered.differences) > 10000 then
    raise exception 'the differences of the settings are no list of texts, or are more than 10000' using errcode = 'check_violation';
  end if;
  perform require_text(difference, 'a difference of the settings', 32767) from unnest(offered.differences) difference;
end
$$;

-- Nobody has to accept the first settings of an organisation. Where four eyes are set, a held run and looser settings are accepted by two people.
-- On the embedded database a second person is only another name that the first one types.
create function check_acceptance() returns trigger language plpgsql as $$
declare
  of_two text[];
begin
  perform require_text(new.accepted_by, 'the name of who accepts', 200);
  perform require_text(new.reason, 'the reason', 32767);
  perform require_present(tg_relid, new.accepted_at, 'the time of the acceptance');
  if not isfinite(new.until) then
    raise exception 'the day until which it is accepted is no day' using errcode = 'check_violation';
  end if;
  new.proposed_by := null;
  if new.kind = 'settings' then
    perform require_settings(new);
  end if;
  if new.kind = 'settings' and new.accepted_by = 'first settings' and not new.is_proposal
    and not exists (select from acceptance where organisation_id = new.organisation_id and not is_proposal) then
    return new;
  end if;
  perform require_author(new.accepted_by, new.is_attested, 'accept anything');
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
  perform require_owner(tg_relid, 'a run is accepted');
  if find_four_eyes((select organisation_id from run where run_id = new.run_id)) <> '{}'
    and (version() ~ 'emscripten' or not exists (
      select from acceptance proposal
      where proposal.run_id = new.run_id and proposal.is_proposal and proposal.accepted_by <> new.accepted_by
    ))
  then
    raise exception 'accepting a run takes two people' using errcode = 'insufficient_privilege';
  end if;
  -- Otherwise its customers would read as accepted by answers that nobody gave back.
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

create trigger refuse_rewriting before delete or update or truncate on acceptance for each statement
  execute function refuse_rewriting();
create trigger check_acceptance before insert on acceptance for each row
  execute function check_acceptance();

-- Names are looked up in temporary tables first unless a function says otherwise, and everybody may make some: whatever checks or writes on
-- somebody's behalf looks in the catalogue, then among the tables it belongs to, and there last.
do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
  one regprocedure;
begin
  foreach one in array array(
    select oid::regprocedure from pg_proc
    where pronamespace = tables_schema
      and (prolang = (select oid from pg_language where lanname = 'plpgsql') or proname in ('counts_as_true_match', 'find_four_eyes', 'find_settings_of_two', 'find_proposers'))
  ) loop
    execute format('alter function %s set search_path = pg_catalog, %s, pg_temp', one, tables_schema);
  end loop;
end
$$;

revoke execute on function judge_customers, tell_webhooks, open_run_range, hold_party_states from public;
