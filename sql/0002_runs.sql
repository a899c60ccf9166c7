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
  -- What lies between two rounds of control searches is a wave. The wave that is being searched, the last one that a passed round has proven,
  -- and the last one whose answers were applied to states and alerts.
  wave integer default 1 not null,
  proven_wave integer default 0 not null,
  applied_wave integer default 0 not null,
  -- Why the answers after the proven wave never count: a control search failed, or the run was abandoned before another round passed.
  unconfirmed_because text check (unconfirmed_because in ('control_failed', 'not_confirmed')),
  -- Its proven answers are withheld until a person accepts them.
  is_held boolean default false not null,
  -- The file that was given with the command in place of the configured source; '-' for standard input.
  roster_file text,
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
  -- accepted roster. `dossiers`: a sweep removed none of the dossiers that it did not list.
  kind text check (kind in ('answers', 'webhooks', 'roster', 'dossiers')),
  -- In words, with both figures; of a roster its guards.
  reasons text[] not null check (cardinality(reasons) > 0),
  -- Of a roster: ids that no accepted roster has named, customers whom nobody screens until it is accepted or mended. Of a sweep: its dossiers.
  customers integer not null,
  -- How many customers of the roster are in which state while it is held.
  states jsonb default '{}'::jsonb not null,
  held_at timestamptz not null,
  -- Of a roster: {"source", "sourceDigest", "heldBy" (each guard with what it found, in words that give both figures, and what to check), "changes", "command" (what to
  -- type to take it all the same)}.
  roster jsonb,
  primary key (run_id, kind),
  check ((kind = 'roster') = (roster is not null))
);

-- Settings as `nightscreen config accept` stores them: the database reads which of their severities need two people, and what differs between two.
create domain accepted_settings as jsonb constraint settings_have_their_form check (value is null or coalesce(jsonb_path_match(value, 'strict
    $.controls.type() == "array" && $.controls.size() <= 1000 && !exists($.controls[*] ? (@.type() != "object"))
    && $.service.type() == "object" && $.changes.type() == "object" && $.screening.type() == "object" && $.review.type() == "object"
    && $.guards.type() == "object"
  ', silent => true), false)
  and jsonb_typeof(coalesce(value #> '{review,fourEyes}', '[]')) = 'array'
  and coalesce(value #> '{review,fourEyes}', '[]') <@ '["critical", "high", "medium", "low", "info"]'
  and length(value::text) <= 1000000
);

create domain clean_texts as text[] constraint are_clean_texts check (
  array_ndims(value) = 1 and array_position(value, null) is null and length(array_to_string(value, ' ')::clean_text) <= 1000000
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
  accepted_by person_name not null,
  -- True where nobody but the person says who they are.
  is_attested boolean not null,
  reason written_text not null,
  accepted_at timestamptz not null check (accepted_at >= '2000-01-01'),
  organisation_id bigint references organisation,
  run_id bigint references run,
  roster_id bigint references roster,
  settings accepted_settings,
  -- SHA-256 (hex) of them with their keys in order.
  digest text,
  -- What differs from the settings before, in words; empty for the first.
  differences clean_texts,
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
  until date check (isfinite(until)),
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

-- Opens the partitions for the runs of 256 numbers. Attaching a partition takes weaker locks than creating it in place: nobody who uses the others
-- waits.
create function open_run_range(of_run bigint) returns void language plpgsql security definer as $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
  first_run bigint := of_run >> 8 << 8;
  parent text;
  part text;
begin
  foreach parent in array array['planned', 'call'] loop
    part := format('%s.%s_runs_%s_%s', tables_schema, parent, first_run, first_run + 255);
    continue when to_regclass(part) is not null;
    -- A call grows when it ends, within its page.
    execute format('create table %s (like %s including all) with (fillfactor = %s)', part, parent, case parent when 'call' then 90 else 100 end);
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
  if to_regclass(format('planned_runs_%s_%s', new.run_id >> 8 << 8, new.run_id | 255)) is null then
    lock table run in share row exclusive mode;
    perform open_run_range(new.run_id);
  end if;
  begin
    if to_regclass(format('planned_runs_%s_%s', ahead >> 8 << 8, ahead | 255)) is null then
      lock table run in share row exclusive mode nowait;
      perform open_run_range(ahead);
    end if;
  exception when lock_not_available then
    null;
  end;
  return new;
end
$$;

create trigger run_opens_range before insert on run for each row when (new.epoch > 0)
  execute function open_run_ranges();
