import { z } from 'zod';
import type { Severity } from '../changes/change-event.js';
import type { CutMatches, SeverityCount } from '../reports/cut-list.js';
import type { MatchChangeFacts } from '../reports/run-facts.js';
import { changeRow, matchChangeSql } from './change-facts.js';
import type { Database, Queryable } from './database.js';
import { heldLines } from './held-lines.js';
import { severityShape } from './item-shapes.js';

/** The changes that runs found, or the matches of first screenings. */
export interface MatchList {
  runIds: readonly number[];
  isBaseline: boolean;
}

/** SQL that says which of `event` are on such a list, by the parameters that `toParameters` gives. */
export const isOnListSql = 'event.run_id = any ($1::bigint[]) and event.is_baseline = $2';

/** The first parameters of a query about such a list. */
export const toParameters = ({ runIds, isBaseline }: MatchList): readonly unknown[] => [[...runIds], isBaseline];

const batchLines = 1_000;
const orderSql = `
  order by array_position(array['critical', 'high', 'medium', 'low', 'info'], event.severity), customer.reference collate "C",
    event.change_id`;
const listSql = `${matchChangeSql} where ${isOnListSql} ${orderSql}`;
const severitySql = `${matchChangeSql} where ${isOnListSql} and event.severity = $3 ${orderSql}`;
// What is held comes first in this order, so it is left out by its number.
const hitsSql = `${matchChangeSql}
  where ${isOnListSql} and event.sanction_hit and event.severity = $3 ${orderSql} offset $4`;

/** The lines of such a list, most severe first: the first `heldLines`, and where there are more how many and how to read all. */
export async function readMatchList(
  database: Queryable,
  lists: Pick<Database, 'cursor'>,
  list: MatchList,
): Promise<{ held: readonly MatchChangeFacts[]; cut: CutMatches | null }> {
  const parameters = toParameters(list);
  const found = await database.query(changeRow, `${listSql} limit $3`, [...parameters, heldLines + 1]);
  if (found.length <= heldLines) return { held: found, cut: null };
  const held = found.slice(0, heldLines);
  const bySeverity = await countBySeverity(database, list);
  const countHeldHits = (severity: Severity): number =>
    held.filter((change) => change.severity === severity && change.isSanctionHit).length;
  const read = (sql: string, ...others: readonly unknown[]) =>
    lists.cursor(changeRow, sql, [...parameters, ...others], batchLines);
  return {
    held,
    cut: {
      lines: Object.values(bySeverity).reduce((sum, { count }) => sum + count, 0),
      bySeverity,
      read: () => read(listSql),
      readOf: (severity) => read(severitySql, severity),
      readSanctionHits: (severity) => read(hitsSql, severity, countHeldHits(severity)),
    },
  };
}

const countRow = z.object({
  severity: severityShape,
  count: z.number(),
  sanctionHits: z.number(),
  standingHits: z.number(),
});

async function countBySeverity(database: Queryable, list: MatchList): Promise<Record<Severity, SeverityCount>> {
  const rows = await database.query(
    countRow,
    `select severity, count(*)::integer as count, count(*) filter (where sanction_hit)::integer as "sanctionHits",
       count(*) filter (where sanction_hit and (after ->> 'isHit')::boolean)::integer as "standingHits"
     from change_event event where ${isOnListSql} group by severity`,
    toParameters(list),
  );
  const none = { count: 0, sanctionHits: 0, standingHits: 0 };
  const counted = Object.fromEntries(rows.map(({ severity, ...counts }) => [severity, counts]));
  return { critical: none, high: none, medium: none, low: none, info: none, ...counted };
}
