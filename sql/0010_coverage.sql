-- Who held a run and under which settings, and the sums of a run as the tables themselves give them.

-- The settings that a run was begun with, without secrets, so that what differs can be named before it is resumed.
alter table run add column settings jsonb;

-- Every process that worked on a run, in the order of the epochs.
create table run_holder (
  run_id bigint not null references run,
  epoch bigint not null,
  owner text not null,
  taken_at timestamptz not null,
  -- What was no longer as the run was begun with, in words.
  differences text[] not null,
  primary key (run_id, epoch)
);

insert into run_holder (run_id, epoch, owner, taken_at, differences)
select run_id, epoch, owner, started_at, '{}' from run;

-- Both sides of the conservation sums, counted from the rows and not taken from run.sums; parties where the name says so.
create view run_balance as
select
  run.run_id,
  coalesce(imported.rows, 0)::bigint as rows,
  coalesce(imported.customers, 0)::bigint as customers,
  coalesce(imported.duplicates, 0)::bigint as duplicates,
  rejects.rejected,
  coalesce(run.in_scope, 0)::bigint as in_scope,
  tally.in_plan,
  tally.planned,
  tally.skipped,
  tally.screened,
  tally.reused,
  tally.failed,
  tally.remaining,
  answers.answered_parties,
  answers.proven_parties,
  calls.answered_searches,
  calls.recorded_searches
from run
left join lateral (
  select import_id, rows, customers, duplicates from roster_import
  where roster_import.run_id = run.run_id
  order by import_id desc limit 1
) imported on true
cross join lateral (
  select count(*) as rejected from roster_reject where roster_reject.import_id = imported.import_id
) rejects
-- Each customer once, in the worst state of its parties.
cross join lateral (
  select
    count(*) as in_plan,
    count(*) filter (where worst > 0) as planned,
    count(*) filter (where worst = 0) as skipped,
    count(*) filter (where worst = 1) as reused,
    count(*) filter (where worst = 2) as screened,
    count(*) filter (where worst = 3) as remaining,
    count(*) filter (where worst = 4) as failed
  from (
    select max(array_position(array['skipped', 'reused', 'screened', 'remaining', 'failed'], screening.outcome) - 1) as worst
    from screening
    join party on party.party_id = screening.party_id
    where screening.run_id = run.run_id
    group by party.customer_id
  ) customers
) tally
-- Nobody is screened without an answer that is stored, nor without the transaction that stored it.
cross join lateral (
  select
    count(*) as answered_parties,
    count(*) filter (
      where exists (select from response where response.response_id = screening.response_id)
        and (
          screening.outcome = 'reused'
          or exists (
            select from commit_batch batch where batch.batch_id = screening.batch_id and batch.run_id = screening.run_id
          )
        )
    ) as proven_parties
  from screening
  where screening.run_id = run.run_id and screening.outcome in ('screened', 'reused')
) answers
-- Nor without a call in the ledger that this run made and that was answered.
cross join lateral (
  select
    count(*) as answered_searches,
    count(*) filter (
      where exists (
        select from search_attempt attempt
        where attempt.run_id = run.run_id and attempt.request_id = searched.request_id and attempt.outcome = 'ok'
      )
    ) as recorded_searches
  from (
    select distinct request_id from screening where screening.run_id = run.run_id and screening.outcome = 'screened'
  ) searched
) calls;

-- A run cannot be stored as come to its end with sums that do not hold; null sums are those of a sweep or of an early stop.
create function run_sums_hold(sums jsonb) returns boolean language sql immutable as $$
  select coalesce(
    (counts.rows = counts.customers + counts.rejected + counts.duplicates)
    and (counts."inScope" = counts.planned + counts.skipped)
    and (counts.planned = counts.screened + counts.reused + counts.failed + counts.remaining)
    and (
      counts."inScope" = states.clear + states.below_threshold + states.settled_false_positive + states.incompletely_seen
        + states.not_screened + states.open_hit + states.confirmed
    ),
    false
  )
  from jsonb_to_record(sums -> 'counts') as counts (
    rows bigint, customers bigint, rejected bigint, duplicates bigint, "inScope" bigint, planned bigint, skipped bigint,
    screened bigint, reused bigint, failed bigint, remaining bigint
  )
  cross join jsonb_to_record(sums -> 'states') as states (
    clear bigint, below_threshold bigint, settled_false_positive bigint, incompletely_seen bigint, not_screened bigint,
    open_hit bigint, confirmed bigint
  )
$$;

alter table run add constraint run_sums_hold check (
  state not in ('complete', 'incomplete', 'stopped') or sums is null or run_sums_hold(sums)
) not valid;
