-- Reports that were written, and what is sent: by mail, and by webhooks.

create table report (
  run_id bigint references run,
  revision integer,
  sweep_run_ids bigint[] not null,
  -- Earlier runs of the roster whose changes no report had.
  earlier_run_ids bigint[] not null,
  created_at timestamptz not null,
  -- Null until the report has been written whole.
  manifest_sha256 text,
  -- Null until every recipient has been handed it.
  sent_at timestamptz,
  -- The settings that the roster's last report before this one was made under; null where nothing is known of them.
  former_settings_id bigint references acceptance,
  primary key (run_id, revision)
);

-- Everything that leaves: queued in the transaction of what it reports, sent after its commit, tried again until it is accepted, refused
-- or too old.
create table outbox (
  outbox_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  -- webhook: sent to another system. warning_event: a warning in the log only, because no mail is configured. All others are mail.
  kind text not null check (kind in ('mail_report', 'mail_warning', 'mail_failure', 'warning_event', 'webhook')),
  -- The one address that it goes to; null for a warning_event, and for a report that is not written yet, whose recipients depend on what it
  -- says.
  destination text check (destination <> ''),
  -- What it reports; null where no run was made.
  run_id bigint references run,
  -- Of a report: which of its revisions.
  revision integer,
  -- What is sent once has one key for ever.
  dedup_key text not null,
  -- The message as it is sent, the same at each attempt; null as long as the destination is.
  content jsonb,
  -- Of mail, with its angle brackets.
  message_id text,
  state text default 'queued' not null check (state in ('queued', 'sent', 'refused', 'given_up', 'dropped')),
  -- Each attempt in order: {"triedAt", "outcome" (sent, refused, failed), "said" (what the other side answered)}. Only added to.
  attempts jsonb default '[]' not null check (jsonb_typeof(attempts) = 'array'),
  -- Of an early warning: the critical changes of the run that it lists, the first and the last of them, and how many they are.
  first_change_id bigint,
  last_change_id bigint check (last_change_id >= first_change_id),
  changes integer check (changes > 0),
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
  check ((kind in ('mail_warning', 'warning_event')) = (changes is not null)),
  check (num_nulls(run_id, first_change_id, last_change_id) = 0 or changes is null),
  constraint outbox_dropped_by_somebody check (
    (dropped_at is null) = (dropped_by is null) and (dropped_at is null) = (dropped_because is null)
    and (state <> 'dropped' or dropped_at is not null)
  )
);

create index outbox_due on outbox (next_attempt_at) where (state = 'queued');

create index outbox_by_run on outbox (run_id);

-- What was tried, when and with what result is never lost.
create function keep_attempts() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if old.attempts = '[]' then
      return old;
    end if;
  elsif starts_with(new.attempts::text, rtrim(old.attempts::text, ']')) then
    return new;
  end if;
  raise exception 'attempts in the outbox are never changed or removed' using errcode = 'restrict_violation';
end
$$;

create trigger keep_attempts before delete or update on outbox for each row execute function keep_attempts();

-- Changes of state that are in no message to this webhook yet.
create table webhook_event (
  organisation_id bigint references organisation,
  url text,
  change_id bigint,
  -- Changes of state that wait until the run is accepted, and later ones of the same customers.
  held_run_id bigint references run,
  primary key (organisation_id, url, change_id)
);

create index webhook_event_held on webhook_event (held_run_id) where (held_run_id is not null);

-- Queues these changes of state for the webhooks that want them.
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
