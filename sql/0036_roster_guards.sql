-- Rosters that are held without costing the night, the changes that somebody accepted, and customers who may stay unscreened for a while.

-- Rows, those of related parties included, whose customer id cannot be read: they may be anybody's.
alter table roster_import add column unreadable_ids integer not null default 0;

-- The first of the changes that guards found, each with the facts before and after.
alter table roster_acceptance add column changes jsonb not null default '[]';

-- Rosters that guards held while their runs went on with the last accepted roster.
create table roster_hold (
  hold_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  roster_id bigint not null references roster,
  source text not null,
  source_digest text not null,
  held_at timestamptz not null,
  -- Ids that no accepted roster has named: customers whom nobody screens until the roster is accepted or mended.
  new_ids integer not null,
  -- Each guard with what it found, in words that give both figures.
  held_by jsonb not null,
  changes jsonb not null,
  -- What to type to take it all the same.
  command text not null
);

create index roster_hold_by_run on roster_hold (run_id);

create trigger refuse_rewriting before update or delete or truncate on roster_hold for each statement
  execute function refuse_rewriting();

-- Customers without a readable record, and rows without a readable id, whom somebody has accepted until a day: runs and coverage do not end in
-- exit code 3 because of them, and their state stays.
create table coverage_exception (
  exception_id bigint generated always as identity primary key,
  roster_id bigint not null references roster,
  reason text not null check (reason in ('row_rejected', 'conflicting_duplicate', 'roster_held', 'related_party_unreadable', 'unreadable_id')),
  -- Null: rows whose id cannot be read, at most so many.
  reference text collate "C",
  rows integer,
  until date not null,
  accepted_by text not null check (accepted_by <> ''),
  is_attested boolean not null,
  because text not null check (because <> ''),
  accepted_at timestamptz not null,
  check ((reason = 'unreadable_id') = (reference is null)),
  check ((rows is null) = (reference is not null))
);

create index coverage_exception_by_roster on coverage_exception (roster_id, reference);

create trigger refuse_rewriting before update or delete or truncate on coverage_exception for each statement
  execute function refuse_rewriting();
create trigger require_acceptor before insert on coverage_exception for each row execute function require_acceptor();

-- They are few, and looked for with each import.
create index customer_unreadable_party on customer (roster_id) where unreadable_party_since is not null;

-- Customers in scope whom a run cannot screen whatever the service answers: without a readable record, or with a related party that cannot be
-- read. Kept with its plan, so that its report says the same whenever it is made.
create table run_gap (
  run_id bigint not null references run,
  reference text collate "C" not null,
  -- Null: no record was ever accepted.
  customer_id bigint,
  reason text not null,
  primary key (run_id, reference)
);

-- What the last whole snapshot of each roster, and the parts since, have rejected.
update roster_import set unreadable_ids = unreadable.rows
from (select import_id, count(*) as rows from roster_reject where reference is null group by import_id) unreadable
where unreadable.import_id = roster_import.import_id;

insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
select imported.roster_id, reject.reference, 'row_rejected', min(imported.imported_at), max(imported.run_id)
from roster_reject reject
join roster_import imported using (import_id)
where not reject.is_party and reject.reference is not null
  and imported.import_id >= coalesce((
    select max(import_id) from roster_import whole where whole.roster_id = imported.roster_id and not whole.is_delta
  ), 0)
  and not exists (
    select from customer where customer.roster_id = imported.roster_id and customer.reference = reject.reference
  )
group by imported.roster_id, reject.reference;
