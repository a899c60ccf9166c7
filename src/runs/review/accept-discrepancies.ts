import { toDate, toDayNumber, toDayNumberOf } from '../../local-time.js';
import { parseItemCode, toEventSeenVersion, toItemCode } from '../../matches/item-code.js';
import { type ListedDiscrepancy, mostAcceptedDays } from '../../reconciliation/discrepancy.js';
import type { DiscrepancyList } from '../../reports/list-facts.js';
import { discrepancyListColumns, maxListRows } from '../../reports/review-list.js';
import type { Queryable } from '../../store/database/database.js';
import { readCurrentDiscrepancies, readDecidable, saveAcceptance } from '../../store/discrepancies.js';
import { readOrganisation } from '../../store/organisations.js';
import { readFourEyes } from '../../store/review/decisions.js';
import type { ListTable } from './list-table.js';
import type { DecisionContext } from './people.js';
import type { ReviewSettings } from './settings.js';

/** The discrepancies that stand now, or that stood when a run had compared, each with its mark; null where the run compared nothing. */
export async function listDiscrepancies(
  database: Queryable,
  organisation: string,
  choice: { runId: number } | { roster: string | null },
  limit: number | null = maxListRows,
): Promise<DiscrepancyList | null> {
  const { organisationId, digestKey } = await readOrganisation(database, organisation);
  const { count, listed } = await readCurrentDiscrepancies(
    database,
    'runId' in choice ? choice : { organisationId, ...choice },
    limit,
  );
  if (count === 0 && 'runId' in choice) return null;
  const toListed = ({ discrepancyId, eventId, ...shown }: (typeof listed)[number]): ListedDiscrepancy => ({
    ...shown,
    mark: toItemCode({ itemId: discrepancyId, seenVersion: toEventSeenVersion(eventId, digestKey) }, digestKey, 'D'),
  });
  return { count, listed: listed.map(toListed) };
}

/** A row of a list in which somebody has accepted a discrepancy. */
export interface AcceptedRow {
  line: number;
  customer: string | null;
  discrepancyId: number;
  seenVersion: string;
  /** The last day, yyyy-mm-dd. */
  until: string;
  reason: string;
}

/** The rows of a list that accept something, and those that cannot be read. */
export interface AcceptanceList {
  filled: readonly AcceptedRow[];
  faulty: readonly { line: number; customer: string | null; problem: string }[];
  untouched: number;
}

