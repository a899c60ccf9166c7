-- Which sweeps a report of a run covers; fixed when it is first written, so that it can be made again.

create table report (
  run_id bigint not null references run,
  revision integer not null,
  sweep_run_ids bigint[] not null,
  created_at timestamptz not null,
  manifest_sha256 text,
  primary key (run_id, revision)
);
