import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';
import type { CutBaseline } from '../reports/cut-list.js';
import type { MatchChangeFacts } from '../reports/run-facts.js';
import { changeRow, matchChangeSql } from './change-facts.js';
import type { Database, Queryable } from './database.js';
import { heldLines } from './held-lines.js';
import { severityShape } from './item-shapes.js';

const isOfRunsSql = 'event.run_id = any ($1::bigint[]) and event.is_baseline';
const orderSql = `
  order by array_position(array['critical', 'high', 'medium', 'low', 'info'], event.severity), customer.reference collate "C",
    event.change_id`;

// What is held comes first in this order, so it is left out by its number.
const hitsSql = `${matchChangeSql}
  where ${isOfRunsSql} and event.sanction_hit and event.severity = $2 ${orderSql} offset $3`;

/** The matches of first screenings in these runs: the first `heldLines`, and where there are more how many and how to read all. */
export async function readBaseline(
  database: Queryable,
  lists: Pick<Database, 'cursor'>,
  runIds: readonly number[],
): Promise<{ held: readonly MatchChangeFacts[]; cut: CutBaseline | null }> {
  const sql = `${matchChangeSql} where ${isOfRunsSql} ${orderSql}`;
  const held = await database.query(changeRow, `${sql} limit $2`, [[...runIds], heldLines + 1]);
  if (held.length <= heldLines) return { held, cut: null };
  const bySeverity = await countBySeverity(database, runIds);
  const kept = held.slice(0, heldLines);
  const hits = await countBySeverity(database, runIds, 'and event.sanction_hit');
  for (const { severity, isSanctionHit } of kept) if (isSanctionHit) hits[severity] -= 1;
  const readSanctionHits = (severity: Severity) => {
    const inSeverity = kept.filter((change) => change.severity === severity && change.isSanctionHit);
    return lists.cursor(changeRow, hitsSql, [[...runIds], severity, inSeverity.length], 1_000);
  };
  const lines = Object.values(bySeverity).reduce((sum, count) => sum + count, 0);
  const read = () => lists.cursor(changeRow, sql, [[...runIds]], 1_000);
  return { held: kept, cut: { lines, bySeverity, unheldSanctionHits: hits, read, readSanctionHits } };
}

async function countBySeverity(
  database: Queryable,
  runIds: readonly number[],
  conditionSql = '',
): Promise<Record<Severity, number>> {
  const rows = await database.query(
    z.object({ severity: severityShape, count: z.number() }),
    `select severity, count(*)::integer as count from change_event event where ${isOfRunsSql} ${conditionSql} group by severity`,
    [[...runIds]],
  );
  const counted = Object.fromEntries(rows.map(({ severity, count }) => [severity, count]));
  return { critical: 0, high: 0, medium: 0, low: 0, info: 0, ...counted };
}
