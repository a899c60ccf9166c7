import { z } from 'zod';
import { type FactsOf, matchSchema } from '../../vocabulary/facts.js';
import { type DispositionVerdict, dispositionVerdicts, runModes } from '../../vocabulary.js';
import { executeAll, type Queryable } from '../database/database.js';
import { recordset, sql } from '../database/statement.js';

const customerRow = z.object({
  reference: z.string(),
  roster: z.string(),
  alerts: z.array(
    z.object({
      alertId: z.number(),
      accountId: z.number(),
      mode: z.enum(runModes),
      listed: matchSchema,
      /** Whether a reviewer has ever decided it here; an imported decision does not count. */
      isDecidedHere: z.boolean(),
      /** The verdict that was imported for it before. */
      taken: z.enum(dispositionVerdicts).nullable(),
    }),
  ),
});
/** A customer that a row of an older system may name, with the alerts of its listed matches. */
export type LegacyCustomer = FactsOf<typeof customerRow>;

/** The customers of these references in all rosters, with their alerts on all accounts. */
export function readLegacyCustomers(database: Queryable, organisation: string, references: readonly string[]) {
  return database.query(
    customerRow,
    sql`select customer.reference, roster.name as roster, (
       select coalesce(jsonb_agg(jsonb_build_object(
         'alertId', alert.alert_id, 'accountId', alert.account_id, 'mode', case when account.is_test then 'test' else 'live' end,
         'listed', alert.listed, 'taken', alert.legacy -> 'verdict',
         'isDecidedHere', exists (select from disposition made where made.alert_id = alert.alert_id and made.origin = 'review')
       ) order by alert.alert_id), '[]')
       from alert_with_match alert
       join party on party.party_id = alert.party_id
       join account on account.account_id = alert.account_id
       where party.customer_id = customer.customer_id and alert.state <> 'no_longer_matched'
     ) as alerts
     from customer
     join roster on roster.roster_id = customer.roster_id
     join organisation on organisation.organisation_id = roster.organisation_id and organisation.name = ${organisation}
     where customer.reference = any (${references})
     order by customer.reference, roster.name`,
  );
}

/** Stores the decisions of an older system and the person who imported them. */
export async function saveLegacyDecisions(
  transaction: Queryable,
  decisions: readonly {
    alertId: number;
    verdict: DispositionVerdict;
    reason: string;
    comment: string | null;
    decidedBy: string;
    decidedAt: string;
    isSample: boolean;
  }[],
  by: { reviewer: string; isAttested: boolean; now: Date },
): Promise<void> {
  if (decisions.length === 0) return;
  const { reviewer, isAttested, now: importedAt } = by;
  const taken = decisions.map(({ alertId, verdict, reason, comment, decidedBy, decidedAt, isSample }) => ({
    alertId,
    legacy: { verdict, reason, comment, decidedBy, decidedAt, isSample, reviewer, isAttested, importedAt },
  }));
  await executeAll(
    transaction,
    taken.length,
    sql`update alert set legacy = taken.legacy
     from ${recordset(taken)} as taken (alert_id bigint, legacy jsonb)
     where alert.alert_id = taken.alert_id`,
  );
}
