-- Written reports, and what is sent by mail and by webhooks.

create table report (
  run_id bigint references run,
  revision integer,
  sweep_run_ids bigint[] not null,
  -- Earlier runs of the roster whose changes were in no report before.
  earlier_run_ids bigint[] not null,
  created_at timestamptz not null,
  -- Null until the report is complete on disk.
  manifest_sha256 text,
  -- Null until it is sent to every recipient.
  sent_at timestamptz,
  -- The settings of the roster's report before this one; null where unknown.
  former_settings_id bigint references acceptance,
  primary key (run_id, revision)
);

-- Messages: queued in the transaction that they report, sent after its commit, and tried again until they are accepted, refused or too old.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- `warning_event`: a warning in the log only, because no mail is configured.
  kind text not null check (kind in ('mail_report', 'mail_warning', 'mail_failure', 'warning_event', 'webhook')),
  -- Its one address; null for a warning_event, and for a report that is not written yet, whose recipients depend on its contents.
  destination text check (destination <> ''),
  -- The reported run; null where there was no run.
  run_id bigint references run,
  -- The revision of a report.
  revision integer,
  -- Messages with the same key are sent once.
  dedup_key text not null,
  -- The message, the same at each attempt; null while the destination is.
  content jsonb,
  -- For mail, with its angle brackets.
  message_id text,
  state text default 'queued' not null check (state in ('queued', 'sent', 'refused', 'given_up', 'dropped')),
  -- Each attempt in order: {"triedAt", "outcome" (sent, refused, failed), "said" (the answer)}.
  attempts jsonb default '[]' not null check (jsonb_typeof(attempts) = 'array'),
  -- For an early warning: its first and last critical change of the run, and their number.
  first_change_id bigint,
  last_change_id bigint check (last_change_id >= first_change_id),
  changes integer check (changes > 0),
  queued_at timestamptz not null,
  next_attempt_at timestamptz not null,
  -- A failed attempt after this time is the last one.
  give_up_at timestamptz not null,
  -- The error of the last failed attempt; null once it is sent.
  last_error text,
  sent_at timestamptz,
  -- The process that is sending it; the claim expires by the clock of the database, so that another process can replace a dead one.
  claimed_by text,
  claimed_until timestamptz,
  dropped_at timestamptz,
  dropped_by text check (dropped_by <> ''),
  dropped_because text check (dropped_because <> ''),
  unique (organisation_id, dedup_key),
  check ((state <> 'sent') or (sent_at is not null)),
  check ((content is null) = (destination is null)),
  check ((claimed_by is null) = (claimed_until is null)),
  check ((kind in ('mail_warning', 'warning_event')) = (changes is not null)),
  check (num_nulls(run_id, first_change_id, last_change_id) = 0 or changes is null),
  constraint outbox_dropped_by_somebody check (
    (dropped_at is null) = (dropped_by is null) and (dropped_at is null) = (dropped_because is null)
    and (state <> 'dropped' or dropped_at is not null)
  )
);

create index outbox_due on outbox (next_attempt_at) where (state = 'queued');
create index outbox_by_run on outbox (run_id);

-- Changes of state that are not yet in a message to this webhook.
create table webhook_event (
  organisation_id bigint references organisation,
  url text,
  change_id bigint,
  -- The held run whose acceptance the change waits for; so do later changes of the same customers.
  held_run_id bigint references run,
  primary key (organisation_id, url, change_id)
);

create index webhook_event_held on webhook_event (held_run_id) where (held_run_id is not null);

-- Queues these changes of state for the webhooks that select them.
create function tell_webhooks(changes bigint[]) returns void language sql as $$
  insert into webhook_event (organisation_id, url, change_id)
  select organisation.organisation_id, webhook ->> 'url', change.change_id
  from unnest(changes) as recorded (change_id)
  join customer_state_change change on change.change_id = recorded.change_id
  join customer on customer.customer_id = change.customer_id
  join roster on roster.roster_id = customer.roster_id
  join organisation on organisation.organisation_id = roster.organisation_id
  cross join jsonb_array_elements(organisation.webhooks) webhook
  where (webhook -> 'rosters' = 'null' or webhook -> 'rosters' ? roster.name)
    and (webhook -> 'states' = 'null' or webhook -> 'states' ?| array[change.from_state, change.to_state])
$$;