/** Reads the rows back in which a discrepancy is accepted; rows without a day are left as they are. */
export async function readAcceptances(table: ListTable, key: Buffer): Promise<AcceptanceList> {
  const rows: (AcceptedRow | AcceptanceList['faulty'][number])[] = [];
  let untouched = 0;
  for await (const batch of table.records) {
    for (const { line, fields, fault } of batch) {
      const pick = (name: string): string => table.pick(fields, name);
      const about = { line, customer: pick('reference') || null };
      const [cell, until, reason] = [
        pick(discrepancyListColumns.discrepancy),
        pick(discrepancyListColumns.acceptUntil),
        pick(discrepancyListColumns.reason),
      ];
      const mark = parseItemCode(cell, key, 'D');
      const refuse = (problem: string): void => void rows.push({ ...about, problem });
      if (fault !== null) refuse(`the row cannot be read (${fault})`);
      else if (until === '' && reason === '') untouched += cell === '' ? 0 : 1;
      else if (mark === null) refuse(`${JSON.stringify(cell)} is no discrepancy of a list: a slip of the pen?`);
      else if (until === '') refuse('a reason, but no day in accept_until');
      else if (!isDay(until)) refuse(`accept_until is ${JSON.stringify(until)}, and not a day written as yyyy-mm-dd`);
      else if (reason === '') refuse('the acceptance has no reason');
      else rows.push({ ...about, discrepancyId: mark.itemId, seenVersion: mark.seenVersion, until, reason });
    }
  }
  const filled = rows.filter((row) => 'until' in row);
  const lines = new Map<number, number[]>();
  for (const { discrepancyId, line } of filled) lines.set(discrepancyId, [...(lines.get(discrepancyId) ?? []), line]);
  const findOthers = ({ discrepancyId, line }: AcceptedRow): readonly number[] =>
    (lines.get(discrepancyId) ?? []).filter((other) => other !== line);
  return {
    filled: filled.filter((row) => findOthers(row).length === 0),
    faulty: rows.flatMap((row) => {
      if (!('until' in row)) return [row];
      const others = findOthers(row);
      const { line, customer } = row;
      return others.length === 0
        ? []
        : [{ line, customer, problem: `the same discrepancy as line ${others.join(', ')}` }];
    }),
    untouched,
  };
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(toDayNumberOf(text)) && toDate(toDayNumberOf(text)) === text;

/** What became of a row. */
export type AcceptanceResult =
  | { kind: 'accepted' | 'proposed' | 'confirmed' | 'same_already' }
  | {
      kind: 'refused';
      reason: 'unknown_discrepancy' | 'resolved' | 'discrepancy_changed' | 'critical' | 'past_day' | 'too_long';
    };

/**
 * Accepts discrepancies as of `now` inside a transaction, each as it was seen and until a day. Where its severity takes two people the first one
 * proposes, and another who has seen that confirms the same day. The same again by the same person changes nothing.
 */
export async function acceptDiscrepancies(
  transaction: Queryable,
  {
    digestKey,
    reviewer,
    now,
    review,
  }: Omit<DecisionContext, 'review'> & { review: Pick<ReviewSettings, 'fourEyes' | 'timezone'> },
  rows: readonly AcceptedRow[],
): Promise<readonly AcceptanceResult[]> {
  const known = await readDecidable(
    transaction,
    rows.map(({ discrepancyId }) => discrepancyId),
  );
  const accounts = [...known.values()].map(({ accountId }) => accountId);
  const stored = await readFourEyes(transaction, accounts);
  const today = toDayNumber(now, review.timezone);
  const results: AcceptanceResult[] = [];
  for (const row of rows) {
    const found = known.get(row.discrepancyId);
    const { until, reason } = row;
    const days = toDayNumberOf(until) - today;
    const refuse = (because: Extract<AcceptanceResult, { kind: 'refused' }>['reason']): void =>
      void results.push({ kind: 'refused', reason: because });
    if (found === undefined) {
      refuse('unknown_discrepancy');
      continue;
    }
    const { last, severity, isResolved } = found;
    const isOwn = last.reviewer === reviewer.name && last.until === until;
    const isSeen = row.seenVersion === toEventSeenVersion(last.eventId, digestKey);
    const takesTwo = new Set([...review.fourEyes, ...(stored.get(found.accountId) ?? [])]).has(severity);
    const confirms = takesTwo && last.kind === 'proposed' && last.until === until && !isOwn;
    if (isResolved) refuse('resolved');
    else if (isOwn) results.push({ kind: 'same_already' });
    else if (!isSeen) refuse('discrepancy_changed');
    else if (severity === 'critical') refuse('critical');
    else if (days < 0) refuse('past_day');
    else if (days > mostAcceptedDays) refuse('too_long');
    else {
      const kind = takesTwo && !confirms ? 'proposed' : 'accepted';
      const said = { discrepancyId: row.discrepancyId, seenEventId: last.eventId, kind, reason, until } as const;
      await saveAcceptance(transaction, { ...said, reviewer: reviewer.name, isAttested: reviewer.isAttested }, now);
      results.push({ kind: confirms ? 'confirmed' : kind });
    }
  }
  return results;
}

/** Ends the acceptance, or the proposal, of a discrepancy that is as its mark says; it stands open again. */
export async function endAcceptance(
  transaction: Queryable,
  { discrepancyId, seenVersion }: { discrepancyId: number; seenVersion: string },
  { digestKey, reviewer, now, reason }: Omit<DecisionContext, 'review'> & { reason: string },
): Promise<'ended' | 'unknown_item' | 'changed_since' | 'nothing_to_undo'> {
  const found = (await readDecidable(transaction, [discrepancyId])).get(discrepancyId);
  if (found === undefined) return 'unknown_item';
  if (seenVersion !== toEventSeenVersion(found.last.eventId, digestKey)) return 'changed_since';
  if (found.last.kind !== 'accepted' && found.last.kind !== 'proposed') return 'nothing_to_undo';
  const said = {
    discrepancyId,
    seenEventId: found.last.eventId,
    kind: 'acceptance_ended',
    reason,
    until: null,
  } as const;
  await saveAcceptance(transaction, { ...said, reviewer: reviewer.name, isAttested: reviewer.isAttested }, now);
  return 'ended';
}
