-- Discrepancies that a reviewer accepts for a while: one person, or two where four eyes are configured for the severity; a critical one nobody.

alter table discrepancy_event drop constraint discrepancy_event_kind_check;
alter table discrepancy_event drop constraint discrepancy_event_check;
alter table discrepancy_event
  add column is_attested boolean not null default false,
  -- The last event that whoever says this has seen.
  add column seen_event_id bigint references discrepancy_event,
  add check (kind in ('opened', 'changed', 'returned', 'resolved', 'proposed', 'accepted', 'acceptance_ended')),
  add check ((kind in ('proposed', 'accepted')) = (accepted_until is not null)),
  -- An acceptance ends by itself, or by a person who says why.
  add check (kind in ('proposed', 'accepted', 'acceptance_ended') or reviewer is null),
  add check (accepted_until is null or reviewer is not null),
  add check ((reviewer is null) = (reason is null) and (reviewer is null) = (seen_event_id is null));

-- Who belongs together is found, and counted, in these alone.
drop index customer_by_reference_key;
create index customer_by_reference_key on customer (roster_id, reference_key) include (customer_id, left_at);
drop index dossier_by_reference_key;
create index dossier_by_reference_key on dossier (account_id, reference_key) include (dossier_id) where gone_at is null;

-- How many rows the source said it had.
alter table roster_import add column control_total bigint;

-- Up to which event a comparison has told of discrepancies: its list is the same whenever it is made.
alter table reconciliation add column last_event_id bigint;

-- What a person says of a discrepancy holds only of what the person has seen, and only within the rules, whatever program says it.
create function check_acceptance() returns trigger language plpgsql security definer as $$
declare
  found discrepancy;
  seen discrepancy_event;
  today date;
begin
  select * into found from discrepancy where discrepancy_id = new.discrepancy_id for update;
  select * into seen from discrepancy_event where discrepancy_id = new.discrepancy_id order by event_id desc limit 1;
  if found.state = 'resolved' or seen.event_id is distinct from new.seen_event_id then
    raise exception 'discrepancy % has changed since it was seen', new.discrepancy_id using errcode = 'integrity_constraint_violation';
  end if;
  new.severity := found.severity;
  new.facts := found.facts;
  if new.accepted_until is null then
    return new;
  end if;
  if found.severity = 'critical' then
    raise exception 'a critical discrepancy is never accepted' using errcode = 'insufficient_privilege';
  end if;
  -- Only whoever owns the tables may say that it is another day.
  today := case
    when pg_has_role(session_user, (select relowner from pg_class where oid = tg_relid), 'member') then new.happened_at
    else clock_timestamp()
  end::date;
  if new.accepted_until > today + 181 then
    raise exception 'a discrepancy is accepted for 180 days at most' using errcode = 'insufficient_privilege';
  end if;
  if new.kind = 'proposed' and version() ~ 'emscripten' then
    raise exception 'on the embedded database no second person can be told from the first' using errcode = 'insufficient_privilege';
  end if;
  if new.kind = 'accepted' and coalesce((
    select found.severity = any (rule.severities)
    from four_eyes_rule rule join account using (organisation_id)
    where account.account_id = found.account_id order by rule.rule_id desc limit 1
  ), false) and not (
    seen.kind = 'proposed' and seen.accepted_until = new.accepted_until and seen.reviewer <> new.reviewer
  ) then
    raise exception 'a discrepancy of severity % is accepted by two people', found.severity using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

-- Reviewers need no right to change what reconciliation has found.
create function apply_acceptance() returns trigger language plpgsql security definer as $$
begin
  update discrepancy set
    state = case when new.kind = 'accepted' then 'accepted' else 'open' end,
    accepted_until = case when new.kind = 'accepted' then new.accepted_until end
  where discrepancy_id = new.discrepancy_id;
  return null;
end
$$;

create trigger check_acceptance before insert on discrepancy_event for each row when (new.reviewer is not null)
  execute function check_acceptance();
create trigger require_reviewer before insert on discrepancy_event for each row when (new.reviewer is not null)
  execute function require_reviewer();
create trigger apply_acceptance after insert on discrepancy_event for each row when (new.reviewer is not null)
  execute function apply_acceptance();

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  -- Comparisons insert many at once, mostly as the owner, who needs no closer look.
  execute format(
    'create trigger require_table_owner before insert on discrepancy_event for each row
       when (new.reviewer is null and current_user <> %L) execute function require_table_owner()',
    (select relowner::regrole::text from pg_class where oid = 'discrepancy_event'::regclass)
  );
  execute format('alter function %1$s.check_acceptance set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
  execute format('alter function %1$s.apply_acceptance set search_path = pg_catalog, %1$s, pg_temp', tables_schema);
end
$$;
