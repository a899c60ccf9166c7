-- What functions see, and who may call them.

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
      and (prolang = (select oid from pg_language where lanname = 'plpgsql') or proname in ('counts_as_true_match', 'find_four_eyes'))
  ) loop
    execute format('alter function %s set search_path = pg_catalog, %s, pg_temp', one, tables_schema);
  end loop;
end
$$;

revoke execute on function find_unrecorded_states, note_coverage, record_states_of, tell_webhooks, open_run_range, drop_run_range, find_run_range_use, hold_states, record_state_changes, hold_party_states from public;
