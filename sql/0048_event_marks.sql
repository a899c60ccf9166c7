-- Events of the service as hints: they mark dossiers and customers, and the marks are cleared when the truth has been fetched.

-- Of a sweep or a screening: of what is marked only.
alter table run drop constraint run_selection_check;
alter table run add constraint run_selection_check check (selection in ('due', 'new', 'all', 'forced', 'dirty'));

-- The keys of events that were taken, so that a repetition marks nothing; forgotten after two days, for the service repeats for one.
create table received_event (
  event_number bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- SHA-256 of `Idempotency-Key`.
  key_digest bytea not null check (length(key_digest) = 32),
  received_at timestamptz not null,
  unique (organisation_id, key_digest)
);

create index received_event_by_time on received_event (received_at);

-- Dossiers that an event was about and that have not been looked up since; they may not exist. Nothing of the event itself is kept.
create table dossier_mark (
  organisation_id bigint not null references organisation,
  dossier_id text not null check (length(dossier_id) <= 80),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Events since the mark was made: it is cleared only where this is as it was when the dossier was asked for.
  events bigint not null check (events > 0),
  -- One of them was about AML screening.
  is_aml boolean not null,
  -- Look-ups that did not find the dossier, and until when the next one waits.
  tries integer not null default 0,
  try_after timestamptz,
  primary key (organisation_id, dossier_id)
);

-- Customers whose dossier has changed, or was in an event about AML screening, and that have not been searched for since.
create table customer_mark (
  account_id bigint not null references account,
  customer_id bigint not null references customer,
  marked_at timestamptz not null,
  -- The run that was to search last; null where the customer was marked after it was planned.
  tried_run_id bigint references run,
  tried_at timestamptz,
  primary key (account_id, customer_id)
);

-- As before but for `plan_run_ids`: a run over marked customers says nothing of the others.
create or replace view customer_standing as
with basis as materialized (
  select
    roster.organisation_id, roster.roster_id, roster.name as roster, account.account_id, account.is_test,
    coalesce(nullif(current_setting('nightscreen.status_at', true), '')::timestamptz, now()) as moment,
    -- Of the last three plans: what was left out or failed in them.
    array(
      select run.run_id from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.in_scope is not null
        and run.selection is distinct from 'dirty'
      order by run.run_id desc limit 3
    ) as plan_run_ids,
    coalesce(nullif(current_setting('nightscreen.status_hours', true), '')::jsonb, (
      select run.cadence -> 'hours' from run
      where run.roster_id = roster.roster_id and run.account_id = account.account_id and run.cadence is not null
      order by run.run_id desc limit 1
    )) as hours
  from roster
  left join lateral (
    select account.account_id, account.is_test
    from run join account using (account_id)
    where run.roster_id = roster.roster_id and coalesce(current_setting('nightscreen.status_account', true), '') in ('', account.account_id::text)
    order by account.is_test, run.run_id desc limit 1
  ) account on true
)
select
  basis.organisation_id, basis.roster_id, basis.roster, basis.is_test, basis.moment,
  customer.customer_id, customer.reference, customer.risk_tier,
  customer.left_at is null or customer.is_open as in_scope,
  (states.in_order)[customer.worst] as state,
  case
    when customer.standing < 5 then (array['never', 'changed', 'expired', 'unproven'])[customer.standing]
    when customer.has_only_conflicts then 'conflicting_duplicate'
    when customer.unreadable_party_since is not null then 'related_party_unreadable'
  end as reason,
  customer.because,
  (states.in_order)[customer.worst_seen] as last_state,
  customer.screened_at as as_of,
  customer.never_screened,
  case when customer.standing > 2 then customer.screened_at + customer.cadence end as due_at,
  case when customer.standing > 2 then customer.screened_at + customer.cadence + screening_grace(customer.cadence) end as expires_at,
  customer.is_provisional,
  customer.run_id,
  customer.waiting,
  (array['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'])[customer.topic_place] as worst_topic
from basis
cross join (
  -- Best first.
  select array['clear', 'below_threshold', 'settled_false_positive', 'incompletely_seen', 'not_screened', 'open_hit', 'confirmed'] as in_order
) states
cross join lateral (
  select
    party.customer_id, party.reference, party.risk_tier, party.left_at, party.unreadable_party_since, tier.cadence,
    min(judged.standing) as standing,
    -- Rows that contradict each other, and no accepted one: nobody can say who the customer is, though every name in them is searched for.
    min(party.ordinal) > 0 as has_only_conflicts,
    greatest(max(array_position(states.in_order, case
      when party.is_confirmed then 'confirmed'
      when party.waiting > 0 or party.has_new_hits then 'open_hit'
      when judged.standing < 5 or party.unreadable_party_since is not null then 'not_screened'
      else party.answer_state
    end)), case when min(party.ordinal) > 0 then array_position(states.in_order, 'not_screened') end) as worst,
    max(array_position(states.in_order, case
      when party.is_confirmed then 'confirmed'
      when party.waiting > 0 or party.has_new_hits then 'open_hit'
      else party.answer_state
    end)) as worst_seen,
    min(party.screened_at) filter (where party.screened_at > 'epoch') as screened_at,
    bool_or(party.run_id is null) as never_screened,
    min(party.run_id) as run_id,
    bool_or(party.waiting > 0 or party.has_new_hits) as is_open,
    bool_or(party.is_confirmed) as is_confirmed,
    bool_or(party.is_provisional) as is_provisional,
    min(failure.because) as because,
    sum(party.waiting)::integer as waiting,
    min(party.topic_place) as topic_place
  from party_standing party
  cross join lateral (
    select coalesce((basis.hours ->> party.risk_tier)::double precision, 24) * interval '1 hour' as cadence
  ) tier
  cross join lateral (
    select case
      when party.run_id is null then 1
      when party.has_changed then 2
      -- An answer that is dated ahead was dated by a clock that was wrong: it has no age.
      when party.screened_at + tier.cadence + screening_grace(tier.cadence) <= basis.moment
        or party.screened_at > basis.moment + interval '1 hour' then 3
      when not party.is_proven then 4
      else 5
    end as standing
  ) judged
  -- Why there is no later valid answer.
  left join lateral (
    select case screening.outcome when 'remaining' then 'remaining' else screening.outcome_reason end as because
    from screening
    where judged.standing < 5
      and screening.run_id = any (basis.plan_run_ids) and screening.party_id = party.party_id
      and screening.run_id >= coalesce(party.run_id, 0)
      and (screening.outcome in ('failed', 'remaining') or screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due')
    order by screening.run_id desc limit 1
  ) failure on true
  where party.roster_id = basis.roster_id and party.account_id is not distinct from basis.account_id
  group by party.customer_id, party.reference, party.risk_tier, party.left_at, party.unreadable_party_since, tier.cadence
) customer
where customer.left_at is null or customer.is_open or customer.is_confirmed
union all
select
  basis.organisation_id, basis.roster_id, basis.roster, basis.is_test, basis.moment, null, unaccepted.reference, 'high', true, 'not_screened',
  unaccepted.reason, null, null, null, true, null, null, false, null, 0, null
from basis
join unaccepted_customer unaccepted on unaccepted.roster_id = basis.roster_id;
