-- A night in which nearly nothing has changed: what reports have shown before is not put together anew, and no answer that is the same is held
-- by a statement of its own.

-- Counts what has happened to the item: each change of its row, each decision, and what an older system says.
alter table review_item add column revision bigint not null default 1;

create function count_revision() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;

create trigger count_revision before update on review_item for each row execute function count_revision();

-- What an older system says changes no other column of the item.
create function note_legacy_decision() returns trigger language plpgsql security definer as $$
begin
  update review_item set revision = revision where item_id = new.item_id;
  return null;
end
$$;

create trigger note_legacy_decision after insert on legacy_decision for each row execute function note_legacy_decision();

-- What the facts were put together from; null where that was before it was noted. Who answers for an item can be another without it.
alter table shown_item
  add column revision bigint,
  add column owner jsonb;

-- Dates answers of parties that are as they were, in the order of the parties: whoever reviews holds them in that order too, so a run and a
-- reviewer never wait for each other. `others`, whose answers are to be replaced, stay as they are and are held in their turn. Only a walk
-- through the index has that order, and it needs no statement that holds them all beforehand.
create function date_states(for_account bigint, by_run bigint, moment timestamptz, parties bigint[], others bigint[]) returns void
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  update party_state set
    run_id = case when party_id = any (others) then run_id else by_run end,
    screened_at = case when party_id = any (others) then screened_at else moment end,
    former_run_id = case when party_id = any (others) or run_id = by_run then former_run_id else run_id end,
    former_screened_at = case when party_id = any (others) or run_id = by_run then former_screened_at else screened_at end,
    former_answer = case when party_id = any (others) or run_id = by_run then former_answer end
  where account_id = for_account and party_id = any (parties);
end
$$;

-- What a closing run has these tables looked through for: that they are many, of which run and whose. A fifth of the usual sample tells as much
-- of rows that are as wide as these.
alter table change_event
  alter column run_id set statistics 20,
  alter column party_id set statistics 20,
  alter column is_baseline set statistics 20,
  alter column cause set statistics 20;
alter table review_item
  alter column account_id set statistics 20,
  alter column party_id set statistics 20;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %1$s.count_revision set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
  execute format('alter function %1$s.note_legacy_decision set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;
