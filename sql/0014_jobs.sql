-- Scheduled jobs, incidents that the watchdog found, and the coverage of each roster.

-- Each time at which a job was due, once, however many processes and attempts it takes.
create table job_run (
  job_run_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  job text not null check (job <> ''),
  -- Unique per job: a local date (yyyy-mm-dd), a local time (yyyy-mm-dd hh:mm:ss), or an instant (ISO 8601, UTC).
  occasion text not null check (occasion <> ''),
  -- The date in the time zone of the job.
  local_date date not null,
  due_at timestamptz not null,
  -- `running`: in progress, or left by a process that died (then nobody holds the lease job/<organisation>/<job>). `interrupted`: stopped on
  -- request or without its database; resumed while it is the newest. `missed`: its time passed while no scheduler was running.
  state text not null check (state in ('running', 'interrupted', 'finished', 'missed')),
  -- It began well after it was due.
  is_late boolean default false not null,
  attempts integer default 0 not null,
  -- host:pid:random of the last process that ran it.
  owner text,
  begun_at timestamptz,
  -- The end of the last attempt.
  ended_at timestamptz,
  exit_code integer check ((exit_code >= 0) and (exit_code <= 4)),
  -- Why it is not complete, or another remark.
  because text,
  -- The names of its runs.
  run_ids text[] default '{}' not null,
  -- When the last attempt began.
  attempt_at timestamptz,
  -- When the attempt exceeds its timeout.
  deadline_at timestamptz,
  -- The attempt exceeded its timeout.
  timed_out boolean default false not null,
  -- user@host of the person who cancelled the attempt.
  cancelled_by text,
  unique (organisation_id, job, occasion),
  check ((state = 'missed') = (begun_at is null)),
  check ((state = 'finished') = (exit_code is not null)),
  check ((state = 'running') = (ended_at is null))
);

create index job_run_by_due on job_run (organisation_id, job, due_at);

create table incident (
  incident_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  kind text not null check (kind in (
    'did_not_run', 'stuck', 'partial', 'customers_failing',
    'control_failed', 'screening_overdue', 'job_failed', 'job_stuck', 'clock_ahead'
  )),
  -- A roster or `sweep`; for a stuck run the run; for a job its name.
  subject text not null check (subject <> ''),
  -- The roster that it concerns; null for all.
  roster text,
  -- In words, as last reported; without personal data.
  reason text not null,
  -- It is reported again only when this changes.
  mark text not null,
  -- The newest run when it was last reported.
  run_id bigint references run,
  opened_at timestamptz not null,
  -- When it was last reported; the message is queued in the same transaction.
  told_at timestamptz not null,
  times_told integer default 1 not null,
  recovered_at timestamptz,
  -- Closed because its subject is no longer watched, not because it is over.
  is_dropped boolean default false not null,
  check (told_at >= opened_at),
  check (recovered_at >= opened_at)
);

create index incident_by_run on incident (run_id) where (run_id is not null);

-- One of a kind at a time, however many watchdogs there are.
create unique index incident_open on incident (organisation_id, kind, subject, coalesce(roster, '')) where (recovered_at is null);

-- What is watched, and since when: nothing is expected of a roster, a job or a schedule before.
create table watched (
  organisation_id bigint references organisation,
  -- By a watchdog: `roster/<name>`, `job/<name>`, or `schedule/<job> <cron> <time zone>`. By the scheduler: `plan/<job>`.
  subject text check (subject <> ''),
  -- A new or changed plan counts from the time when it was first seen.
  watched_since timestamptz not null,
  -- By the last of several watchdogs, whose configurations may differ.
  last_watched_at timestamptz,
  -- For a plan; the time zone is an IANA name.
  cron text,
  timezone text,
  -- When the job of a plan was removed from the configuration; null while it is planned.
  retired_at timestamptz,
  primary key (organisation_id, subject),
  check (num_nulls(cron, timezone) = case when starts_with(subject, 'plan/') then 0 else 2 end),
  check ((last_watched_at is null) = starts_with(subject, 'plan/')),
  check (retired_at is null or cron is not null)
);

-- Why the last search of a customer failed, of those in the last three plans of a roster, unless there is a later valid answer.
create function last_failures(for_roster bigint, for_account bigint) returns table (customer_id bigint, reason text)
language sql stable as $$
  select failed.customer_id, min(failed.outcome_reason)
  from (
    select distinct on (screening.party_id) party.customer_id, screening.party_id, screening.outcome_reason, screening.run_id
    from (
      select run_id from run
      where roster_id = for_roster and account_id = for_account and in_scope is not null and selection is distinct from 'dirty'
      order by run_id desc limit 3
    ) plans
    -- `offset 0`: one plan after the other, however long the history is.
    cross join lateral (
      select run_id, party_id, outcome_reason from screening where run_id = plans.run_id and outcome = 'failed' offset 0
    ) screening
    join party on party.party_id = screening.party_id
    order by screening.party_id, screening.run_id desc
  ) failed
  left join party_state state on state.account_id = for_account and state.party_id = failed.party_id
  where coalesce(failed.run_id >= state.run_id, true)
  group by failed.customer_id
$$;

