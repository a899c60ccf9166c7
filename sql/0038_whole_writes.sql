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
