-- A roster between its file and the tables of customers. Nothing here outlives an import, so nothing is logged.

-- The rows of the sources, accepted or not.
create unlogged table roster_staging (
  run_id bigint,
  -- Place in the sources, from 1.
  ordinal integer,
  line integer not null,
  file text,
  -- Whether the row is of a source of related parties.
  is_party boolean not null,
  reference text collate "C",
  -- An accepted row of the roster: the customer as the row gives it, with the digest of that.
  record jsonb,
  record_digest bytea,
  -- The texts of its fields, in case another row contradicts it.
  texts text[],
  -- Why the row itself says that the customer has left.
  leaves text check (leaves in ('inactive', 'end_date')),
  -- An accepted row of a related party.
  party jsonb,
  -- The fields of a rejected row, or of a related party, by header.
  fields json,
  reject_reason text,
  reject_column text,
  value_class text,
  -- The same record as in an earlier row.
  is_repetition boolean default false not null,
  -- The row alone makes the record of its customer.
  is_plain boolean not null,
  primary key (run_id, ordinal),
  check (not is_plain or (reject_reason is null and not is_repetition and not is_party))
);

create index roster_staging_party on roster_staging (run_id, reference) where is_party;

-- What a snapshot changes, customer by customer.
create unlogged table roster_step (
  run_id bigint,
  -- Null: the record is still to be made of several rows. Until then `record` and `own_digest` are those of the customer's own row.
  kind text check (kind in ('new', 'changed', 'same')),
  -- False: a known customer that the snapshot does not show.
  is_shown boolean default false not null,
  -- The snapshot has an accepted row of the customer.
  has_record boolean default false not null,
  reference text collate "C",
  -- Of a known customer, with its version before.
  customer_id bigint,
  version integer,
  -- The row of a customer with one row.
  ordinal integer,
  record jsonb,
  record_digest bytea,
  own_digest bytea,
  leaves text,
  -- Of several rows: records that contradict each other, related parties, and whether a row of theirs was rejected. If so, the known ones stay.
  conflicts jsonb,
  related jsonb,
  keeps_related boolean,
  primary key (run_id, reference)
);
