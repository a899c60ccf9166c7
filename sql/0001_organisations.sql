-- Organisations with their accounts and rosters, and who may write what.

-- History is only added to; an empty table may be emptied.
create function refuse_rewriting() returns trigger language plpgsql as $$
declare
  is_filled boolean := true;
begin
  if tg_op = 'TRUNCATE' then
    execute format('select exists (select from %I.%I)', tg_table_schema, tg_table_name) into is_filled;
  end if;
  if not is_filled then
    return null;
  end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'restrict_violation';
end
$$;

-- What people write is checked when it is stored, whichever program writes it: later runs must be able to read it.
create domain clean_text as text
  constraint has_no_control_characters check (value !~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]');

create domain written_text as clean_text
  constraint is_not_blank check (value !~ '^\s*$')
  constraint is_not_too_long check (length(value) <= 32767);

create domain person_name as written_text
  constraint is_no_longer_than_a_name check (length(value) <= 200);

-- Closed sets that several tables use. A test compares all closed sets with src/vocabulary.ts.
create domain severity as text check (value in ('critical', 'high', 'medium', 'low', 'info'));
create domain alert_state as text check (value in ('open', 'pending_approval', 'false_positive', 'true_match', 'no_longer_matched'));
create domain answer_state as text check (value in ('clear', 'below_threshold', 'truncated', 'open_alert'));
create domain agreement as text check (value in ('agree', 'contradict', 'unknown'));

create table organisation (
  organisation_id bigint generated always as identity primary key,
  name text not null unique,
  -- The key of the digests of answers: without it no dictionary recovers an answer from its digest.
  digest_key bytea not null,
  -- The key of the codes in working lists. Reviewers read it, but not the other one.
  review_key bytea default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') not null,
  created_at timestamptz not null,
  -- The last pause of the schedule; it ends at `schedule_paused_until`, which a resume sets to its own time.
  schedule_paused_at timestamptz,
  schedule_paused_until timestamptz,
  -- user@host.
  schedule_paused_by text,
  schedule_pause_reason text,
  schedule_resumed_by text,
  -- The webhooks as the last run configured them: {"url", "states" (changes from or to one of these; null for all), "rosters" (null for all)}.
  webhooks jsonb default '[]' not null,
  -- Restores of backups: {"restoredAt", "backupAt" (what happened in between is not in it), "lostRuns" (runs in between that left reports)}.
  restorations jsonb default '[]' not null,
  check ((schedule_paused_at is null) = (schedule_paused_until is null))
);

-- An account at the service in one mode: answers to a test key say nothing about a live one.
create table account (
  account_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  public_key text not null,
  is_test boolean not null,
  base_url text not null,
  created_at timestamptz not null,
  -- Lengths at which the service silently truncated its lists, the last perhaps in force: {"length", "foundRunId", "foundAt", "goneRunId", "goneAt"}.
  list_caps jsonb default '[]' not null,
  list_cap integer generated always as (case when list_caps -> -1 -> 'goneAt' = 'null' then (list_caps -> -1 -> 'length')::integer end) stored
    check (list_cap > 0),
  unique (organisation_id, public_key)
);

create table roster (
  roster_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  name text not null,
  created_at timestamptz not null,
  unique (organisation_id, name)
);

-- Whether the login owns the tables, as the one that runs do.
create function is_owner() returns boolean stable language sql as $$
  select pg_has_role(session_user, relowner, 'member') from pg_class where oid = 'organisation'::regclass
$$;

-- Only the owner records what a run did.
create function require_owner(saying text) returns void language plpgsql as $$
begin
  if not is_owner() then
    raise exception '% cannot say that %', session_user, saying using errcode = 'insufficient_privilege';
  end if;
end
$$;

-- On a server everybody writes under the name of their own login, and where the role nightscreen_reviewer exists only its members decide. The
-- embedded database has one login only: there a name is attested. Clocks may differ by a day; only the owner may write for a later time.
create function require_author(person text, attested boolean, act text, acted_at timestamptz) returns void language plpgsql as $$
begin
  if version() ~ 'emscripten' then
    if not attested then
      raise exception 'nobody is authenticated on the embedded database' using errcode = 'insufficient_privilege';
    end if;
  elsif attested or person is distinct from session_user then
    raise exception '% cannot % in the name of %', session_user, act, person using errcode = 'insufficient_privilege';
  elsif act = 'decide' and exists (select from pg_roles where rolname = 'nightscreen_reviewer')
    and not pg_has_role(session_user, 'nightscreen_reviewer', 'member') then
    raise exception '% is not a member of the role nightscreen_reviewer', session_user using errcode = 'insufficient_privilege';
  end if;
  if acted_at > clock_timestamp() + interval '1 day' and not is_owner() then
    raise exception '% cannot % at a time in the future', session_user, act using errcode = 'check_violation';
  end if;
end
$$;
