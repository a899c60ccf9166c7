-- Dossiers as the last sweep saw them, and what changed.

create table sweep (
  run_id bigint primary key references run,
  pages integer not null,
  dossiers integer not null,
  appeared integer not null,
  changed integer not null,
  gone integer not null,
  proven boolean not null,
  unproven_because text
);

create table dossier (
  account_id bigint not null references account,
  dossier_id text not null,
  snapshot jsonb not null,
  last_seen_run_id bigint not null references run,
  gone_at timestamptz,
  primary key (account_id, dossier_id)
);

create table dossier_change (
  change_id bigint generated always as identity primary key,
  run_id bigint not null references run,
  dossier_id text not null,
  kind text not null check (
    kind in (
      'dossier_appeared', 'dossier_status_changed', 'dossier_changed', 'dossier_touched', 'dossier_returned', 'dossier_gone'
    )
  ),
  fields text[] not null,
  before jsonb,
  after jsonb
);

create index dossier_change_by_run on dossier_change (run_id);
