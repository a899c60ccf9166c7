-- What a run has found is read from where its items were last made of it, however many changes it or earlier runs have.
create index change_event_in_order on change_event (run_id, change_id);
drop index change_event_by_run;
