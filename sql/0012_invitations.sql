-- Customers without a dossier, and their invitations.

create table invitation (
  invitation_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  roster_id bigint not null references roster,
  customer_id bigint not null references customer,
  discrepancy_id bigint not null references discrepancy,
  -- The record that named the recipient, who is not copied here.
  customer_version integer not null,
  -- What the service knows it by: a keyed digest that says nothing of anybody, and is the same after a restore.
  reference text not null check ((length(reference) >= 1) and (length(reference) <= 255)),
  channel text not null check (channel in ('email', 'sms')),
  -- `sending`: it may have reached the service, and no look-up has shown it yet. `withdrawn`: it never did.
  state text not null check (state in ('intended', 'sending', 'invited', 'refused', 'withdrawn')),
  -- Whether the customer is invited by it; no other is made meanwhile.
  is_open boolean not null,
  intended_at timestamptz not null,
  sending_at timestamptz,
  reminded_at timestamptz,
  -- As the service last showed it.
  token text,
  status text,
  dossier_id text,
  sent_at timestamptz,
  delivery_attempts integer,
  expires_at timestamptz,
  followed_at timestamptz,
  -- What became of it, only added to: {"kind", "at", "detail" (the status at the service, or the code of a failure), "runId" (of a sweep)}.
  events jsonb default '[]' not null check (jsonb_typeof(events) = 'array'),
  check (jsonb_path_query_array(events, 'strict $[*].kind') <@ '[
    "intended", "sending", "sent", "found", "unknown", "refused", "withdrawn", "status", "reminding", "reminded", "ended"
  ]'),
  check ((state <> 'sending') or (sending_at is not null)),
  check ((state = 'invited') = ((status is not null) and (expires_at is not null))),
  check (is_open or (state not in ('intended', 'sending')))
);

create index invitation_by_customer on invitation (customer_id);
create unique index invitation_once on invitation (account_id, customer_id) where is_open;
create unique index invitation_by_reference on invitation (account_id, reference) where (state not in ('refused', 'withdrawn'));
create index invitation_by_discrepancy on invitation (discrepancy_id);

create function judge_invitations(account bigint, discrepancies bigint[], moment timestamptz)
  returns table (discrepancy_id bigint, obstacle text) language plpgsql stable
  -- A plan for whatever arrays compares each row with all of a large one: 90 s for 33,000 customers of 100,000, which take 1 s otherwise.
  set plan_cache_mode = 'force_custom_plan'
as $$
#variable_conflict use_column
declare
  customers constant bigint[] := array(
    select discrepancy.customer_id from discrepancy where discrepancy.discrepancy_id = any (discrepancies)
  );
begin
  return query
  with alerted as materialized (
    select distinct party.request_id, party.party_id, party.customer_id, party.ordinal
    from alert join party on party.party_id = alert.party_id
    where alert.state <> 'no_longer_matched' and (alert.state in ('open', 'pending_approval') or alert.is_true_match)
  ), flagged as materialized (
    select own.customer_id from party own join alerted on alerted.party_id = own.party_id where own.customer_id = any (customers)
    union
    select own.customer_id from party own join alerted on alerted.request_id = own.request_id
    where own.customer_id = any (customers) and own.is_current
      -- A year alone contradicts no day in it.
      and (
        select (starts_with(min(born), max(born)) or starts_with(max(born), min(born))) is not false or count(born) < 2
        from (
          select version.record -> 'parties' -> of.ordinal ->> 'birthDate' as born
          from (values (own.customer_id, own.ordinal), (alerted.customer_id, alerted.ordinal)) as of (customer_id, ordinal)
          join customer using (customer_id)
          join customer_version version using (customer_id, version)
        ) births
      )
  )
  select missing.discrepancy_id,
    case
      when missing.account_id <> account or missing.kind <> 'customer_without_dossier' or missing.state <> 'open' then 'not_missing'
      when customer.customer_id is null then 'no_record'
      when customer.left_at is not null then 'left'
      when known.state = 'true_match' then 'true_match'
      when known.state = 'open_alert' or flagged.customer_id is not null then 'alert_waits'
      when known.state is null or shown.is_test and not owner.is_test then 'not_screened'
      when known.state not in ('clear', 'below_threshold', 'false_positive') then known.state
    end
  from discrepancy missing
  join account owner on owner.account_id = missing.account_id
  left join customer on customer.customer_id = missing.customer_id
  left join flagged on flagged.customer_id = missing.customer_id
  left join shown_account shown on shown.roster_id = customer.roster_id
  left join customer_state state on state.account_id = shown.account_id and state.customer_id = customer.customer_id
  left join lateral (
    select state_by(state.last_state, reason_at(
      state.reason, state.as_of, state.latest_at, moment - to_validity(to_cadence(shown.hours, state.risk_tier)), moment
    )) as state
    where state.customer_id is not null
  ) known on true
  where missing.discrepancy_id = any (discrepancies);
end
$$;

-- No invitation is intended, sent or sent again while its customer may not be invited. What became of an invitation is never lost.
create function check_invitation() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' or tg_op = 'UPDATE' and not starts_with(new.events::text, rtrim(old.events::text, ']')) then
    raise exception 'events of invitations are never changed or removed' using errcode = 'restrict_violation';
  end if;
  if exists (
    select from jsonb_array_elements(new.events) event
    where event ->> 'runId' is not null and not exists (select from run where run.run_id = (event ->> 'runId')::bigint)
  ) then
    raise foreign_key_violation using message = 'an event of an invitation names a run that does not exist';
  end if;
  if tg_op = 'UPDATE' and new.reminded_at is not distinct from old.reminded_at
    and (new.state <> 'sending' or new.sending_at is not distinct from old.sending_at and old.state = 'sending') then
    return new;
  end if;
  if not exists (
    select from judge_invitations(
      new.account_id, array[new.discrepancy_id], greatest(new.intended_at, new.sending_at, new.reminded_at)
    ) judged
    join discrepancy using (discrepancy_id)
    where judged.obstacle is null and discrepancy.customer_id = new.customer_id
  ) then
    raise exception 'the customer of this invitation is not invited now' using errcode = 'integrity_constraint_violation';
  end if;
  return new;
end
$$;

-- For reviewers: who without a dossier is not invited, and why.
create view invitation_exclusion as
select organisation.name as organisation, roster.name as roster, customer.reference as customer, judged.obstacle
from (
  select account_id, array_agg(discrepancy_id) as discrepancies
  from discrepancy where kind = 'customer_without_dossier' and state = 'open' group by account_id
) missing
cross join lateral judge_invitations(missing.account_id, missing.discrepancies, now()) judged
join discrepancy on discrepancy.discrepancy_id = judged.discrepancy_id
join customer on customer.customer_id = discrepancy.customer_id
join roster on roster.roster_id = customer.roster_id
join organisation on organisation.organisation_id = roster.organisation_id
where judged.obstacle is not null;

create trigger check_invitation before insert or update or delete on invitation for each row execute function check_invitation();
