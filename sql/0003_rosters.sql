-- Rosters as they were imported: customers, their parties and versions, and what was not accepted.

-- A reference as it is compared: Latin letters in lower case, white space folded; null for an empty one.
create function fold_reference(reference text) returns text immutable strict parallel safe language sql as $$
  select nullif(lower(btrim(regexp_replace(reference, '\s+', ' ', 'g')) collate "C"), '')
$$;

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
  -- Ids whose rows contradict each other; all these rows count as rejected.
  conflicts integer default 0 not null,
  party_rows integer default 0 not null,
  party_rejected integer default 0 not null,
  -- Guards that held the import and were overridden.
  overridden_guards text[] default '{}' not null,
  -- Rows without a readable customer id, those of related parties included: they may belong to any customer.
  unreadable_ids integer default 0 not null,
  -- For each column with values in doubt: how many values were read, how many are in doubt, and the most frequent ones.
  doubts jsonb default '[]'::jsonb not null,
  -- Parties that it drops although their "state" (open_alert, true_match, truncated) is not settled, with "partyId", "accountId", "customerVersion".
  dropped_parties jsonb default '[]' not null,
  -- The number of rows according to the source.
  control_total bigint,
  -- Messages about columns that look like names, and that no setting reads or ignores.
  unmapped_names text[] default '{}' not null,
  -- The settings that read facts, by path: other settings may change a value without a change of its row.
  mapping jsonb,
  -- Changes of known customers: {"known", "joined", "missing", "offboarded", "returned", "reread", "fields"}; null for a first import.
  changes jsonb,
  check (rows = ((customers + rejected) + duplicates))
);

create index roster_import_by_run on roster_import (run_id);

-- Source rows that a report lists: every rejected one, and the first accepted ones with a value in doubt.
create table roster_row (
  import_id bigint references roster_import,
  -- The position in the source, from 1.
  ordinal integer,
  line integer not null,
  file text,
  -- Why it was rejected, and for which column and class of value; null for an accepted row.
  reason text,
  column_name text,
  value_class text,
  -- For an accepted row: each column with a value in doubt, and the reason.
  doubts jsonb,
  reference text,
  -- json keeps the order of the source's columns.
  fields json not null,
  -- The row is of a source of related parties; it does not count as a row of the roster.
  is_party boolean not null,
  primary key (import_id, ordinal),
  check ((reason is null) = (doubts is not null)),
  check (reason is not null or reference is not null)
);

-- Customers that a snapshot first lacked, offboarded or returned.
create table roster_standing (
  import_id bigint references roster_import,
  customer_id bigint,
  kind text check (kind in ('absent', 'left', 'returned')),
  because text,
  primary key (import_id, customer_id, kind)
);

-- Ids in the newest file of a roster without an acceptable record, now or earlier: these customers cannot be screened yet. A row is deleted
-- when a record is accepted, or when a later accepted file no longer names the id.
create table unaccepted_customer (
  roster_id bigint references roster,
  reference text,
  reason text not null check (reason in ('row_rejected', 'conflicting_duplicate', 'roster_held')),
  since timestamptz not null,
  run_id bigint not null references run,
  reference_key text collate "C" generated always as (fold_reference(reference)) stored,
  primary key (roster_id, reference)
);

create table customer (
  customer_id bigint generated always as identity primary key,
  roster_id bigint not null,
  reference text collate "C" not null,
  version integer not null,
  -- Half of the digest, as bytes.
  record_digest bytea not null,
  first_import_id bigint not null,
  absent_since timestamptz,
  -- The digest of the customer's own row, where the record has more than that row; else null.
  own_digest bytea,
  -- Null while the customer is in the roster.
  left_at timestamptz,
  -- Answers before this time no longer count; null for a customer that never returned.
  returned_at timestamptz,
  left_because text check (left_because in ('inactive', 'end_date', 'absent')),
  -- Since when a related party of the customer is unreadable and was never known; null while there is none.
  unreadable_party_since timestamptz,
  reference_key text collate "C" generated always as (fold_reference(reference)) stored,
  unique (roster_id, reference),
  check ((left_at is null) = (left_because is null))
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

-- Both are few, and each import or plan reads them.
create index customer_unreadable_party on customer (roster_id) where (unreadable_party_since is not null);
create index customer_left on customer (roster_id) where (left_at is not null);
create index customer_by_reference_key on customer (roster_id, reference_key) include (customer_id, left_at);

-- Every record of a customer, so that an old report can be written again.
create table customer_version (
  customer_id bigint,
  version integer,
  import_id bigint not null,
  risk_tier text check (risk_tier in ('low', 'medium', 'high')),
  record jsonb not null,
  -- The parts of the record that differ from the version before; null for the first version.
  changed_fields text[],
  -- Whether a name of the customer or of a party is garbled, has lost letters or is a list of names.
  has_doubtful_name boolean generated always as (record @? '$.doubts.name' or record @? '$.parties[*].doubts.name') stored,
  primary key (customer_id, version)
);
create index customer_version_doubtful_name on customer_version (customer_id, version) where (has_doubtful_name);
create index customer_version_changed on customer_version (import_id) where (changed_fields is not null);

-- What is sent to the service; parties with the same type and name share a request.
create table screening_request (
  request_id bigint generated always as identity primary key,
  organisation_id bigint not null,
  -- Compared byte by byte: the collation of a language makes the indexes of a million rows three times as slow.
  type text collate "C" not null check (type in ('person', 'entity')),
  name text collate "C" not null,
  unique (organisation_id, name, type)
);

create table party (
  -- A first import needs a million numbers, so each connection takes 100 at a time; unused ones are lost.
  party_id bigint generated always as identity (cache 100) primary key,
  customer_id bigint not null,
  -- An ordinal is never used again, so over the years they exceed a small integer.
  ordinal integer not null,
  request_id bigint not null,
  -- False for a party that the newest record no longer has; it stays for its history.
  is_current boolean not null,
  unique (customer_id, ordinal)
);

-- Finds all parties of a request; costs a first import about 1 us and 22 bytes a party.
create index party_by_request on party (request_id);
