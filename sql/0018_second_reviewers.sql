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
    if referred.kind <> 'proposed' or referred.verdict <> new.verdict or referred.seen_digest <> new.seen_digest then
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

-- An item is proposed, settled or confirmed only by the last thing that was said about it.
create function require_decision() returns trigger language plpgsql as $$
begin
  if not exists (
    select from disposition said
    where said.disposition_id = new.disposition_id and said.item_id = new.item_id
      and case new.state
        when 'proposed' then said.kind = 'proposed'
        when 'settled' then said.kind in ('decided', 'confirmed') and said.verdict = 'false_positive'
        else said.kind in ('decided', 'confirmed') and said.verdict = 'true_match'
      end
      and not exists (
        select from disposition later where later.item_id = said.item_id and later.disposition_id > said.disposition_id
      )
  ) then
    raise exception 'no decision makes item % %', new.item_id, new.state using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;

create trigger require_decision before update of state, disposition_id on review_item for each row
  when (
    new.state in ('proposed', 'settled', 'confirmed')
    and (new.state, new.disposition_id) is distinct from (old.state, old.disposition_id)
  )
  execute function require_decision();

-- How the item of a change stood when the run closed that told of it: a report says so, whenever it is made again.
alter table change_event add column item jsonb;
