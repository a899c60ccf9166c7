-- What a report of a run covers; fixed when it is first written, so that it can be made again.

create table report (
  run_id bigint not null references run,
  revision integer not null,
  sweep_run_ids bigint[] not null,
  -- Earlier runs of the roster whose changes no report had told.
  earlier_run_ids bigint[] not null,
  created_at timestamptz not null,
  -- Null until the report has been written whole.
  manifest_sha256 text,
  -- Null until every recipient has been handed it.
  sent_at timestamptz,
  primary key (run_id, revision)
);
