-- Decisions that need a second person, who an item is assigned to, and who stands in for whom.

-- For which severities nobody decides alone that a match is, or is not, the customer; the last one of an organisation holds.
create table four_eyes_rule (
  rule_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  severities text[] not null check (severities <@ array['critical', 'high', 'medium', 'low', 'info']),
  set_at timestamptz not null,
  set_by text not null default session_user
);

-- Who stands in for whom, and until when; of a person the last one holds. Without a name it ends what came before.
create table review_delegation (
  delegation_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  from_name text not null check (from_name <> ''),
  to_name text check (to_name not in ('', from_name)),
  -- The last day, and when it is over.
  until date,
  ends_at timestamptz,
  reason text not null check (reason <> ''),
  happened_at timestamptz not null,
  actor text not null,
  is_attested boolean not null,
  check ((to_name is null) = (ends_at is null) and (to_name is null) = (until is null))
);

create index review_delegation_by_name on review_delegation (organisation_id, from_name);

create trigger refuse_rewriting before update or delete or truncate on four_eyes_rule for each statement
  execute function refuse_rewriting();
create trigger refuse_rewriting before update or delete or truncate on review_delegation for each statement
  execute function refuse_rewriting();

-- True where nobody but the actor says who the actor is.
alter table review_event add column is_attested boolean not null default false;

-- Nobody assigns or delegates under another name than that of their login, as nobody decides.
create function require_actor() returns trigger language plpgsql as $$
begin
  if version() ~ 'emscripten' then
    if not new.is_attested then
      raise exception 'nobody is authenticated on the embedded database' using errcode = 'insufficient_privilege';
    end if;
  elsif new.is_attested or new.actor is distinct from session_user then
    raise exception '% cannot assign in the name of %', session_user, new.actor using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_actor before insert on review_event for each row when (new.kind = 'assigned') execute function require_actor();
create trigger require_actor before insert on review_delegation for each row execute function require_actor();

-- What became of an item in a run is said by whoever runs, whose tables they are.
create function require_table_owner() returns trigger language plpgsql as $$
begin
  if not pg_has_role(session_user, (select relowner from pg_class where oid = tg_relid), 'member') then
    raise exception '% cannot say that an item is %', session_user, new.kind using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_table_owner before insert on review_event for each row when (new.kind <> 'assigned')
  execute function require_table_owner();

-- Who answers for what is assigned to a person at a moment, over as many who stand in for each other; null for the person.
create function find_stand_in(organisation bigint, owner text, moment timestamptz) returns text stable language plpgsql as $$
declare
  person text := owner;
  last_said review_delegation;
begin
  for step in 1..10 loop
    select * into last_said from review_delegation
    where organisation_id = organisation and from_name = person order by delegation_id desc limit 1;
    exit when not found or last_said.to_name is null or last_said.ends_at <= moment;
    person := last_said.to_name;
  end loop;
  return nullif(person, owner);
end
$$;

-- A proposal becomes a decision only by another person who has seen the same and says the same, and where two are needed nothing else does.
-- What is confirmed or undone is what stands.
create function require_second_person() returns trigger language plpgsql as $$
declare
  item review_item;
  referred disposition;
begin
  select * into item from review_item where item_id = new.item_id for update;
  if new.kind in ('proposed', 'confirmed') and version() ~ 'emscripten' then
    raise exception 'on the embedded database no second person can be told from the first' using errcode = 'insufficient_privilege';
  end if;
  if new.kind in ('confirmed', 'undone') then
    select * into referred from disposition where disposition_id = new.refers_to;
    if referred.item_id is distinct from new.item_id or item.disposition_id is distinct from new.refers_to then
      raise exception 'decision % does not stand about item %', new.refers_to, new.item_id using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.kind = 'confirmed' then
    if referred.kind <> 'proposed' or referred.verdict <> new.verdict
      or referred.seen_digest <> new.seen_digest or referred.seen <> new.seen then
      raise exception 'decision % proposes something else', new.refers_to using errcode = 'integrity_constraint_violation';
    end if;
    if referred.reviewer = new.reviewer then
      raise exception 'what % has proposed is confirmed by another person', new.reviewer using errcode = 'insufficient_privilege';
    end if;
  elsif new.kind = 'decided' and new.verdict <> 'inconclusive' and coalesce((
    select item.severity = any (rule.severities)
    from four_eyes_rule rule join account using (organisation_id)
    where account.account_id = item.account_id order by rule.rule_id desc limit 1
  ), false) then
    raise exception 'an item of severity % is decided by two people', item.severity using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

create trigger require_second_person before insert on disposition for each row execute function require_second_person();

-- When the item is due that waits again because a decision is undone.
alter table disposition add column due_at timestamptz check (due_at is null or kind = 'undone');

-- An item stands where the last thing said about it has put it. Reviewers need no right to put it anywhere else.
create function apply_disposition() returns trigger language plpgsql security definer set search_path from current as $$
begin
  update review_item item set
    disposition_id = case when new.kind <> 'undone' then new.disposition_id end,
    state = case
      when item.state = 'gone' then 'gone'
      when new.kind = 'proposed' then 'proposed'
      when new.verdict = 'true_match' then 'confirmed'
      when new.verdict = 'false_positive' then 'settled'
      else 'open'
    end,
    -- What was only proposed, or could not be told, has waited all along.
    opened_at = case when new.kind = 'undone' and item.state in ('settled', 'confirmed') then new.decided_at else item.opened_at end,
    due_at = case when new.kind = 'undone' and item.state in ('settled', 'confirmed') then new.due_at else item.due_at end
  where item.item_id = new.item_id;
  return null;
end
$$;

create trigger apply_disposition after insert on disposition for each row execute function apply_disposition();

-- Whoever does not own the tables settles a party only where all that is listed is settled, by an answer that was cut only as far as it was
-- seen, and changes nothing else of a former answer.
create function require_settled() returns trigger language plpgsql as $$
begin
  if pg_has_role(session_user, (select relowner from pg_class where oid = tg_relid), 'member') then
    return new;
  end if;
  if new.former_answer - 'reviewed_state' is distinct from old.former_answer - 'reviewed_state' then
    raise exception 'a former answer is not changed' using errcode = 'insufficient_privilege';
  end if;
  if (
    new.reviewed_state in ('settled_false_positive', 'incompletely_seen')
    or new.former_answer ->> 'reviewed_state' in ('settled_false_positive', 'incompletely_seen')
  ) and not coalesce((
    select bool_and(item.state = 'settled') from review_item item
    where item.party_id = new.party_id and item.account_id = new.account_id and item.state <> 'gone'
  ), false) then
    raise exception 'not all that is listed for party % is settled', new.party_id using errcode = 'integrity_constraint_violation';
  end if;
  if exists (
    select from (values
      (new.reviewed_state, new.response_id, new.unreturned is not null),
      (
        new.former_answer ->> 'reviewed_state', (new.former_answer ->> 'response_id')::bigint,
        coalesce(new.former_answer -> 'unreturned' <> 'null', false)
      )
    ) answer (reviewed_state, response_id, hides_matches)
    join response using (response_id)
    where answer.reviewed_state = 'settled_false_positive' and (answer.hides_matches or response.truncated)
  ) then
    raise exception 'not all that is listed for party % was seen', new.party_id using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;

create trigger require_settled before update on party_state for each row
  when (
    new.reviewed_state is distinct from old.reviewed_state and new.reviewed_state is not null
    or new.former_answer is distinct from old.former_answer
  )
  execute function require_settled();

-- How the item of a change stood when the run closed that told of it: a report says so, whenever it is made again.
alter table change_event add column item jsonb;
