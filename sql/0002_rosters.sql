-- Rosters: accepted customers with their versions and parties, and what was not accepted.

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
  check (rows = customers + rejected + duplicates)
);

create index roster_import_by_run on roster_import (run_id);

create table roster_reject (
  import_id bigint not null references roster_import,
  -- Place in the source, from 1.
  ordinal integer not null,
  line integer not null,
  column_name text,
  reason text not null,
  reference text,
  -- json keeps the order of the source's columns.
  fields json not null,
  primary key (import_id, ordinal)
);

-- Rows of an import on their way; one transaction turns them into the snapshot and empties this.
create table roster_staging (
  run_id bigint not null references run,
  ordinal integer not null,
  line integer not null,
  -- Null: the row is rejected as it stands.
  record jsonb,
  record_digest text,
  reference text,
  reject_reason text,
  reject_column text,
  fields json,
  primary key (run_id, ordinal)
);

-- What is sent: parties with the same request share it.
create table screening_request (
  request_id bigint generated always as identity primary key,
  organisation_id bigint not null references organisation,
  type text not null check (type in ('person', 'entity')),
  name text not null,
  unique (organisation_id, type, name)
);

create table customer (
  customer_id bigint generated always as identity primary key,
  roster_id bigint not null references roster,
  reference text not null,
  version integer not null,
  record_digest text not null,
  first_import_id bigint not null references roster_import,
  -- The last snapshot that showed the customer, accepted or as a reject.
  last_import_id bigint not null references roster_import,
  absent_since timestamptz,
  unique (roster_id, reference)
);

-- Every record a customer ever had, so that an old report can be made again.
create table customer_version (
  customer_id bigint not null references customer,
  version integer not null,
  import_id bigint not null references roster_import,
  risk_tier text check (risk_tier in ('low', 'medium', 'high')),
  record jsonb not null,
  primary key (customer_id, version)
);

create table party (
  party_id bigint generated always as identity primary key,
  customer_id bigint not null references customer,
  -- Place in the customer's record, from 0: the customer itself.
  ordinal smallint not null,
  request_id bigint not null references screening_request,
  -- Parties that a newer record no longer has stay for their history.
  is_current boolean not null,
  unique (customer_id, ordinal)
);
