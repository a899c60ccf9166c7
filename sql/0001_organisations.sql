-- Who screens whom, and who may do what.

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

-- What is led to still cannot be removed.
create function refuse_orphans() returns trigger language plpgsql as $$
declare
  child text;
  parts text[];
  found_any boolean;
begin
  foreach child in array tg_argv loop
    parts := string_to_array(child, '.');
    execute format('select exists (select from %I child join gone on gone.%I = child.%I)', parts[1], parts[3], parts[2]) into found_any;
    if found_any then
      raise foreign_key_violation using message = format('rows of %I still lead to what is removed from %I', parts[1], tg_table_name);
    end if;
  end loop;
  return null;
end
$$;

-- On a server nobody says anything under another name than that of their login, and where the role nightscreen_reviewer exists only its members
-- decide. The embedded database knows one login only: there a name is attested.
create function require_author(person text, attested boolean, act text) returns void language plpgsql as $$
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
end
$$;

-- What became of something in a run is said by whoever runs, whose tables they are.
create function require_owner(of_table oid, saying text) returns void language plpgsql as $$
begin
  if not pg_has_role(session_user, (select relowner from pg_class where oid = of_table), 'member') then
    raise exception '% cannot say that %', session_user, saying using errcode = 'insufficient_privilege';
  end if;
end
$$;

-- What people write, whatever program writes it, is checked when it is stored: a night reads it later, and must be able to.
create function require_text(written text, what text, longest integer) returns void language plpgsql as $$
begin
  if written ~ '^\s*$' then
    raise exception '% is empty', what using errcode = 'check_violation';
  elsif length(written) > longest then
    raise exception '% has % characters; the most are %', what, length(written), longest using errcode = 'check_violation';
  elsif written ~ '[\u0001-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]' then
    raise exception '% has control characters; write it without them', what using errcode = 'check_violation';
  end if;
end
$$;

create function require_time(written timestamptz, what text) returns void language plpgsql as $$
begin
  if written < '2000-01-01' or written >= '10000-01-01' then
    raise exception '% is not between the years 2000 and 9999', what using errcode = 'check_violation';
  end if;
end
$$;

-- The clock of whoever says something may differ by a day. Only the owner of a table may write for another time.
create function require_present(of_table oid, written timestamptz, what text) returns void language plpgsql as $$
begin
  perform require_time(written, what);
  if written > clock_timestamp() + interval '1 day' and not pg_has_role(session_user, (select relowner from pg_class where oid = of_table), 'member') then
    raise exception '% is in the future', what using errcode = 'check_violation';
  end if;
end
$$;

create function require_legacy(said jsonb) returns void language plpgsql as $$
begin
  if not coalesce(jsonb_path_match(said, 'strict
    $.verdict.type() == "string" && $.reason.type() == "string" && $.decidedBy.type() == "string" && $.decidedAt.type() == "string"
    && $.reviewer.type() == "string" && $.importedAt.type() == "string" && $.isAttested.type() == "boolean" && $.isSample.type() == "boolean"
    && ($.comment.type() == "string" || $.comment.type() == "null")
  ', silent => true), false)
    or said - array['verdict', 'reason', 'comment', 'decidedBy', 'decidedAt', 'reviewer', 'importedAt', 'isAttested', 'isSample'] <> '{}'
  then
    raise exception 'what an older system says needs the texts verdict, reason, decidedBy, decidedAt, reviewer and importedAt, the comment or null, isAttested and isSample as true or false, and nothing else'
      using errcode = 'check_violation';
  end if;
  perform require_text(said ->> 'reason', 'the reason of the older system', 32767);
  perform require_text(nullif(said ->> 'comment', ''), 'the comment of the older system', 32767);
  perform require_text(said ->> 'decidedBy', 'who decided in the older system', 200);
  perform require_text(said ->> 'decidedAt', 'when the older system decided', 200);
  perform require_text(said ->> 'reviewer', 'who brings what the older system says', 200);
  perform require_text(said ->> 'importedAt', 'the time of the import', 200);
  perform require_present('alert'::regclass, (said ->> 'importedAt')::timestamptz, 'the time of the import');
end
$$;

-- Whether `seen` has the facts that a disposition is bound to, as `toSeenFacts` writes them, and nothing else.
create function is_seen(seen jsonb) returns boolean immutable language sql as $$
  select case when coalesce(jsonb_path_match(seen, 'strict
    $.listed.schema.type() == "string" && $.listed.name.type() == "string"
    && $.listed.topics.type() == "array" && !exists($.listed.topics[*] ? (@.type() != "string"))
    && $.listed.birthDates.type() == "array" && !exists($.listed.birthDates[*] ? (@.type() != "string"))
    && $.listed.countries.type() == "array" && !exists($.listed.countries[*] ? (@.type() != "string"))
    && $.customer.role.type() == "string" && $.customer.type.type() == "string" && $.customer.name.type() == "string"
    && ($.customer.birthDate.type() == "string" || $.customer.birthDate.type() == "null")
    && $.customer.countries.type() == "array" && !exists($.customer.countries[*] ? (@.type() != "string"))
  ', silent => true), false) then
    seen - array['listed', 'customer'] = '{}'
    and (seen -> 'listed') - array['schema', 'name', 'topics', 'birthDates', 'countries'] = '{}'
    and (seen -> 'customer') - array['role', 'type', 'name', 'birthDate', 'countries'] = '{}'
  else false end
$$;

-- A time as it can be read: of rows that were stored before times were checked.
create function to_readable(written timestamptz) returns timestamptz immutable language sql as $$
  select greatest(least(written, '9999-01-01 00:00:00+00'), '0001-01-02 00:00:00+00')
$$;

create table organisation (
  organisation_id bigint generated always as identity primary key,
  name text not null unique,
  -- Secret of the keyed digests: an answer cannot be recovered from its digest by dictionary.
  digest_key bytea not null,
  -- Secret of the codes of alerts and of what was seen of them. Reviewers, who may not read the other, need it; it tells nothing of answers.
  review_key bytea default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex') not null,
  created_at timestamptz not null,
  -- The last pause of the schedule; it is over at `schedule_paused_until`, which a resume sets to its own moment.
  schedule_paused_at timestamptz,
  schedule_paused_until timestamptz,
  -- user@host.
  schedule_paused_by text,
  schedule_pause_reason text,
  schedule_resumed_by text,
  -- Where changes of state are reported, by the configuration of the last run: {"url", "states" (only changes from or to one of these; null for all),
  -- "rosters" (only changes of their customers; null for all)}.
  webhooks jsonb default '[]' not null,
  check ((schedule_paused_at is null) = (schedule_paused_until is null))
);

-- One account at the service and one mode: what a test key found says nothing about a live one.
create table account (
  account_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  public_key text not null,
  is_test boolean not null,
  base_url text not null,
  created_at timestamptz not null,
  -- Lengths at which its lists were found to be cut without a word, in order: {"length", "foundRunId", "foundAt", "goneRunId" (which had a longer
  -- list, or showed a shorter cap), "goneAt"}; the one that stands is the last.
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
