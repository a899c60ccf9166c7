-- The plan of a run and its outcome: planned parties, failures, control searches, and the last applied answer of each party.

-- The parties in scope of a run, each with its request, or with the reason why it is skipped.
create table planned (
  run_id bigint not null,
  party_id bigint not null,
  request_id bigint not null,
  customer_version integer not null,
  -- The order of the search: by risk, reason and age; null for a skipped party.
  search_order integer,
  reason text not null check (reason in ('new', 'changed', 'cadence', 'forced', 'previously_failed', 'overdue', 'not_due')),
  -- The code of why the party is skipped.
  skipped_because text,
  primary key (run_id, party_id),
  check ((search_order is null) = (skipped_because is not null))
) partition by range (run_id);

-- Planned requests whose search failed, with the code of the failure.
create table failure (
  run_id bigint references run,
  request_id bigint,
  reason text not null,
  primary key (run_id, request_id)
);

-- Parties that a run screens whatever their screening frequency is, and why; noted before the plan.
create table forced (
  run_id bigint references run,
  party_id bigint references party,
  because text not null check (because <> ''),
  primary key (run_id, party_id)
);

create index forced_by_party on forced (party_id);

-- Planned parties that may use an earlier answer instead of a search.
create table reused (
  run_id bigint references run,
  party_id bigint references party,
  response_id bigint not null references response,
  -- The run that received the answer, and when.
  answered_run_id bigint not null references run,
  answered_at timestamptz not null,
  -- The wave in which the run used the answer; null until then.
  wave integer,
  primary key (run_id, party_id)
);

create index reused_by_party on reused (party_id);
create index reused_by_response on reused (response_id);
create index reused_by_run on reused (answered_run_id);

-- The state that an answer gives a party once it is applied, where more than the date changes, with the state that it was compared with.
create table next_state (
  run_id bigint references run,
  party_id bigint references party,
  -- Null for a first screening.
  former_run_id bigint,
  former_request_id bigint,
  former_response_id bigint,
  former_settings_digest text,
  former_state text,
  former_unreturned jsonb,
  settings_digest text not null,
  state answer_state not null,
  -- As in `party_state`.
  reported_scores jsonb,
  unreturned jsonb check (not jsonb_path_exists(unreturned, '$[*] ? (@.listedId == null)')),
  -- A later run was applied before this one was accepted: the changes of this answer never count.
  is_superseded boolean default false not null,
  primary key (run_id, party_id)
);

create index next_state_superseded on next_state (run_id, party_id) where (is_superseded);

