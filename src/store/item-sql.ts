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

/**
 * SQL: the last decision about a like match of the party that left the list when the item's match came, as `replacedShape` reads it; null
 * where there is none, and where the item has been decided about itself. Nothing that it goes by ever changes.
 */
export const replacedSql = (item: string): string => `(
  select jsonb_build_object(
    'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at,
    'name', former.listed ->> 'name', 'matchId', former.listed ->> 'id'
  )
  from review_item former
  join disposition made on made.item_id = former.item_id and made.verdict is not null
  where former.party_id = ${item}.party_id and former.account_id = ${item}.account_id and former.item_id < ${item}.item_id
    and former.listed ->> 'schema' = ${item}.listed ->> 'schema'
    and (
      string_to_array(lower(former.listed ->> 'name'), ' ') && string_to_array(lower(${item}.listed ->> 'name'), ' ')
      or exists (
        select from jsonb_array_elements_text(former.listed -> 'birthDates') as born (day)
        where length(born.day) > 4 and ${item}.listed -> 'birthDates' @> to_jsonb(born.day)
      )
    )
    and not exists (select from disposition own where own.item_id = ${item}.item_id)
    and exists (
      select from review_event opened
      join change_event lost on lost.run_id = opened.run_id and lost.party_id = former.party_id
        and lost.match_id = former.listed ->> 'id' and lost.after is null
      where opened.item_id = ${item}.item_id and opened.kind = 'opened' and made.decided_at <= opened.happened_at
      -- Fenced off: asked of the few former items, by indexes.
      offset 0
    )
  order by lower(former.listed ->> 'name') = lower(${item}.listed ->> 'name') desc, made.disposition_id desc limit 1
)`;
