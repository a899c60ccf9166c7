-- Names are looked up in temporary tables first unless a function says otherwise, and everybody may make some: whatever checks or writes on
-- somebody's behalf looks in the catalogue, then among the tables it belongs to, and there last.
do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
  function_name text;
begin
  foreach function_name in array array[
    'apply_disposition', 'check_screening_references', 'find_stand_in', 'keep_run', 'refuse_emptying', 'refuse_missing', 'refuse_orphans',
    'refuse_other_reference', 'refuse_other_run', 'refuse_rewriting', 'require_acceptor', 'require_actor', 'require_reviewer', 'require_run',
    'require_second_person', 'require_settled', 'require_table_owner'
  ] loop
    execute format('alter function %s.%I set search_path = pg_catalog, %s, pg_temp', tables_schema, function_name, tables_schema);
  end loop;
end
$$;
