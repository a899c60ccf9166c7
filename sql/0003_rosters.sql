-- Rosters as they were imported: customers, their parties and versions, and what was not accepted.

-- A reference as it is compared: without regard to the case of Latin letters and to white space. Null for an empty one.
create function fold_reference(reference text) returns text immutable strict parallel safe language sql as $$
  select nullif(lower(btrim(regexp_replace(reference, '\s+', ' ', 'g')) collate "C"), '')
$$;

create sequence screening_request_block start 1099511627776;

create table roster_import (
  import_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  roster_id bigint not null references roster,
  source text not null,
  source_digest text not null,
  imported_at timestamptz not null,
  rows integer not null,
  customers integer not null,
  rejected integer not null,
  duplicates integer not null,
  absent integer not null,
  is_delta boolean default false not null,
  headers text[],
  party_headers text[],
  joined integer default 0 not null,
  changed integer default 0 not null,
  leavers integer default 0 not null,
  returned integer default 0 not null,
  -- Ids of which rows contradict each other; all their rows count as rejected.
  conflicts integer default 0 not null,
  party_rows integer default 0 not null,
  party_rejected integer default 0 not null,
  -- Guards that held it and were overridden.
  overridden_guards text[] default '{}' not null,
  -- Rows, those of related parties included, whose customer id cannot be read: they may be anybody's.
  unreadable_ids integer default 0 not null,
  -- Of each column with values in doubt: how many values were read, how many are in doubt, and the most frequent of these.
  doubts jsonb default '[]'::jsonb not null,
  -- Parties that it no longer names although what is known of them is not settled: {"partyId", "accountId", "customerVersion" (the record that
  -- dropped the party), "state" (open_alert, true_match, or truncated: a list that was cut)}.
  dropped_parties jsonb default '[]' not null,
  -- How many rows the source said it had.
  control_total bigint,
  -- Messages about columns that look like names of people or firms, and that no setting reads or ignores.
  unmapped_names text[] default '{}' not null,
  -- The settings that read facts, by path: under other settings a value may change without its row.
  mapping jsonb,
  -- How it changed known customers: {"known", "joined", "missing", "offboarded", "returned", "reread", "fields"}; null for a first import.
  changes jsonb,
  check (rows = ((customers + rejected) + duplicates))
);

create index roster_import_by_run on roster_import (run_id);

-- Rows of a source that a reader must see: every rejected one, and the first accepted ones with a value in doubt.
create table roster_row (
  import_id bigint references roster_import,
  -- Place in the source, from 1.
  ordinal integer,
  line integer not null,
  file text,
  -- Why it was rejected, and for which column and class of value; null for an accepted row.
  reason text,
  column_name text,
  value_class text,
  -- Of an accepted row: each column with a value in doubt, and the reason.
  doubts jsonb,
  reference text,
  -- json keeps the order of the source's columns.
  fields json not null,
  -- A row of a source of related parties; not counted among the roster's rows.
  is_party boolean not null,
  primary key (import_id, ordinal),
  check ((reason is null) = (doubts is not null)),
  check (reason is not null or reference is not null)
);

-- Who is no longer shown, has left or has come back, by the snapshot that said so.
create table roster_standing (
  import_id bigint references roster_import,
  customer_id bigint,
  kind text check (kind in ('absent', 'left', 'returned')),
  because text,
  primary key (import_id, customer_id, kind)
);

-- Ids that the newest file of a roster names without an acceptable record, and that have no accepted record either: customers who cannot be
-- screened yet. A row leaves when a record is accepted, or when a later accepted file no longer names the id.
create table unaccepted_customer (
  roster_id bigint references roster,
  reference text,
  reason text not null check (reason in ('row_rejected', 'conflicting_duplicate', 'roster_held')),
  since timestamptz not null,
  run_id bigint not null references run,
  reference_key text collate "C" generated always as (fold_reference(reference)) stored,
  primary key (roster_id, reference)
);

create index unaccepted_customer_by_run on unaccepted_customer (run_id);

