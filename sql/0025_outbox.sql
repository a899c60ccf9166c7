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
  state text not null default 'queued' check (state in ('queued', 'sent', 'refused', 'given_up')),
  attempts integer not null default 0,
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
  unique (organisation_id, dedup_key),
  check (state <> 'sent' or sent_at is not null),
  check ((content is null) = (destination is null)),
  check ((claimed_by is null) = (claimed_until is null))
);

create index outbox_due on outbox (next_attempt_at) where state = 'queued';
create index outbox_by_run on outbox (run_id);

-- Each attempt and what the other side said.
create table outbox_attempt (
  outbox_id bigint not null references outbox,
  attempt integer not null,
  tried_at timestamptz not null,
  outcome text not null check (outcome in ('sent', 'refused', 'failed')),
  said text not null,
  primary key (outbox_id, attempt)
);

create trigger refuse_rewriting before update or delete or truncate on outbox_attempt for each statement
  execute function refuse_rewriting();
