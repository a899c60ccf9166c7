-- Reports that were written, and what is sent.

create table report (
  run_id bigint references run,
  revision integer,
  sweep_run_ids bigint[] not null,
  -- Earlier runs of the roster whose changes no report had told.
  earlier_run_ids bigint[] not null,
  created_at timestamptz not null,
  -- Null until the report has been written whole.
  manifest_sha256 text,
  -- Null until every recipient has been handed it.
  sent_at timestamptz,
  -- The settings that the roster's last report before this one was made under; null where nothing is known of them.
  former_settings_record_id bigint references settings_record,
  primary key (run_id, revision)
);

-- Everything that leaves: queued in the transaction of what it tells of, sent after its commit, tried again until it is accepted, refused
-- or too old.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- webhook: told to another system; all others are mail.
  kind text not null check (kind in ('mail_report', 'mail_warning', 'mail_failure', 'webhook')),
  -- The one address that it goes to; null for a report that is not written yet, whose recipients depend on what it says.
  destination text check (destination <> ''),
  -- What it tells of; null where no run was made.
  run_id bigint references run,
  -- Of a report: which of its revisions.
  revision integer,
  -- What is told once has one key for ever.
  dedup_key text not null,
  -- The message as it is sent, the same at each attempt; null as long as the destination is.
  content jsonb,
  -- Of mail, with its angle brackets.
  message_id text,
  state text default 'queued' not null check (state in ('queued', 'sent', 'refused', 'given_up', 'dropped')),
  attempts integer default 0 not null,
  queued_at timestamptz not null,
  next_attempt_at timestamptz not null,
  -- An attempt that fails after this moment was the last one.
  give_up_at timestamptz not null,
  -- What the last attempt that failed came to; null once it is sent.
  last_error text,
  sent_at timestamptz,
  -- Whoever sends it at the moment; by the database's clock, so that what a dead process held is sent by another.
  claimed_by text,
  claimed_until timestamptz,
  dropped_at timestamptz,
  dropped_by text check (dropped_by <> ''),
  dropped_because text check (dropped_because <> ''),
  unique (organisation_id, dedup_key),
  check ((state <> 'sent') or (sent_at is not null)),
  check ((content is null) = (destination is null)),
  check ((claimed_by is null) = (claimed_until is null)),
  constraint outbox_dropped_by_somebody check (
    (dropped_at is null) = (dropped_by is null) and (dropped_at is null) = (dropped_because is null)
    and (state <> 'dropped' or dropped_at is not null)
  )
);

create index outbox_due on outbox (next_attempt_at) where (state = 'queued');

create index outbox_by_run on outbox (run_id);

-- Each attempt and what the other side said.
create table outbox_attempt (
  outbox_id bigint references outbox,
  attempt integer,
  tried_at timestamptz not null,
  outcome text not null check (outcome in ('sent', 'refused', 'failed')),
  said text not null,
  primary key (outbox_id, attempt)
);

-- What recipients were told while a run was going on: critical changes up to and including `last_change_id`.
create table early_warning (
  run_id bigint references run,
  -- Empty: told as an event only, because no mail is configured.
  recipient text,
  sequence integer,
  first_change_id bigint not null,
  last_change_id bigint not null,
  changes integer not null,
  -- When the first of them was queued, and when the mail was last tried.
  queued_at timestamptz not null,
  tried_at timestamptz not null,
  -- Null until the mail was accepted.
  accepted_at timestamptz,
  primary key (run_id, recipient, sequence)
);

create trigger refuse_rewriting before delete or update or truncate on outbox_attempt for each statement
  execute function refuse_rewriting();