create table customer (
  customer_id bigint generated always as identity primary key,
  roster_id bigint not null,
  reference text collate "C" not null,
  version integer not null,
  -- Half of the digest, as bytes.
  record_digest bytea not null,
  first_import_id bigint not null,
  absent_since timestamptz,
  -- Of what the customer's own row says, where the record holds more than that; null where it does not.
  own_digest bytea,
  -- Null: a customer still.
  left_at timestamptz,
  -- Answers from before do not count any more; null for one who never came back after having left.
  returned_at timestamptz,
  left_because text check (left_because in ('inactive', 'end_date', 'absent')),
  -- Since when the roster names a related party of the customer that cannot be read and was never known; null while there is none.
  unreadable_party_since timestamptz,
  reference_key text collate "C" generated always as (fold_reference(reference)) stored,
  unique (roster_id, reference),
  check ((left_at is null) = (left_because is null))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- They are few, and looked for with each import.
create index customer_unreadable_party on customer (roster_id) where (unreadable_party_since is not null);

-- Whether there are any is asked with each plan.
create index customer_left on customer (roster_id) where (left_at is not null);

create index customer_by_reference_key on customer (roster_id, reference_key) include (customer_id, left_at);

-- Every record a customer ever had, so that an old report can be made again.
create table customer_version (
  customer_id bigint,
  version integer,
  import_id bigint not null,
  risk_tier text check (risk_tier in ('low', 'medium', 'high')),
  record jsonb not null,
  -- Which parts of the record are not as in the version before; null for the first.
  changed_fields text[],
  -- Whether a name of the customer or of a party may be another: garbled, with lost letters, or a list.
  has_doubtful_name boolean generated always as (record @? '$.doubts.name' or record @? '$.parties[*].doubts.name') stored,
  primary key (customer_id, version)
);

-- They are few, and looked for with each plan.
create index customer_version_doubtful_name on customer_version (customer_id, version) where (has_doubtful_name);

create index customer_version_changed on customer_version (import_id) where (changed_fields is not null);

-- What is sent: parties with the same request share it.
create table screening_request (
  request_id bigint generated always as identity primary key,
  organisation_id bigint not null,
  -- Text is compared byte by byte: a sorting rule of some language makes the indexes of a million rows three times as slow.
  type text collate "C" not null check (type in ('person', 'entity')),
  name text collate "C" not null,
  unique (organisation_id, name, type)
);

create table party (
  -- A first import gives a million of them numbers; those that a connection has left over are lost.
  party_id bigint generated always as identity (cache 100) primary key,
  customer_id bigint not null,
  -- Nobody gets a place that somebody had: over the years more than a small integer holds.
  ordinal integer not null,
  request_id bigint not null,
  -- Parties that a newer record no longer has stay for their history.
  is_current boolean not null,
  unique (customer_id, ordinal)
);

-- Who shares a name: what is stored of it is of all of them. Costs a first import about 1 us and 22 bytes a party.
create index party_by_request on party (request_id);

-- Takes a block of numbers of a sequence, and gives the one before its first. Only another import waits for this lock.
create function take_numbers(sequence regclass, wanted bigint) returns bigint language plpgsql as $$
declare
  last bigint;
begin
  lock table roster_import in share update exclusive mode;
  last := nextval(sequence);
  perform setval(sequence, last + wanted);
  return last;
end
$$;

-- What each snapshot has changed, customer by customer.
create view roster_change as
select first_import_id as import_id, customer_id, 'joined' as kind, null::text[] as fields, null::text as because from customer
union all
select import_id, customer_id, 'changed', changed_fields, null from customer_version where changed_fields is not null
union all
select import_id, customer_id, kind, null, because from roster_standing;

-- The import that a customer came with keeps the roster, and the run that made a request keeps the organisation.
create trigger refuse_orphans after delete on roster_import referencing old table as gone for each statement
  execute function refuse_orphans('customer.first_import_id.import_id', 'customer_version.import_id.import_id');

create trigger refuse_orphans after delete on customer referencing old table as gone for each statement
  execute function refuse_orphans(
    'customer_version.customer_id.customer_id', 'party.customer_id.customer_id', 'roster_standing.customer_id.customer_id',
    'customer_state_change.customer_id.customer_id', 'customer_state.customer_id.customer_id'
  );

create trigger refuse_orphans after delete on screening_request referencing old table as gone for each statement
  execute function refuse_orphans('party.request_id.request_id');
