-- What waited for reviewers when a run closed, as its report's workbook shows it to be filled in.

-- An item as such workbooks show it; what stays as it was is stored once.
create table shown_item (
  shown_id bigint generated always as identity primary key,
  item_id bigint not null references review_item,
  facts jsonb not null
);

create index shown_item_by_item on shown_item (item_id, shown_id);

-- Of the workbook of a run's report: what it shows, what is most urgent first, and of how many that waited.
alter table review_sheet
  add column run_id bigint references run,
  add column shown_ids bigint[],
  add column waiting integer,
  add check ((run_id is null) = (shown_ids is null) and (run_id is null) = (waiting is null));

create index review_sheet_by_run on review_sheet (run_id) where run_id is not null;