-- Notes with the roster of a run that closes how many of its customers are in which state and how old their screenings are, from the walk that
-- `record_state_changes` has just made. Screenings of one second, in a large roster of one minute, count as old as the oldest of them. Nothing is
-- noted while a run is open, after an answer that a wrong clock has dated, or when a person has decided during the walk or shortly before it: a
-- decision that was not committed yet is not in what it has seen.
create function note_coverage(for_run bigint) returns void language plpgsql security definer as $$
declare
  before_walk jsonb := current_setting('nightscreen.before_walk')::jsonb;
begin
  update roster set coverage = (
    with span as (
      select case when count(*) > 2000 then 60 else 1 end as seconds, min(moment) as moment,
        bool_or(as_of > moment + interval '1 hour') or exists (
          select from (select * from disposition where origin <> 'policy' order by disposition_id desc limit 1000) late
          where late.disposition_id > (before_walk ->> 'disposition')::bigint or late.decided_at > min(walked_state.moment) - interval '10 minutes'
        ) as is_unclear
      from pg_temp.walked_state
    ),
    own as (
      select account.account_id from run join account using (account_id)
      where run.roster_id = roster.roster_id order by account.is_test, run.run_id desc limit 1
    )
    select case when not span.is_unclear then jsonb_build_object(
      'runId', for_run, 'accountId', own.account_id, 'at', span.moment, 'seconds', span.seconds,
      'hours', (
        select jsonb_object_agg(tier, coalesce((latest.hours ->> tier)::double precision, 24))
        from unnest(array['high', 'medium', 'low']) tier
        left join (
          select run.cadence -> 'hours' as hours from run
          where run.roster_id = roster.roster_id and run.account_id = own.account_id and run.cadence is not null
          order by run.run_id desc limit 1
        ) latest on true
      ),
      'cap', (before_walk -> 'caps' ->> own.account_id::text)::integer,
      'lastDisposition', (before_walk ->> 'disposition')::bigint,
      'lastChange', (select coalesce(max(change_id), 0) from customer_state_change),
      'entries', (
        select coalesce(jsonb_agg(jsonb_build_array(
          risk_tier, state, reason, failure, customers, extract(epoch from oldest) * 1000
        )), '[]')
        from (
          select seen.risk_tier, seen.state, seen.reason, failed.reason as failure, count(*) as customers, min(seen.as_of) as oldest
          from pg_temp.walked_state seen
          left join last_failures(roster.roster_id, own.account_id) failed on failed.customer_id = seen.customer_id
          where seen.in_scope
          group by seen.risk_tier, seen.state, seen.reason, failed.reason, floor(extract(epoch from seen.as_of) / span.seconds)
        ) grouped
      )
    ) end
    from span, own
  )
  from run where run.run_id = for_run and roster.roster_id = run.roster_id;
end
$$;

-- The customers whose recorded state may no longer hold when a run is planned at a moment: those whose record its import has changed, and those
-- whom decisions concern, because another clock may have dated these. Null for any of them, where that is not sure: what the last run of the
-- roster noted is not all that has happened since, a screening has expired, or they are so many that a walk through all is as quick.
create function find_touched_customers(for_run bigint, at_moment timestamptz) returns bigint[] language plpgsql stable as $$
declare
  planned run := (select run from run where run_id = for_run);
  noted jsonb := (select coverage from roster where roster_id = planned.roster_id);
  last_change bigint := (noted ->> 'lastChange')::bigint;
  touched bigint[];
begin
  if (
    (noted ->> 'accountId')::bigint = planned.account_id and (noted ->> 'at')::timestamptz <= at_moment
    and (noted ->> 'runId')::bigint = (select max(run_id) from run where roster_id = planned.roster_id and run_id < for_run)
    and not exists (
      select from run where roster_id = planned.roster_id and run_id <> for_run and state in ('running', 'stopped')
    )
    and (noted ->> 'cap')::integer is not distinct from (select list_cap from account where account_id = planned.account_id)
    and not exists (
      select from jsonb_each_text(noted -> 'hours') frequency (tier, hours)
      where hours::double precision is distinct from (planned.cadence -> 'hours' ->> tier)::double precision
    )
    -- Those that go by more than their own record.
    and not exists (select from roster_import where run_id = for_run and (returned > 0 or conflicts > 0))
    and not exists (select from customer where roster_id = planned.roster_id and unreadable_party_since is not null)
    and not exists (
      select from jsonb_array_elements(noted -> 'entries') entry
      cross join lateral (select (noted -> 'hours' ->> (entry ->> 0))::double precision * interval '1 hour' as cadence) tier
      cross join lateral (
        select to_timestamp((entry ->> 5)::double precision / 1000) + cadence + screening_grace(cadence) <= at_moment + interval '1 minute' as is_past
      ) age
      where entry ->> 2 in ('related_party_unreadable', 'conflicting_duplicate')
        or entry ->> 1 <> 'not_screened' and is_past
        -- By another party of the customer, which a wrong clock has dated ahead.
        or entry ->> 2 = 'expired' and not is_past
    )
  ) is not true then
    return null;
  end if;
  touched := array(
    select customer_id from roster_import join customer_version using (import_id)
    where run_id = for_run and changed_fields is not null
    union
    select customer_id from customer_state_change join customer using (customer_id)
    where change_id > last_change and roster_id = planned.roster_id
    limit 5001
  );
  return case when cardinality(touched) <= 5000 then touched end;
end
$$;
