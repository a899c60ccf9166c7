/** SQL: who answers for an item at a moment (a placeholder), and for whom when that is a stand-in; null for nobody. */
export const ownerSql = (item: string, moment: string): string => `(
  select jsonb_build_object(
    'name', coalesce(answers.stand_in, ${item}.assigned_to),
    'standsInFor', case when answers.stand_in is not null then ${item}.assigned_to end
  )
  from (
    select find_stand_in(account.organisation_id, ${item}.assigned_to, ${moment}::timestamptz) as stand_in
    from account where account.account_id = ${item}.account_id
  ) answers
  where ${item}.assigned_to is not null
)`;

/** SQL: why an item is open again, `undone` where somebody has undone the decision; none for one that was never decided. */
export const reopenedBecauseSql = (item: string): string => `coalesce((
  select told.reasons
  from (
    select happened_at, reasons from review_event
    where review_event.item_id = ${item}.item_id and kind in ('opened', 'reopened')
    union all
    select undone.decided_at, array['undone']
    from disposition undone join disposition said on said.disposition_id = undone.refers_to and said.kind <> 'proposed'
    where undone.item_id = ${item}.item_id and undone.kind = 'undone'
  ) told
  order by told.happened_at desc limit 1
), '{}')`;
