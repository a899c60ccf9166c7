-- Which keys a run worked under: one, unless the key was replaced while it ran.
create table run_key (
  run_id bigint not null references run,
  -- The first 12 hex digits of the key's SHA-256.
  fingerprint text not null,
  first_used_at timestamptz not null,
  primary key (run_id, fingerprint)
);

insert into run_key (run_id, fingerprint, first_used_at)
select run_id, key_fingerprint, started_at from run where key_fingerprint is not null;

alter table run drop column key_fingerprint;
