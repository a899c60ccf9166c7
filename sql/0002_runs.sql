-- Runs: what was asked for, who runs it, how it ended, what it is held for, and what people have accepted.

-- A run cannot be stored as come to its end with sums that do not hold; null sums are those of a sweep or of an early stop.
create function run_sums_hold(sums jsonb) returns boolean language sql immutable as $$
  select coalesce(
    (counts.rows = counts.customers + counts.rejected + counts.duplicates)
    and (counts."inScope" = counts.planned + counts.skipped)
    and (counts.planned = counts.screened + counts.reused + counts.failed + counts.remaining)
    and (
      counts."inScope" = states.clear + states.below_threshold + states.false_positive + states.truncated
        + states.not_screened + states.open_alert + states.true_match
    ),
    false
  )
  from jsonb_to_record(sums -> 'counts') as counts (
    rows bigint, customers bigint, rejected bigint, duplicates bigint, "inScope" bigint, planned bigint, skipped bigint,
    screened bigint, reused bigint, failed bigint, remaining bigint
  )
  cross join jsonb_to_record(sums -> 'states') as states (
    clear bigint, below_threshold bigint, false_positive bigint, truncated bigint, not_screened bigint,
    open_alert bigint, true_match bigint
  )
$$;

-- Locks are rows: the epoch is the fencing number that every write of a run checks.
create table lease (
  lease_key text primary key,
  epoch bigint not null,
  owner text not null,
  acquired_at timestamptz not null,
  heartbeat_at timestamptz not null,
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create table run (
  run_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  roster_id bigint references roster,
  -- Null until the service has said whose key it is.
  account_id bigint references account,
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile')),
  state text not null check (state in ('running', 'complete', 'incomplete', 'stopped', 'unbalanced', 'refused', 'abandoned')),
  state_reasons text[] default '{}' not null,
  -- How far it has come; a resumed run goes on from here.
  stage text not null check (stage in ('started', 'imported', 'planned', 'screened', 'finished')),
  -- Which parties its plan covers; null for a run without a plan.
  selection text check (selection in ('due', 'new', 'all', 'forced', 'dirty')),
  -- Customers it answers for, counted apart from its plan.
  in_scope integer,
  lease_key text not null,
  epoch bigint not null,
  owner text not null,
  resumed integer default 0 not null,
  settings_digest text not null,
  version text not null,
  -- The run whose results this one is compared with.
  compared_run_id bigint references run,
  started_at timestamptz not null,
  finished_at timestamptz,
  -- Sums, fixed when the run closes: counts, states, skipped, baseline.
  sums jsonb,
  -- How often each risk tier is screened, and why less than daily where it is.
  cadence jsonb,
  -- Calls that the service may have billed, counted from the ledger when the run closes; null for one that is open.
  billable_attempts integer,
  -- The settings that a run was begun with, without secrets, so that what differs can be named before it is resumed.
  settings jsonb,
  halted_by text check (halted_by in ('account', 'address', 'outage', 'budget', 'max_searches', 'signal')),
  -- The last batch that was saved before a round of control searches passed as a whole: what was saved later is not confirmed yet.
  confirmed_batch_id bigint,
  -- The file that was given with the command in place of the configured source; '-' for standard input.
  roster_file text,
  -- Up to which of a run's changes its alerts are made.
  projected_change_id bigint,
  -- What waited for reviewers when the run closed: a report says so, whenever it is made again.
  open_alerts jsonb,
  -- How many hits were new, and how many of their records were asked for; null where none were to be fetched.
  details jsonb,
  -- Under which accepted settings it was begun.
  settings_id bigint,
  -- How its calls went: rate, repeats, breaks, cost.
  health jsonb,
  -- Alerts that nobody has to decide about any more, and what the run did with them.
  settled_alerts jsonb,
  -- Ids without an accepted record when the run was planned, by reason: in scope and skipped, beside the customers of the plan.
  unaccepted jsonb,
  -- The keys it worked under, in order of first use, by the first 12 hex digits of their SHA-256: one, unless the key was replaced meanwhile.
  keys text[] default '{}' not null,
  -- What it found against what is usual, and whether its lists look capped; judged when it closes. With sums of squares, which show how
  -- concentrated the findings are.
  watch jsonb,
  -- Searches that were made again before it was judged, and the listed parties that had vanished by the first answers.
  second_search jsonb,
  -- How a sweep ended: {"pages", "dossiers", "appeared", "changed", "gone", "proven", "unprovenBecause", "details" (what became of its look-ups; null
  -- where none were to be made)}; null before its end.
  sweep jsonb check (sweep is null or kind = 'sweep' and (sweep ->> 'proven')::boolean is not null),
  -- The published list that was compared with the customers before it was planned (whom it forced stands in its plan), or that a measurement of
  -- recall takes its sample from: {"file", "format", "files" (each with the SHA-256, hex), "digest", "listed"}. Of a comparison "spellings", and with
  -- its sums "comparedAt" once every customer has been compared. Of a measurement "seed", "spelling", "sampleSize", "atLeast".
  published_list jsonb check ((published_list ? 'spellings') <> (published_list ? 'seed')),
  -- By topic family: listed parties that were hits before it, among the customers that it searched for (`known`) and of all its roster
  -- (`standing`), and how many of the known it no longer found.
  vanishing jsonb,
  -- When what it planned, sent and found for each party was dropped (`drop_run_range`), by whom and why; null while it is stored.
  dropped_at timestamptz,
  dropped_by text check (dropped_by <> ''),
  dropped_because text check (dropped_because <> ''),
  check (num_nulls(dropped_at, dropped_by, dropped_because) in (0, 3)),
  constraint run_sums_hold check ((state not in ('complete', 'incomplete', 'stopped')) or (sums is null) or run_sums_hold(sums))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create index run_by_compared on run (compared_run_id) where (compared_run_id is not null);

create index run_by_lease on run (lease_key, run_id);

create index run_by_account on run (account_id, run_id);

-- Every process that worked on a run: the first is worker 1, and each that resumes it is the next.
create table run_worker (
  run_id bigint references run,
  worker integer,
  epoch bigint not null,
  owner text not null,
  taken_at timestamptz not null,
  -- What was no longer as the run was begun with, in words.
  differences text[] not null,
  -- How many calls it has noted, sent or not: budgets watch these.
  calls integer default 0 not null,
  primary key (run_id, worker)
) with (fillfactor = 50);

create table run_hold (
  run_id bigint references run,
  -- `answers`: all answers of the run are withheld. `webhooks`: only what webhooks would be sent of it. `roster`: the run went on with the last
  -- accepted roster.
  kind text check (kind in ('answers', 'webhooks', 'roster')),
  -- In words, with both figures; of a roster its guards.
  reasons text[] not null check (cardinality(reasons) > 0),
  -- Of a roster: ids that no accepted roster has named, customers whom nobody screens until it is accepted or mended.
  customers integer not null,
  -- Alerts that its answers opened although they are withheld.
  opened_alerts integer default 0 not null,
  -- How many customers of the roster are in which state while it is held.
  states jsonb default '{}'::jsonb not null,
  held_at timestamptz not null,
  -- Of a roster: {"source", "sourceDigest", "heldBy" (each guard with what it found, in words that give both figures, and what to check), "changes", "command" (what to
  -- type to take it all the same)}.
  roster jsonb,
  primary key (run_id, kind),
  check ((kind = 'roster') = (roster is not null))
);

-- What people have accepted, by name and with a reason:
-- * settings that judge: the newest of an organisation are in force;
-- * the answers of a held run;
-- * the roster of a run, although its guards would have held it;
-- * a gap: customers without a readable record, and rows without a readable id. Until a day, runs and coverage do not end in exit code 3
--   because of them, and their state stays.
-- Who may accept one kind needs no right on the columns of another.
create table acceptance (
  acceptance_id bigint generated always as identity primary key,
  kind text not null check (kind in ('settings', 'answers', 'roster', 'gap')),
  -- What one person accepts where two people are needed: in force only when another person accepts the same.
  is_proposal boolean default false not null,
  accepted_by text not null check (accepted_by <> ''),
  -- True where nobody but the person says who they are.
  is_attested boolean not null,
  reason text not null check (reason <> ''),
  accepted_at timestamptz not null,
  organisation_id bigint references organisation,
  run_id bigint references run,
  roster_id bigint references roster,
  -- The database itself reads for which severities two people are needed.
  settings jsonb check (
    settings #> '{review,fourEyes}' is null
    or jsonb_typeof(settings #> '{review,fourEyes}') = 'array' and settings #> '{review,fourEyes}' <@ '["critical", "high", "medium", "low", "info"]'
  ),
  -- SHA-256 (hex) of them with their keys in order.
  digest text,
  -- What differs from the settings before, in words; empty for the first.
  differences text[],
  -- Who accepted the settings first, where two people were needed; the database writes it.
  proposed_by text check (proposed_by <> accepted_by),
  -- Of a roster: each guard with what it found, in words that give both figures; and the first of the changes that guards found, each with the
  -- facts before and after.
  held_by jsonb,
  changes jsonb,
  -- Why it is a gap.
  gap text check (gap in ('row_rejected', 'conflicting_duplicate', 'roster_held', 'related_party_unreadable', 'doubtful_name', 'unreadable_id')),
  -- Null: rows whose id cannot be read, at most so many.
  reference text collate "C",
  rows integer,
  until date,
  check (not is_proposal or kind in ('settings', 'answers')),
  check (num_nulls(organisation_id, digest) = case kind when 'settings' then 0 else 2 end),
  check (num_nulls(settings, differences) = case kind when 'settings' then 0 else 2 end),
  check (proposed_by is null or settings is not null),
  check ((run_id is not null) = (kind in ('answers', 'roster'))),
  check (num_nulls(held_by, changes) = case kind when 'roster' then 0 else 2 end),
  check (num_nulls(roster_id, gap, until) = case kind when 'gap' then 0 else 3 end),
  check (num_nonnulls(reference, rows) = case kind when 'gap' then 1 else 0 end),
  check ((gap = 'unreadable_id') = (reference is null))
);

create index acceptance_of_settings on acceptance (organisation_id, acceptance_id) where (organisation_id is not null);

create index acceptance_by_run on acceptance (run_id) where (run_id is not null);

create unique index acceptance_of_answers on acceptance (run_id) where (kind = 'answers' and not is_proposal);

create index acceptance_of_gaps on acceptance (roster_id, reference) where (roster_id is not null);

alter table run add constraint run_settings_fkey foreign key (settings_id) references acceptance(acceptance_id);

-- For which severities nobody decides alone that a match is, or is not, the customer: by the settings of the last run that made alerts.
create function find_four_eyes(organisation bigint) returns text[] stable language sql as $$
  select coalesce((
    select array(select jsonb_array_elements_text(accepted.settings #> '{review,fourEyes}'))
    from run join acceptance accepted on accepted.acceptance_id = run.settings_id
    where run.organisation_id = organisation and run.in_scope is not null and run.state in ('complete', 'incomplete', 'unbalanced')
    order by run.run_id desc limit 1
  ), '{}')
$$;

-- Held runs whose answers and webhooks count since.
create view accepted_run as
select run_id, accepted_at from acceptance where kind = 'answers' and not is_proposal;

-- Customers in scope whom a run cannot screen, unless it finds a hit: without a readable record, with a related party that cannot be read, or
-- with a doubtful name. Kept with its plan, so that its report says the same whenever it is made.
create table run_gap (
  run_id bigint references run,
  reference text collate "C",
  -- Null: no record was ever accepted.
  customer_id bigint,
  reason text not null,
  primary key (run_id, reference)
);

-- Opens the partitions for the runs of 256 numbers. Attaching them locks the tables less than making them there would: who reads or writes
-- other partitions does not wait. What refuses changes of a table refuses them in each of its partitions.
create function open_run_range(of_run bigint) returns void language plpgsql security definer as $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
  first_run bigint := of_run >> 8 << 8;
  parent text;
  part text;
  guard text;
begin
  foreach parent in array array['search_batch', 'search_call', 'screening_block'] loop
    part := format('%s.%s_runs_%s_%s', tables_schema, parent, first_run, first_run + 255);
    continue when to_regclass(part) is not null;
    execute format('create table %s (like %s including all)', part, parent);
    for guard in
      select pg_get_triggerdef(oid) from pg_trigger where tgrelid = parent::regclass and tgname = 'refuse_rewriting'
    loop
      execute regexp_replace(guard, ' ON \S+ FOR', format(' ON %s FOR', part));
    end loop;
    execute format('alter table %s attach partition %s for values from (%s) to (%s)', parent, part, first_run, first_run + 256);
  end loop;
end
$$;

-- Partitions are opened 64 runs ahead, by a run that finds nobody writing to `run`: opening locks it, because rows of the partitions refer to
-- it. Whoever waited for it could block, or be blocked by, a run that closes. Only where no run could, the first one of a range waits.
-- A preview (epoch 0) writes to no partition and would hold the lock until it has tried a whole plan, so it opens none.
create function open_run_ranges() returns trigger language plpgsql security definer as $$
declare
  ahead bigint := new.run_id + 63;
begin
  if to_regclass(format('search_batch_runs_%s_%s', new.run_id >> 8 << 8, new.run_id | 255)) is null then
    lock table run in share row exclusive mode;
    perform open_run_range(new.run_id);
  end if;
  begin
    if to_regclass(format('search_batch_runs_%s_%s', ahead >> 8 << 8, ahead | 255)) is null then
      lock table run in share row exclusive mode nowait;
      perform open_run_range(ahead);
    end if;
  exception when lock_not_available then
    null;
  end;
  return new;
end
$$;

-- Why the 256 runs from this one on cannot be dropped; null where they can. A month is more than budgets, mail and reports look back. Of `runs_only`
-- no screening is read.
create function find_run_range_use(first_run bigint, runs_only boolean) returns text language plpgsql stable as $$
declare
  found_use text;
begin
  with own as materialized (
    select * from run where run_id between first_run and first_run + 255
  ),
  standing as (
    -- The account whose answers are a roster's states.
    select distinct on (roster_id) roster_id, account_id
    from run join account using (account_id) where roster_id is not null
    order by roster_id, account.is_test, run_id desc
  )
  select use into found_use
  from (
    select 1 as place, 'not all of its runs have begun' as use where not exists (select from run where run_id > first_run + 255)
    union all
    select 2, format('run %s has not ended', run_id) from own where state in ('running', 'stopped')
    union all
    select 3, format('run %s ended less than 32 days ago', run_id) from own
    where coalesce(finished_at, started_at) > now() - interval '32 days'
    union all
    select 4, format('run %s is one of the last three plans of its roster', run_id)
    from own join standing using (roster_id, account_id)
    where in_scope is not null and selection is distinct from 'dirty' and 3 > (
      select count(*) from run later
      where later.roster_id = own.roster_id and later.account_id = own.account_id and later.run_id > own.run_id
        and later.in_scope is not null and later.selection is distinct from 'dirty'
    )
    union all
    select 5, format('run %s is held', own.run_id)
    from own
    where not exists (select from accepted_run where accepted_run.run_id = own.run_id) and (
      exists (select from webhook_event where held_run_id = own.run_id)
      or exists (
        select from planned_screening screening
        left join party_state state on state.account_id = own.account_id and state.party_id = screening.party_id
        left join run answering on answering.run_id = state.run_id
        where screening.run_id = own.run_id and screening.outcome = 'failed' and screening.outcome_reason = 'held'
          and coalesce(case when answering.state in ('running', 'stopped') then state.former_run_id else state.run_id end <= own.run_id, true)
      )
    )
    union all
    select 6, format('the last answers of %s customers are from it', count(distinct customer.customer_id))
    from standing
    join customer on customer.roster_id = standing.roster_id
    join party on party.customer_id = customer.customer_id
    join party_state state on state.account_id = standing.account_id and state.party_id = party.party_id
    join run answering on answering.run_id = state.run_id
    left join plan_exception reuse on reuse.run_id = state.run_id and reuse.party_id = state.party_id
    where first_run in (
      state.run_id >> 8 << 8, reuse.answered_run_id >> 8 << 8,
      case when answering.state in ('running', 'stopped') then state.former_run_id >> 8 << 8 end
    ) and (
      customer.left_at is null and party.is_current or exists (
        select from alert
        where alert.party_id = party.party_id and (alert.state in ('open', 'pending_approval') or alert.is_true_match)
      )
    )
    having count(*) > 0
    union all
    select 7, format('%s of its forced searches have not been made since', count(*))
    from plan_exception forced
    join own on own.run_id = forced.run_id and forced.because is not null
    join party on party.party_id = forced.party_id and party.is_current
    join customer on customer.customer_id = party.customer_id and customer.left_at is null
    left join party_state state on state.account_id = own.account_id and state.party_id = forced.party_id
    left join run answering on answering.run_id = state.run_id
    where coalesce(case when answering.state in ('running', 'stopped') then state.former_run_id else state.run_id end < forced.run_id, true)
    having count(*) > 0
  ) uses
  where place < 5 or not runs_only
  order by place limit 1;
  return found_use;
end
$$;

-- Drops what 256 runs planned, sent and found for each party, and notes it with these runs, so that readers say that it is no longer stored.
-- Their sums, and all answers, changes, alerts, dispositions and reports stay. Returns the runs.
create function drop_run_range(of_run bigint, by_whom text, because text) returns setof bigint
language plpgsql set lock_timeout = '5s' as $$
declare
  first_run bigint := of_run >> 8 << 8;
  in_use text;
  parent text;
begin
  -- One at a time: two that have looked would each wait for the other below.
  lock table plan_exception in share update exclusive mode;
  if to_regclass(format('search_batch_runs_%s_%s', first_run, first_run + 255)) is null then
    raise exception 'the runs % to % are not stored', first_run, first_run + 255 using errcode = 'no_data_found';
  end if;
  -- All answers are looked at, which takes long, before anybody has to wait.
  in_use := find_run_range_use(first_run, false);
  if in_use is null then
    -- Who writes a run finishes first, and nobody begins until this has ended. What has become of the runs since is seen by another look at
    -- them. No answer can have come to be of these runs: what an open run may retract has counted with the answer before it, and a run that may
    -- still be accepted is a use. Not seen is a customer who has returned since; it is as if that had been afterwards.
    lock table run, search_batch, search_call, screening_block in access exclusive mode;
    in_use := find_run_range_use(first_run, true);
  end if;
  if in_use is not null then
    raise exception 'the runs % to % are needed: %', first_run, first_run + 255, in_use using errcode = 'object_in_use';
  end if;
  return query
    update run set dropped_at = now(), dropped_by = by_whom, dropped_because = because
    where run.kind <> 'sweep' and run.run_id between first_run and first_run + 255 and exists (
      select from search_batch where search_batch.run_id = run.run_id
      union all select from search_call where search_call.run_id = run.run_id
      union all select from screening_block where screening_block.run_id = run.run_id
      union all select from planned_screening where planned_screening.run_id = run.run_id
      union all select from plan_exception where plan_exception.run_id = run.run_id and plan_exception.because is not null
      union all select from run_gap where run_gap.run_id = run.run_id
    )
    returning run.run_id;
  delete from planned_screening where run_id between first_run and first_run + 255;
  delete from plan_exception where run_id between first_run and first_run + 255;
  delete from run_gap where run_id between first_run and first_run + 255;
  foreach parent in array array['search_batch', 'search_call', 'screening_block'] loop
    execute format('drop table %s_runs_%s_%s', parent, first_run, first_run + 255);
  end loop;
end
$$;

create trigger run_opens_range before insert on run for each row when (new.epoch > 0)
  execute function open_run_ranges();
create trigger refuse_rewriting before delete or update or truncate on run_hold for each statement
  execute function refuse_rewriting();
