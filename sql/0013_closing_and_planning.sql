-- What a run costs beside its searches: its plan and its balance, both of them in a few walks through its rows.

-- A plan is one statement with a row for each customer. Two references that are looked up row by row took longer than everything else
-- of it; they are checked for the whole statement instead, and hold as they did.
alter table screening drop constraint screening_run_id_fkey, drop constraint screening_party_id_fkey;

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

create trigger screening_references after insert on screening
  referencing new table as planned for each statement execute function check_screening_references();

create function refuse_other_reference() returns trigger language plpgsql as $$
begin
  raise foreign_key_violation using message = format('%s cannot be changed: screenings go by it', tg_argv[0]);
end
$$;

create trigger screening_keeps_references before update of run_id, party_id on screening
  for each row when ((old.run_id, old.party_id) is distinct from (new.run_id, new.party_id))
  execute function refuse_other_reference('the run or the party of a screening');
create trigger run_keeps_number before update of run_id on run
  for each row when (old.run_id is distinct from new.run_id) execute function refuse_other_reference('the number of a run');
create trigger party_keeps_number before update of party_id on party
  for each row when (old.party_id is distinct from new.party_id) execute function refuse_other_reference('the number of a party');

-- The lock lets those finish who are about to add screenings, and whoever comes later sees what is gone.
create function refuse_missing() returns trigger language plpgsql as $$
declare
  key text := tg_argv[0];
  is_named boolean;
begin
  lock table screening in share mode;
  execute format('select exists (select from gone join screening on screening.%1$I = gone.%1$I)', key) into is_named;
  if is_named then
    raise foreign_key_violation using message = format('a %s that has screenings cannot be removed', tg_table_name);
  end if;
  return null;
end
$$;

create trigger run_stays after delete on run
  referencing old table as gone for each statement execute function refuse_missing('run_id');
create trigger party_stays after delete on party
  referencing old table as gone for each statement execute function refuse_missing('party_id');

create function refuse_emptying() returns trigger language plpgsql as $$
begin
  lock table screening in share mode;
  if exists (select from screening) then
    raise foreign_key_violation using message = format('%s cannot be emptied before screening is', tg_table_name);
  end if;
  return null;
end
$$;

create trigger run_is_kept before truncate on run for each statement execute function refuse_emptying();
create trigger party_is_kept before truncate on party for each statement execute function refuse_emptying();

-- Both sides of the conservation sums as before, counted from the rows and not taken from run.sums. What proves an answer is looked up once
-- for each batch, and the ledger is laid beside the searches instead of being asked for each: no guess at their sizes can make that slow.
create or replace view run_balance as
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
  select count(*) as rejected from roster_reject where roster_reject.import_id = imported.import_id
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
        or exists (select from commit_batch batch where batch.batch_id = saved.batch_id and batch.run_id = run.run_id)
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

-- What the matches of an answer come to, so that a run that closes need not read them all again; null in answers older than this, whose
-- matches are counted.
alter table response
  add column matches integer,
  add column hits integer,
  add column first_match_id text,
  add constraint response_hits_check check (hits between 0 and matches) not valid;
