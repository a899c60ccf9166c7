-- Runs: their settings, their processes, their outcome, why they are held, and what people have accepted.

-- A finished run is stored only with sums that hold; a sweep and an early stop have none.
create function run_sums_hold(sums jsonb) returns boolean language sql immutable as $$
  select coalesce(
    counts.rows = counts.customers + counts.rejected + counts.duplicates
    and counts."inScope" = counts.planned + counts.skipped
    and counts.planned = counts.screened + counts.reused + counts.failed + counts.remaining
    and counts."inScope" = (select sum(customers::bigint) from jsonb_each_text(sums -> 'states') as by_state (state, customers)),
    false
  )
  from jsonb_to_record(sums -> 'counts') as counts (
    rows bigint, customers bigint, rejected bigint, duplicates bigint, "inScope" bigint, planned bigint, skipped bigint,
    screened bigint, reused bigint, failed bigint, remaining bigint
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
  -- Null until the service has named the account of the key.
  account_id bigint references account,
  mode text not null check (mode in ('test', 'live')),
  kind text not null check (kind in ('import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile')),
  state text not null check (state in ('running', 'complete', 'incomplete', 'stopped', 'unbalanced', 'refused', 'abandoned')),
  state_reasons text[] default '{}' not null,
  -- The stage from which a resumed run continues.
  stage text not null check (stage in ('started', 'imported', 'planned', 'screened', 'finished')),
  -- Which parties its plan covers; null for a run without a plan.
  selection text check (selection in ('due', 'new', 'all', 'forced', 'dirty')),
  -- The number of customers in scope, counted independently of the plan.
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
  -- How often each risk tier is screened, and why if less than daily.
  cadence jsonb,
  -- The calls that the service may have billed, counted from the ledger when the run closes; null for an open run.
  billable_attempts integer,
  -- The settings at its start, without secrets, so that a resume can name the differences.
  settings jsonb,
  halted_by text check (halted_by in ('account', 'address', 'outage', 'budget', 'max_searches', 'signal')),
  -- Waves are searched between rounds of control searches: the current one, the last proven one, and the last one applied to states and alerts.
  wave integer default 1 not null,
  proven_wave integer default 0 not null,
  applied_wave integer default 0 not null,
  -- Why the answers after the proven wave never count: a control search failed, or the run was abandoned before another round passed.
  unconfirmed_because text check (unconfirmed_because in ('control_failed', 'not_confirmed')),
  -- Its proven answers are not applied until a person accepts them.
  is_held boolean default false not null,
  -- The file of the command line that replaced the configured source; '-' for standard input.
  roster_file text,
  -- The waiting alerts when the run closed, in figures.
  open_alerts jsonb,
  -- The number of new hits, and of the records requested about them; null where none were to be fetched.
  details jsonb,
  -- The accepted settings at its start.
  settings_id bigint,
  -- Its calls in figures: rate, repeats, pauses, cost.
  health jsonb,
  -- The decided alerts when the run closed, and what the run did with decisions.
  settled_alerts jsonb,
  -- The number of ids without an accepted record when the run was planned, by reason: in scope and skipped, but not in the plan.
  unaccepted jsonb,
  -- The keys that it used, in order, as the first 12 hex digits of their SHA-256; several where the key was replaced.
  keys text[] default '{}' not null,
  -- Its findings compared with former runs, and whether its lists look capped; assessed when it closes.
  watch jsonb,
  -- Of a sweep at its end: {"pages", "dossiers", "appeared", "changed", "gone", "proven", "unprovenBecause", "details" (its look-ups, or null)}.
  sweep jsonb check (sweep is null or kind = 'sweep' and (sweep ->> 'proven')::boolean is not null),
  -- The published list that was compared with the customers, or from which a measurement of recall takes its sample: {"file", "format", "files",
  -- "digest", "listed"}; of a comparison with "spellings", later its sums, of a measurement with "seed", "spelling", "sampleSize" and "atLeast".
  published_list jsonb check ((published_list ? 'spellings') <> (published_list ? 'seed')),
  -- By topic family: former hits among the searched customers (`known`) and in the roster (`standing`), and how many of the known ones vanished.
  vanishing jsonb,
  constraint run_sums_hold check ((state not in ('complete', 'incomplete', 'stopped')) or (sums is null) or run_sums_hold(sums))
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

create index run_by_lease on run (lease_key, run_id);
create index run_by_account on run (account_id, run_id);

-- Every process that worked on a run, numbered from 1.
create table run_worker (
  run_id bigint references run,
  worker integer,
  epoch bigint not null,
  owner text not null,
  taken_at timestamptz not null,
  -- The differences from the start of the run, in words.
  differences text[] not null,
  -- The number of calls that it has noted, sent or not; budgets count these.
  calls integer default 0 not null,
  primary key (run_id, worker)
) with (fillfactor = 50);

create table run_hold (
  run_id bigint references run,
  -- `answers`: no answer of the run is applied. `webhooks`: only its webhooks are withheld. `roster`: the run used the last accepted roster.
  -- `dossiers`: a sweep removed none of the dossiers that it did not list.
  kind text check (kind in ('answers', 'webhooks', 'roster', 'dossiers')),
  -- In words, with both figures; for a roster its guards.
  reasons text[] not null check (cardinality(reasons) > 0),
  -- For a roster: the number of ids that no accepted roster has named, which are not screened meanwhile. For a sweep: the number of dossiers.
  customers integer not null,
  -- The number of customers of the roster by state.
  states jsonb default '{}'::jsonb not null,
  held_at timestamptz not null,
  -- For a roster: {"source", "sourceDigest", "heldBy" (guards with both figures in words, and what to check), "changes", "command" (accepts it)}.
  roster jsonb,
  primary key (run_id, kind),
  check ((kind = 'roster') = (roster is not null))
);

-- Settings as `nightscreen config accept` stores them; the database reads them too.
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

-- What people have accepted, by name and with a reason: settings (the newest are in force), the answers of a held run, a roster against its guards,
-- or a gap (customers without a readable record, rows without a readable id), which causes no exit code 3 until a day.
create table acceptance (
  acceptance_id bigint generated always as identity primary key,
  kind text not null check (kind in ('settings', 'answers', 'roster', 'gap')),
  -- Accepted by one person where two are needed: in force only when another person accepts the same.
  is_proposal boolean default false not null,
  accepted_by person_name not null,
  -- True where the person is not authenticated.
  is_attested boolean not null,
  reason written_text not null,
  accepted_at timestamptz not null check (accepted_at >= '2000-01-01'),
  organisation_id bigint references organisation,
  run_id bigint references run,
  roster_id bigint references roster,
  settings accepted_settings,
  -- SHA-256 (hex) of the settings with sorted keys.
  digest text,
  -- The differences from the settings before, in words; empty for the first.
  differences clean_texts,
  -- The first of two people who accepted the settings; the database writes it.
  proposed_by text check (proposed_by <> accepted_by),
  -- For a roster: each guard with both figures in words, and the first changes that the guards found, with the facts before and after.
  held_by jsonb,
  changes jsonb,
  gap text check (gap in ('row_rejected', 'conflicting_duplicate', 'roster_held', 'related_party_unreadable', 'doubtful_name', 'unreadable_id')),
  -- A customer; null for at most `rows` rows without a readable id.
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

-- The severities that need two people, by the settings of the last run that made alerts.
create function find_four_eyes(organisation bigint) returns text[] stable language sql as $$
  select coalesce((
    select array(select jsonb_array_elements_text(accepted.settings #> '{review,fourEyes}'))
    from run join acceptance accepted on accepted.acceptance_id = run.settings_id
    where run.organisation_id = organisation and run.in_scope is not null and run.state in ('complete', 'incomplete', 'unbalanced')
    order by run.run_id desc limit 1
  ), '{}')
$$;

-- Held runs that a person has accepted.
create view accepted_run as
select run_id, accepted_at from acceptance where kind = 'answers' and not is_proposal;

-- Customers in scope that a run can only screen by a hit: without a readable record, with an unreadable related party, or with a doubtful name.
create table run_gap (
  run_id bigint references run,
  reference text collate "C",
  -- Null where no record was ever accepted.
  customer_id bigint,
  reason text not null,
  primary key (run_id, reference)
);

-- Opens the partitions for the runs of 256 numbers. Only others who open partitions wait for the end of the transaction.
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
    execute format('lock table only %s.%s in share update exclusive mode', tables_schema, parent);
    continue when to_regclass(part) is not null;
    -- A call grows when it ends, within its page.
    execute format('create table %s (like %s including all) with (fillfactor = %s)', part, parent, case parent when 'call' then 90 else 100 end);
    execute format('alter table %s attach partition %s for values from (%s) to (%s)', parent, part, first_run, first_run + 256);
  end loop;
end
$$;

create function open_run_range() returns trigger language plpgsql security definer as $$
begin
  perform open_run_range(new.run_id);
  return new;
end
$$;

-- A preview (epoch 0) writes to no partition, and would hold the lock for a whole plan.
create trigger run_opens_range before insert on run for each row when (new.epoch > 0) execute function open_run_range();
