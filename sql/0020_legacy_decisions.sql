-- What an older system had decided about items, as it says so; each item's is taken once, and neither changed nor removed.
create table legacy_decision (
  item_id bigint primary key references review_item,
  verdict text not null check (verdict in ('true_match', 'false_positive', 'inconclusive')),
  reason text not null check (reason <> ''),
  comment text,
  -- By whom and when in the older system, in its own words.
  decided_by text not null check (decided_by <> ''),
  decided_at text not null check (decided_at <> ''),
  -- Not taken over, so that somebody here looks at it: the older system's work is tried on these.
  is_sample boolean not null,
  -- Who has brought it here.
  reviewer text not null check (reviewer <> ''),
  is_attested boolean not null,
  imported_at timestamptz not null,
  check (not is_sample or verdict = 'false_positive')
);

create trigger refuse_rewriting before update or delete or truncate on legacy_decision for each statement
  execute function refuse_rewriting();
create trigger require_reviewer before insert on legacy_decision for each row execute function require_reviewer();
