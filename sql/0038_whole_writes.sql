-- What was paid for is written whole, and releasing a true match takes two people wherever four eyes are set.

-- As before, and says how many answers were dated that are as they were: fewer than were to be is an error.
drop function date_states(bigint, bigint, timestamptz, bigint[], bigint[]);
create function date_states(for_account bigint, by_run bigint, moment timestamptz, parties bigint[], others bigint[]) returns bigint
language plpgsql set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  known bigint;
begin
  with dated as (
    update party_state set
      run_id = case when party_id = any (others) then run_id else by_run end,
      screened_at = case when party_id = any (others) then screened_at else moment end,
      former_run_id = case when party_id = any (others) or run_id = by_run then former_run_id else run_id end,
      former_screened_at = case when party_id = any (others) or run_id = by_run then former_screened_at else screened_at end,
      former_answer = case when party_id = any (others) or run_id = by_run then former_answer end
    where account_id = for_account and party_id = any (parties)
    returning party_id
  )
  select count(*) filter (where party_id <> all (others)) into known from dated;
  return known;
end
$$;

-- One person restricts at once. Releasing an alert (`false_positive`, `no_longer_matched`) takes two of a severity with four eyes; and where four
-- eyes are set for any severity, of every sanctions alert and of whoever counts as a true match. A proposal becomes a decision only by
-- another person who has seen the same and says the same. What is confirmed or undone is the decision that holds.
create or replace function require_second_person() returns trigger language plpgsql as $$
declare
  item review_item;
  referred disposition;
begin
  select * into item from review_item where item_id = new.item_id for update;
  if new.kind in ('proposed', 'confirmed') and version() ~ 'emscripten' then
    raise exception 'on the embedded database no second person can be told from the first' using errcode = 'insufficient_privilege';
  end if;
  if new.kind in ('confirmed', 'undone') then
    select * into referred from disposition where disposition_id = new.refers_to;
    if referred.item_id is distinct from new.item_id or item.disposition_id is distinct from new.refers_to then
      raise exception 'decision % does not stand about item %', new.refers_to, new.item_id using errcode = 'integrity_constraint_violation';
    end if;
  end if;
  if new.kind = 'confirmed' then
    if referred.kind <> 'proposed' or referred.verdict <> new.verdict
      or referred.seen_digest <> new.seen_digest or referred.seen <> new.seen then
      raise exception 'decision % proposes something else', new.refers_to using errcode = 'integrity_constraint_violation';
    end if;
    if referred.reviewer = new.reviewer then
      raise exception 'what % has proposed is confirmed by another person', new.reviewer using errcode = 'insufficient_privilege';
    end if;
  elsif new.kind = 'decided' and new.verdict in ('false_positive', 'no_longer_matched') and coalesce((
    select rule.severities <> '{}' and (item.severity = any (rule.severities) or item.topic = 'sanction' or item.is_confirmed)
    from four_eyes_rule rule join account using (organisation_id)
    where account.account_id = item.account_id order by rule.rule_id desc limit 1
  ), false) then
    raise exception 'the release of alert % is decided by two people', new.item_id using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;

do $$
declare
  tables_schema regnamespace := (select relnamespace from pg_class where oid = 'run'::regclass);
begin
  execute format('alter function %s.require_second_person set search_path = pg_catalog, %s, pg_temp', tables_schema, tables_schema);
end
$$;
