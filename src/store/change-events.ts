import type { MatchChange } from '../changes/match-change.js';
import type { Queryable } from './database.js';
import { requireRows } from './require-all.js';

/** A change of one party as a run found it. */
export interface NewChangeEvent {
  partyId: number;
  customerVersion: number;
  /** Of the answer that it is compared with, where that is another. */
  formerCustomerVersion: number | null;
  change: MatchChange;
}

/** Saves the change events of a batch. */
export async function saveChangeEvents(
  transaction: Queryable,
  runId: number,
  batchId: number,
  events: readonly NewChangeEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ partyId, customerVersion, formerCustomerVersion, change }) => ({
    party_id: partyId,
    customer_version: customerVersion,
    former_customer_version: formerCustomerVersion,
    kind: change.difference.kind,
    severity: change.severity,
    rule: change.rule,
    adjustments: change.adjustments,
    birth_date_agreement: change.corroboration.birthDate,
    country_agreement: change.corroboration.country,
    sanction_hit: change.isSanctionHit,
    cause: change.cause,
    is_baseline: change.isBaseline,
    match_id: change.difference.matchId,
    fields: change.difference.fields,
    before: change.difference.before,
    after: change.difference.after,
  }));
  const saved = await transaction.execute(
    `insert into change_event (
       run_id, batch_id, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version
     )
     select $1, $2, party_id, customer_version, kind, severity, rule, adjustments, birth_date_agreement, country_agreement,
       sanction_hit, cause, is_baseline, match_id, fields, before, after, former_customer_version
     from jsonb_to_recordset($3::text::jsonb) as row (
       party_id bigint, customer_version integer, kind text, severity text, rule text, adjustments text[],
       birth_date_agreement text, country_agreement text, sanction_hit boolean, cause text, is_baseline boolean, match_id text, fields text[],
       before jsonb, after jsonb, former_customer_version integer
     )`,
    [runId, batchId, JSON.stringify(rows)],
  );
  requireRows(saved, rows.length, 'change_event');
}
