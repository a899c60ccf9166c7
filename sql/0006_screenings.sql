-- What a run plans and what comes of it: planned screenings, control searches, and each party's last answer.

-- The plan of an open run, of up to 128 parties a row, written once and deleted when the run ends. What came of a party is read from its
-- state, so that an answer writes nothing here; a row of `planned_screening` takes precedence.
create table plan_block (
  run_id bigint references run,
  -- The party without its last 7 bits, which are in `places`.
  party_range bigint,
  part smallint,
  plan_reason text not null check (plan_reason in ('new', 'changed', 'cadence', 'forced', 'previously_failed', 'overdue', 'not_due', 'not_selected')),
  outcome text not null check (outcome in ('remaining', 'skipped')),
  -- Stable code, for skipped.
  outcome_reason text,
  -- Offsets from it are in `requests`.
  request_base bigint not null,
  -- Of all of them; null where they differ.
  customer_version integer,
  places "char"[] not null,
  requests integer[] not null,
  customer_versions integer[],
  -- The place of each party's search: risk, then reason, then age; null for parties that are not searched for.
  search_orders smallint[],
  primary key (run_id, party_range, part)
);

-- Plan and outcome of parties for which more than their plan is to be said: that failed, reuse an answer, or whose answer was retracted. When
-- the run has ended, also of those that were left, and of those that were skipped although they were due.
create table planned_screening (
  run_id bigint,
  party_id bigint,
  request_id bigint not null,
  response_id bigint,
  batch_id bigint,
  customer_version integer not null,
  plan_reason text not null check (plan_reason in ('new', 'changed', 'cadence', 'forced', 'previously_failed', 'overdue', 'not_due', 'not_selected')),
  outcome text not null check (outcome in ('remaining', 'screened', 'reused', 'failed', 'skipped')),
  -- Stable code, for failed and skipped.
  outcome_reason text,
  -- The place of a planned party's search: risk, then reason, then age; null for a party that is not searched for.
  search_order smallint,
  primary key (run_id, party_id),
  check ((outcome in ('screened', 'reused')) = (response_id is not null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- The usual outcomes of an ended run, searched or not due, of up to 128 parties a row: about 15 bytes for each instead of 130.
create table screening_block (
  run_id bigint references run,
  -- The party without its last 7 bits, which are in `places`.
  party_range bigint,
  part smallint,
  plan_reason text not null,
  outcome text not null check (outcome in ('screened', 'skipped')),
  -- Offsets from these.
  request_base bigint not null,
  response_base bigint,
  batch_base bigint,
  -- Of all of them; null where they differ.
  customer_version integer,
  places "char"[] not null,
  requests integer[] not null,
  responses integer[],
  batches integer[],
  customer_versions integer[],
  primary key (run_id, party_range, part)
) partition by range (run_id);

-- Parties for which a run does not go by their screening frequency: it searches for them whatever that is, as noted before its plan is made; or
-- another answer stands in for their search, as found when the plan is made and used when its run begins to screen.
create table plan_exception (
  run_id bigint references run,
  party_id bigint references party,
  -- Why it is searched for.
  because text check (because <> ''),
  response_id bigint references response,
  -- The run that had it answered, and when.
  answered_run_id bigint references run,
  answered_at timestamptz,
  primary key (run_id, party_id),
  check (num_nulls(response_id, answered_run_id, answered_at) = case when because is null then 0 else 3 end)
);

create index plan_exception_by_party on plan_exception (party_id);

-- Each plan looks for what earlier runs have left unsearched.
create index plan_exception_forced on plan_exception (run_id) where (because is not null);

create index plan_exception_by_response on plan_exception (response_id) where (response_id is not null);

create index plan_exception_by_run on plan_exception (answered_run_id) where (answered_run_id is not null);

-- The last valid answer for a party on an account, which the next one is compared with.
create table party_state (
  account_id bigint references account,
  party_id bigint references party,
  run_id bigint not null,
  -- What saved the answer; null once an earlier answer counts again.
  batch_id bigint,
  request_id bigint not null,
  response_id bigint not null references response,
  customer_version integer not null,
  settings_digest text not null,
  screened_at timestamptz not null,
  state text not null check (state in ('clear', 'below_threshold', 'truncated', 'open_alert')),
  -- Scores last reported where they differ from the answer's, by match id: slow drift is measured from these.
  reported_scores jsonb,
  -- Known matches that cut lists have hidden since they were last seen: {"listedId", "rank", "isHit", "score"} each.
  unreturned jsonb check (not jsonb_path_exists(unreturned, '$[*] ? (@.listedId == null)')),
  -- The newest run in which a search for the party failed; it counts while no later run has had a valid answer.
  failed_run_id bigint,
  -- The answer before the one of `run_id`: null where there was none. Read only while that run is open; the next answer overwrites it.
  former_run_id bigint,
  former_screened_at timestamptz,
  -- What it said and under which settings; null where it was the same and only its date is new.
  former_answer jsonb,
  primary key (party_id, account_id)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index party_state_by_response on party_state (response_id);

-- The few answers that were cut: who was never searched is found in the primary key alone.
create index party_state_incomplete on party_state (account_id, party_id) where (state = 'truncated');

-- Plan and outcome of each party of the open runs, and what is not usual of those that have ended. A party that was planned is screened once
-- its last answer is of that run. One party is found by its range as well.
create view open_screening as
select
  run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order,
  party_id >> 7 as party_range
from planned_screening
union all
select
  block.run_id, one.party_id, one.request_id, state.response_id, state.batch_id, one.customer_version, block.plan_reason,
  case when state.party_id is null then block.outcome else 'screened' end, block.outcome_reason, one.search_order, block.party_range
from plan_block block
join run on run.run_id = block.run_id
cross join lateral (
  select
    (block.party_range << 7) + place::integer as party_id, block.request_base + request as request_id,
    coalesce(block.customer_version, version) as customer_version, search_order
  from unnest(block.places, block.requests, block.customer_versions, block.search_orders) as listed (place, request, version, search_order)
) one
left join party_state state
  on state.account_id = run.account_id and state.party_id = one.party_id and state.run_id = block.run_id and block.outcome = 'remaining'
where not exists (select from planned_screening known where known.run_id = block.run_id and known.party_id = one.party_id);

-- Plan and outcome of each party in each run; one party is found by its range as well.
create view screening as
select
  run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason, search_order, party_range
from open_screening
union all
select
  block.run_id, (block.party_range << 7) + one.place::integer, block.request_base + one.request, block.response_base + one.response,
  block.batch_base + one.batch, coalesce(block.customer_version, one.customer_version), block.plan_reason, block.outcome,
  case block.outcome when 'skipped' then 'not_due' end, null, block.party_range
from screening_block block
cross join lateral unnest(block.places, block.requests, block.responses, block.batches, block.customer_versions)
  as one (place, request, response, batch, customer_version);

-- Control searches of a run and what came of them.
create table control_outcome (
  run_id bigint references run,
  ordinal smallint,
  type text not null,
  name text not null,
  expect text not null check (expect in ('match', 'none')),
  verdict text not null check (verdict in ('passed', 'failed')),
  found text,
  response_id bigint references response,
  -- Controls are asked several times in a run; a failed round stays beside those that passed later.
  -- From 1 in each run.
  round integer default 1,
  occasion text default 'start' not null check (occasion in ('start', 'resumed', 'periodic', 'control', 'end')),
  -- Searches of the plan that were answered by then.
  searches integer default 0 not null,
  asked_at timestamptz not null,
  label text,
  -- A hit must carry one of them; empty where any hit will do.
  topics text[] default '{}' not null,
  primary key (run_id, round, ordinal)
);

create index control_outcome_by_response on control_outcome (response_id) where (response_id is not null);

-- Planned anew each time: a plan made for a few customers would be a poor one for a million.
create function check_screening_references() returns trigger language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  if exists (
    select from (select distinct run_id from planned) named where not exists (select from run where run.run_id = named.run_id)
  ) or exists (
    select from planned where not exists (select from party where party.party_id = planned.party_id)
  ) then
    raise foreign_key_violation using message = 'a screening names a run or a party that does not exist';
  end if;
  return null;
end
$$;

-- As for rows: of each range its parties are looked up together.
create function check_plan_references() returns trigger language plpgsql set plan_cache_mode = force_custom_plan as $$
begin
  if exists (
    select from planned block cross join lateral unnest(block.places) as place
    where not exists (select from party where party.party_id = (block.party_range << 7) + place::integer)
  ) then
    raise foreign_key_violation using message = 'a plan names a party that does not exist';
  end if;
  return null;
end
$$;

-- Screenings go by the numbers of runs and parties.
create function refuse_emptying() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise foreign_key_violation using message = format('the numbers of rows of %s cannot be changed: screenings go by them', tg_table_name);
  end if;
  lock table plan_block, planned_screening in share mode;
  if exists (select from screening) then
    raise foreign_key_violation using message = format('%s cannot be emptied before screening is', tg_table_name);
  end if;
  return null;
end
$$;

-- The lock lets those finish who are about to add screenings, and whoever comes later sees what is gone.
create function refuse_missing() returns trigger language plpgsql as $$
declare
  key text := tg_argv[0];
  is_named boolean;
begin
  lock table plan_block, planned_screening in share mode;
  execute format('select exists (select from gone join planned_screening screening on screening.%1$I = gone.%1$I)', key) into is_named;
  if not is_named and key = 'run_id' then
    select exists (select from gone join party_state using (run_id)) into is_named;
  elsif not is_named then
    select exists (
      select from gone
      join screening_block block
        on block.party_range = gone.party_id >> 7 and (gone.party_id & 127)::integer::"char" = any (block.places)
      union all
      select from gone
      join plan_block block
        on block.party_range = gone.party_id >> 7 and (gone.party_id & 127)::integer::"char" = any (block.places)
    ) into is_named;
  end if;
  if is_named then
    raise foreign_key_violation using message = format('a %s that has screenings cannot be removed', tg_table_name);
  end if;
  return null;
end
$$;

create function refuse_other_reference() returns trigger language plpgsql as $$
begin
  raise foreign_key_violation using message = 'the run and the party of a screening cannot be changed';
end
$$;

-- A foreign key looks its run up again for every row, and all rows of a statement are of one run. Looked up once for each statement, under
-- the same lock, it holds as well.
create function require_run() returns trigger language plpgsql security definer as $$
declare
  missing bigint;
begin
  select wanted.run_id into missing
  from (select distinct run_id from written) wanted
  where not exists (select from run where run.run_id = wanted.run_id for key share)
  limit 1;
  if found then
    raise foreign_key_violation
      using message = format('there is no run %s for rows of %I', missing, tg_table_name), table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

-- Counts the states that are dated (`known`); one that the run has given already is left alone. `is_explicit`: some of the parties have a row in
-- `planned_screening`, which takes their outcome as well.
create function date_states(
  for_account bigint, by_run bigint, by_batch bigint, moment timestamptz, parties bigint[], others bigint[],
  out known bigint, out is_explicit boolean
)
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  with dated as (
    update party_state set
      run_id = case when party_id = any (others) then run_id else by_run end,
      batch_id = case when party_id = any (others) then batch_id else by_batch end,
      screened_at = case when party_id = any (others) then screened_at else moment end,
      former_run_id = case when party_id = any (others) then former_run_id else run_id end,
      former_screened_at = case when party_id = any (others) then former_screened_at else screened_at end,
      former_answer = case when party_id = any (others) then former_answer end
    where account_id = for_account and party_id = any (parties) and run_id <> by_run
    returning party_id
  )
  select count(*) filter (where party_id <> all (others)) into known from dated;
  is_explicit := exists (select from planned_screening where run_id = by_run and party_id = any (parties));
end
$$;

-- Rejected rows of related parties are no rows of the roster.
create view run_balance as
select
  run.run_id,
  coalesce(imported.rows, 0)::bigint as rows,
  coalesce(imported.customers, 0)::bigint as customers,
  coalesce(imported.duplicates, 0)::bigint as duplicates,
  rejects.rejected,
  coalesce(run.in_scope, 0)::bigint as in_scope,
  tally.in_plan,
  tally.planned,
  tally.skipped,
  tally.screened,
  tally.reused,
  tally.failed,
  tally.remaining,
  answers.answered_parties,
  answers.proven_parties,
  calls.answered_searches,
  calls.recorded_searches
from run
left join lateral (
  select import_id, rows, customers, duplicates from roster_import
  where roster_import.run_id = run.run_id
  order by import_id desc limit 1
) imported on true
cross join lateral (
  select count(*) as rejected from roster_row rejected_row
  where rejected_row.import_id = imported.import_id and not is_party and reason is not null
) rejects
-- Each customer once, in the worst state of its parties.
cross join lateral (
  select
    count(*) as in_plan,
    count(*) filter (where worst > 0) as planned,
    count(*) filter (where worst = 0) as skipped,
    count(*) filter (where worst = 1) as reused,
    count(*) filter (where worst = 2) as screened,
    count(*) filter (where worst = 3) as remaining,
    count(*) filter (where worst = 4) as failed
  from (
    select max(array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], screening.outcome) - 1) as worst
    from screening
    join party on party.party_id = screening.party_id
    where screening.run_id = run.run_id
    group by party.customer_id
  ) customers
) tally
-- Nobody is screened without an answer that is stored, nor without the transaction that stored it.
cross join lateral (
  select
    coalesce(sum(answered), 0)::bigint as answered_parties,
    coalesce(sum(stored) filter (
      where outcome = 'reused'
        or exists (select from search_batch batch where batch.batch_id = saved.batch_id and batch.run_id = run.run_id)
    ), 0)::bigint as proven_parties
  from (
    select
      screening.outcome,
      screening.batch_id,
      count(*) as answered,
      count(*) filter (
        where exists (select from response where response.response_id = screening.response_id)
      ) as stored
    from screening
    where screening.run_id = run.run_id and screening.outcome in ('screened', 'reused')
    group by screening.outcome, screening.batch_id
  ) saved
) answers
-- Nor without a call in the ledger that this run made and that was answered.
cross join lateral (
  select
    count(*) filter (where is_answered) as answered_searches,
    count(*) filter (where is_answered and is_recorded) as recorded_searches
  from (
    select request_id, bool_or(is_answer) as is_answered, bool_or(not is_answer) as is_recorded
    from (
      select screening.request_id, true as is_answer
      from screening where screening.run_id = run.run_id and screening.outcome = 'screened'
      union all
      select attempt.request_id, false
      from search_attempt attempt where attempt.run_id = run.run_id and attempt.outcome = 'ok'
    ) beside
    group by request_id
  ) searched
) calls;

create trigger run_stays after delete on run referencing old table as gone for each statement
  execute function refuse_missing('run_id');
create trigger run_is_kept before truncate or update of run_id on run for each statement
  execute function refuse_emptying();

create trigger party_stays after delete on party referencing old table as gone for each statement
  execute function refuse_missing('party_id');
create trigger party_is_kept before truncate or update of party_id on party for each statement
  execute function refuse_emptying();

create trigger plan_references after insert on plan_block referencing new table as planned for each statement
  execute function check_plan_references();
create trigger screening_references after insert on planned_screening referencing new table as planned for each statement
  execute function check_screening_references();
create trigger screening_keeps_references before update of run_id, party_id on planned_screening for each row
  when ((old.run_id, old.party_id) is distinct from (new.run_id, new.party_id))
  execute function refuse_other_reference();

create trigger refuse_rewriting before delete or update or truncate on screening_block for each statement
  execute function refuse_rewriting();

create trigger party_state_run after insert on party_state referencing new table as written for each statement
  execute function require_run();
create trigger party_state_run_changed after update on party_state referencing new table as written for each statement
  execute function require_run();

-- Otherwise the first runs of two rosters would both wait for the lock with which partitions are opened.
select open_run_range(0);
