-- Lighter writes: what every search of a night writes costs about half as much.

-- A row of the ledger is written before its call and once more after it, a party's state once a night: with room beside them, no index
-- has to be written again. Less is stored, too: without room each version has index entries of its own.
alter table search_attempt set (fillfactor = 45);
alter table party_state set (fillfactor = 45);

-- A foreign key looks its run up again for every row, and all rows of a statement are of one run. Looked up once for each statement, under
-- the same lock, it holds as well.
create function require_run() returns trigger language plpgsql as $$
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

create function keep_run() returns trigger language plpgsql as $$
begin
  if exists (select from search_attempt where run_id = old.run_id) or exists (select from party_state where run_id = old.run_id) then
    raise foreign_key_violation
      using message = format('run %s is still referred to', old.run_id), table = tg_table_name, constraint = tg_name;
  end if;
  return null;
end
$$;

-- A call stays with the run that made it.
create function refuse_other_run() returns trigger language plpgsql as $$
begin
  raise integrity_constraint_violation
    using message = format('attempt %s belongs to run %s', old.attempt_id, old.run_id), table = tg_table_name, constraint = tg_name;
end
$$;

alter table search_attempt drop constraint search_attempt_run_id_fkey;
create trigger search_attempt_run after insert on search_attempt
  referencing new table as written for each statement execute function require_run();
create trigger search_attempt_run_moved after update of run_id on search_attempt
  for each row execute function refuse_other_run();

alter table party_state drop constraint party_state_run_id_fkey;
create trigger party_state_run after insert on party_state
  referencing new table as written for each statement execute function require_run();
create trigger party_state_run_changed after update on party_state
  referencing new table as written for each statement execute function require_run();

create trigger run_referred_to after delete or update of run_id on run for each row execute function keep_run();
