-- Discrepancies between roster, screenings and dossiers.

-- The outcome of one comparison of a roster.
create table reconciliation (
  run_id bigint references run,
  roster_id bigint references roster,
  account_id bigint not null references account,
  sweep_run_id bigint not null references run,
  -- Why a missing dossier proves nothing; null where the sweep is proven and recent.
  unproven_because text,
  reconciled_at timestamptz not null,
  -- The number of customers and dossiers, with and without each other.
  sums jsonb not null,
  -- The standing discrepancies at its end, by kind and severity, with their age.
  standing jsonb not null,
  -- The last event in its list, so that the list can be written again.
  last_event_id bigint,
  -- The invitations and exclusions at its end, in figures; null for a roster without invitations.
  invitations jsonb,
  primary key (run_id, roster_id)
);

create index reconciliation_by_roster on reconciliation (roster_id, account_id, reconciled_at);

-- Each discrepancy once, however often it was resolved and returned.
create table discrepancy (
  discrepancy_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  -- The roster whose comparisons open and resolve it.
  roster_id bigint not null references roster,
  kind text not null,
  -- The customer and the dossier, where the kind is about them.
  subject text not null,
  customer_id bigint references customer,
  dossier_id text,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low')),
  facts jsonb not null,
  state text not null check (state in ('open', 'accepted', 'resolved')),
  -- When it was opened or last returned.
  opened_at timestamptz not null,
  resolved_at timestamptz,
  -- The last day of its acceptance.
  accepted_until date,
  unique (account_id, kind, subject),
  check ((state <> 'accepted') or ((severity <> 'critical') and (accepted_until is not null))),
  check ((state = 'resolved') = (resolved_at is not null))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

create index discrepancy_by_customer on discrepancy (customer_id) where (customer_id is not null);
create index discrepancy_standing on discrepancy (roster_id, account_id) where (state <> 'resolved');

-- The history of discrepancies.
create table discrepancy_event (
  event_id bigint generated always as identity primary key,
  discrepancy_id bigint not null references discrepancy,
  -- Null for the act of a person.
  run_id bigint references run,
  kind text not null check (kind in ('opened', 'changed', 'returned', 'resolved', 'proposed', 'accepted', 'acceptance_ended')),
  severity text not null,
  facts jsonb not null,
  happened_at timestamptz not null check (happened_at >= '2000-01-01'),
  -- Who accepted it, why, and until when.
  reviewer person_name,
  reason written_text,
  accepted_until date,
  is_attested boolean default false not null,
  -- The last event that the reviewer had seen.
  seen_event_id bigint references discrepancy_event,
  check ((kind in ('proposed', 'accepted')) = (accepted_until is not null)),
  check (reviewer is null or run_id is null and kind in ('proposed', 'accepted', 'acceptance_ended')),
  check ((accepted_until is null) or (reviewer is not null)),
  check (((reviewer is null) = (reason is null)) and ((reviewer is null) = (seen_event_id is null)))
);

create index discrepancy_event_by_run on discrepancy_event (run_id);
create index discrepancy_event_by_discrepancy on discrepancy_event (discrepancy_id);

-- A person accepts a discrepancy only as seen, and within the rules, whichever program writes the row. Reviewers may not update discrepancies.
create function check_discrepancy_event() returns trigger language plpgsql security definer as $$
declare
  found discrepancy;
  seen discrepancy_event;
  today date;
begin
  if new.reviewer is null then
    -- A comparison inserts many at once. The function belongs to the owner of the tables.
    if session_user = current_user then
      return new;
    end if;
    perform require_owner(format('a discrepancy is %s', new.kind));
    return new;
  end if;
  perform require_author(new.reviewer, new.is_attested, 'decide', new.happened_at);
  select * into found from discrepancy where discrepancy_id = new.discrepancy_id for update;
  select * into seen from discrepancy_event where discrepancy_id = new.discrepancy_id order by event_id desc limit 1;
  if found.state = 'resolved' or seen.event_id is distinct from new.seen_event_id then
    raise exception 'discrepancy % has changed since it was seen', new.discrepancy_id using errcode = 'integrity_constraint_violation';
  end if;
  new.severity := found.severity;
  new.facts := found.facts;
  if new.accepted_until is not null and found.severity = 'critical' then
    raise exception 'a critical discrepancy is never accepted' using errcode = 'insufficient_privilege';
  end if;
  -- Only the owner may write for another day.
  today := case when is_owner() then new.happened_at else clock_timestamp() end::date;
  if new.accepted_until > today + 181 then
    raise exception 'a discrepancy is accepted for 180 days at most' using errcode = 'insufficient_privilege';
  elsif new.accepted_until < today - 1 then
    raise exception 'the day until which a discrepancy is accepted is past' using errcode = 'check_violation';
  end if;
  if new.kind = 'proposed' and version() ~ 'emscripten' then
    raise exception 'on the embedded database no second person can be told from the first' using errcode = 'insufficient_privilege';
  end if;
  if new.kind = 'accepted'
    and found.severity = any (find_four_eyes((select organisation_id from account where account_id = found.account_id)))
    and not (
      seen.kind = 'proposed' and seen.accepted_until = new.accepted_until and seen.reviewer <> new.reviewer
    )
  then
    raise exception 'a discrepancy of severity % is accepted by two people', found.severity using errcode = 'insufficient_privilege';
  end if;
  update discrepancy set
    state = case when new.kind = 'accepted' then 'accepted' else 'open' end,
    accepted_until = case when new.kind = 'accepted' then new.accepted_until end
  where discrepancy_id = new.discrepancy_id;
  return new;
end
$$;

create trigger check_discrepancy_event before insert on discrepancy_event for each row execute function check_discrepancy_event();
