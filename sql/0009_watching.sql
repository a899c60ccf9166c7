-- Watching the service: canaries by round, what is usual to find, lists that look capped, changes told while a run goes on.

-- Canaries are asked several times in a run; a failed round stays beside those that passed later.
alter table canary_outcome
  -- From 1 in each run.
  add column round integer not null default 1,
  add column occasion text not null default 'start' check (occasion in ('start', 'resumed', 'periodic', 'control', 'end')),
  -- Searches of the plan that were answered by then.
  add column searches integer not null default 0,
  add column asked_at timestamptz,
  add column label text,
  -- A hit must carry one of them; empty where any hit will do.
  add column topics text[] not null default '{}';

update canary_outcome set asked_at = run.started_at from run where run.run_id = canary_outcome.run_id;

alter table canary_outcome
  alter column asked_at set not null,
  drop constraint canary_outcome_pkey,
  add primary key (run_id, round, ordinal);

-- What a run found against what is usual, and whether its lists look capped; judged when it closes.
create table run_watch (
  run_id bigint primary key references run,
  -- Whether later runs are compared with it.
  is_comparable boolean not null,
  -- Customers screened, and what their answers held; the squares, per answer, tell how bunched that is.
  screened integer not null,
  matches bigint not null,
  match_squares double precision not null,
  hits bigint not null,
  hit_squares double precision not null,
  -- The judgement of both rates; null where the run was not judged.
  rates jsonb,
  cap integer,
  cap_standing text check (cap_standing in ('known', 'found', 'gone')),
  -- Customers with a list of just that length.
  capped_customers integer,
  check ((cap is null) = (cap_standing is null)),
  check ((cap is null) = (capped_customers is null))
);

-- Lengths at which an account's lists were found to be cut without a word.
create table list_cap (
  cap_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  length integer not null check (length > 0),
  found_run_id bigint not null references run,
  found_at timestamptz not null,
  -- The run that had a longer list, or one that showed a shorter cap.
  gone_run_id bigint references run,
  gone_at timestamptz,
  check ((gone_run_id is null) = (gone_at is null))
);

-- One at a time stands for an account.
create unique index list_cap_standing on list_cap (account_id) where gone_at is null;

-- What recipients were told while a run was going on: critical changes up to and including `last_change_id`.
create table early_warning (
  run_id bigint not null references run,
  -- Empty: told as an event only, because no mail is configured.
  recipient text not null,
  sequence integer not null,
  first_change_id bigint not null,
  last_change_id bigint not null,
  changes integer not null,
  -- When the first of them was queued, and when the mail was last tried.
  queued_at timestamptz not null,
  tried_at timestamptz not null,
  -- Null until the mail was accepted.
  accepted_at timestamptz,
  primary key (run_id, recipient, sequence)
);

create index change_event_critical on change_event (run_id, change_id) where severity = 'critical';
