-- Planning: why a customer is asked about, in which order, within which budget, and whose answer may be used again.

alter table screening drop constraint screening_plan_reason_check;
update screening set plan_reason = 'cadence' where plan_reason = 'due';
-- not_selected stands only in plans older than this; a skipped party keeps the reason it would have been asked for.
alter table screening add constraint screening_plan_reason_check check (
  plan_reason in ('new', 'changed', 'cadence', 'forced', 'previously_failed', 'overdue', 'not_due', 'not_selected')
);
-- The place of a planned party's search: risk, then reason, then age; null for a party that is not searched for.
alter table screening add column search_order smallint;

-- The newest run in which a search for the party failed; it counts while no later run has had a valid answer.
alter table party_state add column failed_run_id bigint;
update party_state set failed_run_id = failure.run_id
from (
  select run.account_id, screening.party_id, max(screening.run_id) as run_id
  from screening join run using (run_id)
  where screening.outcome = 'failed'
  group by run.account_id, screening.party_id
) failure
where party_state.account_id = failure.account_id and party_state.party_id = failure.party_id;

-- How often each risk tier is screened, and why less than daily where it is.
alter table run add column cadence jsonb;

-- Calls that the service may have billed, counted from the ledger when the run closes; null for one that is open.
alter table run add column billable_attempts integer;

create index run_by_account on run (account_id, run_id);

-- Whom a run asks about whatever their cadence says; filled before its plan is made.
create table forced_screening (
  run_id bigint not null references run,
  party_id bigint not null references party,
  because text not null check (because <> ''),
  primary key (run_id, party_id)
);

-- Whose answer stands in for a search: found when the plan is made, used when its run begins to screen.
create table screening_reuse (
  run_id bigint not null references run,
  party_id bigint not null references party,
  response_id bigint not null references response,
  -- The run that had it answered, and when.
  answered_run_id bigint not null references run,
  answered_at timestamptz not null,
  primary key (run_id, party_id)
);