-- The last applied answer of a party on an account; the next answer is compared with it.
create table party_state (
  account_id bigint,
  party_id bigint references party,
  request_id bigint not null,
  customer_version integer not null,
  settings_digest text not null,
  state answer_state not null,
  -- The columns that each night changes are neighbours: the log of an update has 97 bytes instead of 185.
  response_id bigint not null references response,
  run_id bigint not null,
  screened_at timestamptz not null,
  -- The last reported scores that differ from the answer's, by match id: slow drift is measured from these.
  reported_scores jsonb,
  -- Known matches that truncated answers have lacked since they were last seen: {"listedId", "rank", "isHit", "score"} each.
  unreturned jsonb check (not jsonb_path_exists(unreturned, '$[*] ? (@.listedId == null)')),
  -- The newest run in which the search for the party failed; it counts until a later run has a valid answer.
  failed_run_id bigint,
  primary key (party_id, account_id)
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index party_state_by_response on party_state (response_id);
create index party_state_incomplete on party_state (account_id, party_id) where (state = 'truncated');

-- The parties of each plan with their answers, applied or not; `wave` is null where there is no answer.
create view planned_party as
select
  planned.run_id, planned.party_id, planned.request_id, planned.customer_version, planned.reason as plan_reason, planned.search_order,
  planned.skipped_because,
  reused.party_id is not null as is_reused,
  coalesce(reused.response_id, answer.response_id) as response_id,
  coalesce(reused.answered_at, answer.answered_at) as answered_at,
  coalesce(reused.wave, answer.wave) as wave
from planned
left join reused on reused.run_id = planned.run_id and reused.party_id = planned.party_id and reused.wave is not null
left join answer
  on answer.run_id = planned.run_id and answer.request_id = planned.request_id
  and planned.search_order is not null and reused.party_id is null;

create view party_answer as
select run_id, party_id, request_id, customer_version, plan_reason, is_reused, response_id, answered_at, wave
from planned_party where wave is not null;

-- The plan and the outcome of each party in each run, also before its answers are applied.
create view screening as
select
  party.run_id, party.party_id, party.request_id, party.customer_version, party.plan_reason, party.search_order,
  case when counted.is_valid then party.response_id end as response_id,
  party.answered_at, party.wave, party.is_reused,
  case
    when party.skipped_because is not null then 'skipped'
    when counted.is_valid then case when party.is_reused then 'reused' else 'screened' end
    when party.wave is not null or failure.reason is not null or run.unconfirmed_because = 'control_failed' then 'failed'
    else 'remaining'
  end as outcome,
  case
    when party.skipped_because is not null then party.skipped_because
    when counted.is_valid then null
    when counted.is_unproven then run.unconfirmed_because
    when party.wave is not null then 'held'
    else coalesce(failure.reason, case when run.unconfirmed_because = 'control_failed' then run.unconfirmed_because end)
  end as outcome_reason
from planned_party party
join run on run.run_id = party.run_id
left join failure on failure.run_id = party.run_id and failure.request_id = party.request_id and party.search_order is not null
cross join lateral (
  select coalesce(run.unconfirmed_because is not null and party.wave > run.proven_wave, false) as is_unproven
) proof
cross join lateral (
  select proof.is_unproven, party.wave is not null and (party.wave <= run.applied_wave or not (proof.is_unproven or run.is_held)) as is_valid
) counted;

-- Control searches of a run and their verdicts.
create table control_outcome (
  run_id bigint references run,
  ordinal smallint,
  type text not null,
  name text not null,
  expect text not null check (expect in ('match', 'none')),
  verdict text not null check (verdict in ('passed', 'failed')),
  found text,
  response_id bigint references response,
  -- From 1 in each run; a failed round stays beside later ones that passed.
  round integer default 1,
  occasion text default 'start' not null check (occasion in ('start', 'resumed', 'periodic', 'control', 'end')),
  -- The number of answered searches of the plan at that time.
  searches integer default 0 not null,
  asked_at timestamptz not null,
  label text,
  -- A hit must have one of them; empty where any hit is enough.
  topics text[] default '{}' not null,
  primary key (run_id, round, ordinal)
);

-- The counts of a run from its rows. Rejected rows of related parties do not count as rows of the roster.
create view run_balance as
select
  run.run_id,
  coalesce(imported.rows, 0)::bigint as rows,
  coalesce(imported.customers, 0)::bigint as customers,
  coalesce(imported.duplicates, 0)::bigint as duplicates,
  rejects.rejected,
  coalesce(run.in_scope, 0)::bigint as in_scope,
  tally.in_plan, tally.planned, tally.skipped, tally.screened, tally.reused, tally.failed, tally.remaining,
  answers.answered_searches, calls.recorded_searches
from run
left join lateral (
  select import_id, rows, customers, duplicates from roster_import
  where roster_import.run_id = run.run_id
  order by import_id desc limit 1
) imported on true
cross join lateral (
  select count(*) as rejected from roster_row rejected_row
  where rejected_row.import_id = imported.import_id and not is_party and reason is not null
) rejects
-- Each customer once, in the worst outcome of its parties.
cross join lateral (
  select
    count(*) as in_plan,
    count(*) filter (where worst > 0) as planned,
    count(*) filter (where worst = 0) as skipped,
    count(*) filter (where worst = 1) as reused,
    count(*) filter (where worst = 2) as screened,
    count(*) filter (where worst = 3) as remaining,
    count(*) filter (where worst = 4) as failed
  from (
    select max(array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], screening.outcome) - 1) as worst
    from screening
    join party on party.party_id = screening.party_id
    where screening.run_id = run.run_id
    group by party.customer_id
  ) customers
) tally
-- Each screened party has an answered call in the ledger, and each answered call belongs to a planned search.
cross join lateral (
  select count(distinct screening.request_id) as answered_searches
  from screening where screening.run_id = run.run_id and screening.outcome = 'screened'
) answers
cross join lateral (
  select count(distinct answer.request_id) as recorded_searches
  from answer
  where answer.run_id = run.run_id and (
    answer.wave <= run.applied_wave or not (run.is_held or run.unconfirmed_because is not null and answer.wave > run.proven_wave)
  )
) calls;
