import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';
import type { Queryable } from './database.js';
import { severityShape } from './item-shapes.js';

const ruleRow = z.object({ accountId: z.number(), severities: z.array(severityShape) });

/** Which severities need two people, by account, as the organisation's runs have last said; the database itself refuses less. */
export async function readFourEyes(
  database: Queryable,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<Severity>>> {
  const rows = await database.query(
    ruleRow,
    `select account.account_id as "accountId", rule.severities
     from account
     join lateral (
       select severities from four_eyes_rule
       where four_eyes_rule.organisation_id = account.organisation_id order by rule_id desc limit 1
     ) rule on true
     where account.account_id = any ($1::bigint[])`,
    [[...new Set(accountIds)]],
  );
  return new Map(rows.map(({ accountId, severities }) => [accountId, new Set(severities)]));
}

/** Has the database know which severities need two people, where that is not as it was. */
export async function saveFourEyes(
  transaction: Queryable,
  organisationId: number,
  fourEyes: readonly Severity[],
  now: Date,
): Promise<void> {
  await transaction.execute(
    `insert into four_eyes_rule (organisation_id, severities, set_at)
     select $1, $2::text[], $3
     where $2::text[] <> coalesce((
       select severities from four_eyes_rule where organisation_id = $1 order by rule_id desc limit 1
     ), '{}')`,
    [organisationId, severityShape.options.filter((severity) => fourEyes.includes(severity)), now],
  );
}
