import { z } from 'zod';
import type { WaitingItem } from '../reports/working-list.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { absenceShape, ownerShape, replacedShape, severityShape, verdictShape } from './item-shapes.js';
import { ownerSql, reopenedBecauseSql, replacedSql } from './item-sql.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';
import { storedMatchSchema } from './stored-match.js';

/** An item that waits, as the database tells it or has kept it. */
export const waitingRow = z.object({
  itemId: z.number(),
  mode: z.enum(['test', 'live']),
  party: partyFactsSchema,
  listed: storedMatchSchema,
  severity: severityShape,
  rule: z.string(),
  priority: z.number(),
  openedAt: z.coerce.date(),
  dueAt: z.coerce.date().nullable(),
  state: z.enum(['open', 'proposed']),
  // Not kept before there were any.
  absence: absenceShape.nullable().default(null),
  absentSince: z.coerce.date().nullable().default(null),
  owner: ownerShape.nullable(),
  proposal: z
    .object({ verdict: verdictShape, reviewer: z.string(), reason: z.string(), decidedAt: z.coerce.date() })
    .nullable(),
  reopenedBecause: z.array(z.string()),
  lastDecision: z
    .object({ verdict: z.string(), reviewer: z.string(), reason: z.string(), decidedAt: z.coerce.date() })
    .nullable(),
  replaced: replacedShape.nullable().default(null),
  legacy: z
    .object({
      verdict: z.string(),
      reviewer: z.string(),
      reason: z.string(),
      decidedAt: z.string(),
      isSample: z.boolean(),
    })
    .nullable(),
  /** The number of the last thing said about it. */
  lastSaidId: z.number().nullable(),
});

/** An item that waits, as it is stored. */
export type StoredWaitingItem = z.infer<typeof waitingRow> & Omit<WaitingItem, 'mark' | 'sheetId' | 'corroboration'>;

/** Which items that wait are meant. */
export interface WaitingChoice {
  organisation: string;
  roster: string | null;
  /** Only what this person answers for, also while standing in for somebody. */
  assignee: string | null;
  now: Date;
}

/** SQL: the items (`event`) that wait, as `waitingRow` reads them, at a moment (a placeholder); conditions and order are still to come. */
export const waitingItemsSql = (moment: string): string => `
  select event.item_id as "itemId", case when account.is_test then 'test' else 'live' end as mode, ${partyFactsSql} as party, event.listed, event.severity, event.rule, event.priority,
    event.opened_at as "openedAt", event.due_at as "dueAt", event.state,
    event.absence, event.absent_since as "absentSince", ${replacedSql('event')} as replaced,
    ${ownerSql('event', moment)} as owner,
    ${reopenedBecauseSql('event')} as "reopenedBecause",
    case when event.state = 'proposed' then (
      select jsonb_build_object(
        'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at
      )
      from disposition made where made.disposition_id = event.disposition_id
    ) end as proposal,
    (
      select jsonb_build_object(
        'verdict', made.verdict, 'reviewer', made.reviewer, 'reason', made.reason, 'decidedAt', made.decided_at
      )
      from disposition made where made.item_id = event.item_id and made.verdict is not null
        and not (event.state = 'proposed' and made.disposition_id = event.disposition_id)
      order by made.disposition_id desc limit 1
    ) as "lastDecision",
    (
      select jsonb_build_object(
        'verdict', told.verdict, 'reviewer', told.decided_by, 'reason', told.reason, 'decidedAt', told.decided_at,
        'isSample', told.is_sample and not exists (select from disposition made where made.item_id = event.item_id)
      )
      from legacy_decision told where told.item_id = event.item_id
    ) as legacy,
    (select max(said.disposition_id) from disposition said where said.item_id = event.item_id) as "lastSaidId"
  from review_item event
  ${joinPartySql('event')}
  join roster on roster.roster_id = customer.roster_id
  join account on account.account_id = event.account_id
  where event.state in ('open', 'proposed')`;

/** SQL: what is to be looked at first comes first. */
export const waitingOrderSql = 'order by event.priority desc, event.due_at, event.item_id';

/** What waits for reviewers, on whatever account it was found, the first to be looked at first. */
export function readWaitingItems(
  database: Queryable,
  { organisation, roster, assignee, now }: WaitingChoice,
): Promise<readonly StoredWaitingItem[]> {
  return database.query(
    waitingRow,
    `${waitingItemsSql('$3')}
       and roster.organisation_id = (select organisation_id from organisation where name = $1)
       and ($2::text is null or roster.name = $2)
       and ($4::text is null or coalesce(find_stand_in(roster.organisation_id, event.assigned_to, $3), event.assigned_to) = $4)
     ${waitingOrderSql}`,
    [organisation, roster, now, assignee],
  );
}

/** Notes that a working list was written; gives its number. */
export async function insertReviewSheet(
  database: Queryable,
  sheet: { exportedAt: Date; exportedBy: string },
): Promise<number> {
  const rows = await database.query(
    z.object({ sheetId: z.number() }),
    `insert into review_sheet (exported_at, exported_by) values ($1, $2) returning sheet_id as "sheetId"`,
    [sheet.exportedAt, sheet.exportedBy],
  );
  return firstRow(rows, 'review_sheet').sheetId;
}
