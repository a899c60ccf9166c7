import { z } from 'zod';
import type { Database } from './database.js';

const statusRow = z.object({
  roster: z.string(),
  reference: z.string(),
  state: z.string(),
  inScope: z.boolean(),
  worstTopic: z.enum(['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none']).nullable(),
  waiting: z.number(),
  held: z.boolean(),
  reason: z
    .enum([
      ...(['never', 'changed', 'expired', 'unproven', 'related_party_unreadable'] as const),
      ...(['row_rejected', 'conflicting_duplicate', 'roster_held'] as const),
    ])
    .nullable(),
  because: z.string().nullable(),
  lastState: z.string().nullable(),
  asOf: z.date().nullable(),
  neverScreened: z.boolean(),
  dueAt: z.date().nullable(),
  expiresAt: z.date().nullable(),
  isProvisional: z.boolean(),
  riskTier: z.enum(['high', 'medium', 'low']),
  mode: z.enum(['test', 'live']).nullable(),
  runId: z.string().nullable(),
  changedAt: z.date().nullable(),
});
/** How a customer stands, as the view `customer_screening_status` has it. */
export type CustomerStatus = z.infer<typeof statusRow>;

const rowsAtOnce = 2_000;

/** How the customers in scope of these rosters stand now, all as of one moment, by roster and reference. */
export function readCustomerStatuses(
  database: Database,
  organisation: string,
  rosters: readonly string[],
): AsyncIterable<CustomerStatus[]> {
  return database.cursor(
    statusRow,
    `select roster, reference, in_scope as "inScope", state, worst_topic as "worstTopic", waiting, held, reason, because, last_state as "lastState", as_of as "asOf", never_screened as "neverScreened", due_at as "dueAt",
       expires_at as "expiresAt", is_provisional as "isProvisional", risk_tier as "riskTier", mode,
       run_id as "runId", changed_at as "changedAt"
     from customer_screening_status
     where organisation = $1 and roster = any ($2::text[])
     order by roster collate "C", reference collate "C"`,
    [organisation, [...rosters]],
    rowsAtOnce,
  );
}
