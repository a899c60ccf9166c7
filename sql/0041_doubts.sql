-- Facts that cannot be read stop no search: they count as unknown, are counted by column and value, and their rows can be mended.

-- Of each column with values in doubt: how many values were read, how many are in doubt, and the most frequent of these.
alter table roster_import add column doubts jsonb not null default '[]';

-- The first accepted rows with a value in doubt.
create table roster_doubt (
  import_id bigint not null references roster_import,
  -- Place in the source, from 1.
  ordinal integer not null,
  line integer not null,
  file text,
  reference text not null,
  -- Each column with the reason.
  doubts jsonb not null,
  -- json keeps the order of the source's columns.
  fields json not null,
  -- A row of a source of related parties.
  is_party boolean not null,
  primary key (import_id, ordinal)
);
