-- Reconciliation: rosters, screenings and dossiers compared, and what disagrees, for as long as it does.

alter table run drop constraint run_kind_check;
alter table run add constraint run_kind_check
  check (kind in ('import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile'));

-- A reference as it is compared: without regard to the case of Latin letters and to white space. Null for an empty one.
create function fold_reference(reference text) returns text immutable strict parallel safe language sql as $$
  select nullif(lower(btrim(regexp_replace(reference, '\s+', ' ', 'g')) collate "C"), '')
$$;

-- ISO 8601 with its offset says the same instant whatever a session's settings are.
create function to_instant(iso text) returns timestamptz immutable strict parallel safe language sql as $$
  select iso::timestamptz
$$;

alter table customer add column reference_key text generated always as (fold_reference(reference)) stored;
create index customer_by_reference_key on customer (roster_id, reference_key);

alter table dossier
  add column reference text generated always as (snapshot ->> 'reference') stored,
  add column reference_key text generated always as (fold_reference(snapshot ->> 'reference')) stored,
  add column type text generated always as (snapshot ->> 'type') stored,
  add column status text generated always as (snapshot ->> 'status') stored,
  add column name text generated always as (snapshot ->> 'name') stored,
  add column is_test boolean generated always as ((snapshot ->> 'isTest')::boolean) stored,
  add column created_at timestamptz generated always as (to_instant(snapshot ->> 'createdAt')) stored,
  add column updated_at timestamptz generated always as (to_instant(snapshot ->> 'updatedAt')) stored,
  add column completed_at timestamptz generated always as (to_instant(snapshot ->> 'completedAt')) stored;
create index dossier_by_reference_key on dossier (account_id, reference_key);

-- What one comparison of a roster came to.
create table reconciliation (
  run_id bigint not null references run,
  roster_id bigint not null references roster,
  account_id bigint not null references account,
  sweep_run_id bigint not null references run,
  -- Why absence proves nothing; null where the sweep is proven and recent.
  unproven_because text,
  reconciled_at timestamptz not null,
  -- Customers and dossiers by where they belong.
  sums jsonb not null,
  -- What stood when it ended, by kind and severity, with its age.
  standing jsonb not null,
  primary key (run_id, roster_id)
);

create index reconciliation_by_roster on reconciliation (roster_id, account_id, reconciled_at);

-- Each disagreement once, whenever it stood. A row changes only when the disagreement does.
create table discrepancy (
  discrepancy_id bigint generated always as identity primary key,
  account_id bigint not null references account,
  -- The roster whose comparison found it, and says when it has ended.
  roster_id bigint not null references roster,
  kind text not null,
  -- Customer and dossier, as far as the kind is about them.
  subject text not null,
  customer_id bigint references customer,
  dossier_id text,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low')),
  facts jsonb not null,
  state text not null check (state in ('open', 'accepted', 'resolved')),
  -- Since when it stands, this time.
  opened_at timestamptz not null,
  resolved_at timestamptz,
  -- The last day for which somebody has accepted it.
  accepted_until date,
  -- A critical one is never accepted.
  check (state <> 'accepted' or severity <> 'critical' and accepted_until is not null),
  check ((state = 'resolved') = (resolved_at is not null)),
  unique (account_id, kind, subject)
);

create index discrepancy_standing on discrepancy (roster_id, account_id) where state <> 'resolved';

-- What became of a discrepancy, in order.
create table discrepancy_event (
  event_id bigint generated always as identity primary key,
  discrepancy_id bigint not null references discrepancy,
  -- Null for what a person did.
  run_id bigint references run,
  kind text not null check (kind in ('opened', 'changed', 'returned', 'resolved', 'accepted', 'acceptance_ended')),
  severity text not null,
  facts jsonb not null,
  happened_at timestamptz not null,
  -- Who accepted it, why, and until when.
  reviewer text,
  reason text,
  accepted_until date,
  check ((kind = 'accepted') = (reviewer is not null and reason is not null and accepted_until is not null))
);

create index discrepancy_event_by_run on discrepancy_event (run_id);
create index discrepancy_event_by_discrepancy on discrepancy_event (discrepancy_id);

create trigger refuse_rewriting before update or delete or truncate on discrepancy_event for each statement
  execute function refuse_rewriting();
