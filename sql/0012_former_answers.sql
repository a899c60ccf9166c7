-- What an answer took the place of, until control searches have shown that the service was well when it gave it.

-- The answer before the one of `run_id`: null where there was none. Read only while that run is open; the next answer overwrites it.
alter table party_state
  add column former_run_id bigint,
  add column former_screened_at timestamptz,
  -- What it said and under which settings; null where it was the same and only its date is new.
  add column former_answer jsonb;

-- What open runs have replaced already is not known any more: those answers can only be dated back, so that they are due again.
update party_state set former_run_id = party_state.run_id, former_screened_at = 'epoch'
from run
where run.run_id = party_state.run_id and run.state in ('running', 'stopped');

-- The last batch that was saved before a round of control searches passed as a whole: what was saved later is not confirmed yet.
alter table run add column confirmed_batch_id bigint;

-- Answers that control searches took back: no longer an outcome of their run, and evidence all the same.
create table taken_back_answer (
  run_id bigint not null references run,
  party_id bigint not null references party,
  outcome text not null check (outcome in ('screened', 'reused')),
  response_id bigint not null references response,
  batch_id bigint not null references commit_batch,
  taken_back_at timestamptz not null,
  primary key (run_id, party_id)
);

-- Changes that such answers seemed to show; nothing that reads change_event knows of them.
create table taken_back_change (
  change_id bigint primary key,
  run_id bigint not null references run,
  batch_id bigint not null references commit_batch,
  party_id bigint not null references party,
  customer_version integer not null,
  kind text not null,
  severity text not null,
  rule text not null,
  cause text not null,
  is_baseline boolean not null,
  match_id text not null,
  fields text[] not null,
  before jsonb,
  after jsonb,
  taken_back_at timestamptz not null
);

create index taken_back_change_by_run on taken_back_change (run_id);
