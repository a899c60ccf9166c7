import type { LegacyCustomer } from '../../../store/legacy-decisions.js';
import { findLegacyItem, type Unmatched } from './find-legacy-item.js';
import type { LegacyFacts, LegacyRow } from './read-legacy-rows.js';

/** Why a row is not taken although it is clear what it is about, or why that cannot be read. */
export type LegacyRefusal = 'unreadable' | 'decided_here' | 'taken_otherwise' | 'contradicted';

/** What becomes of a row of an older system. */
export type JudgedRow = { row: LegacyRow } & (
  | { kind: 'decided' | 'sample'; itemId: number; facts: LegacyFacts }
  /** Taken before, or said by an earlier row. */
  | { kind: 'same' }
  | { kind: 'unmatched'; reason: Unmatched }
  | { kind: 'refused'; reason: LegacyRefusal; problem: string | null }
);

/**
 * Says of each row of an older system what becomes of it, in their order and each once. Of rows about one item that agree the first counts; of
 * rows that do not none. What somebody here has decided is never touched, and what was taken over before is not taken again.
 */
export function judgeLegacyRows(
  rows: readonly LegacyRow[],
  customers: readonly LegacyCustomer[],
  isSampled: (itemId: number) => boolean,
): readonly JudgedRow[] {
  const byReference = new Map<string, LegacyCustomer[]>();
  for (const customer of customers) {
    byReference.set(customer.reference, [...(byReference.get(customer.reference) ?? []), customer]);
  }
  const found = rows.map((row) => {
    const { facts } = row;
    if ('problem' in facts) return { row, problem: facts.problem };
    return { row, facts, ...findLegacyItem(facts, byReference.get(facts.reference) ?? []) };
  });
  const verdicts = new Map<number, Set<string>>();
  for (const one of found) {
    if (!('item' in one)) continue;
    verdicts.set(one.item.itemId, (verdicts.get(one.item.itemId) ?? new Set()).add(one.facts.verdict));
  }
  const seen = new Set<number>();
  return found.map((one): JudgedRow => {
    const { row } = one;
    const refuse = (reason: LegacyRefusal, problem: string | null = null): JudgedRow => ({
      row,
      kind: 'refused',
      reason,
      problem,
    });
    if ('problem' in one) return refuse('unreadable', one.problem);
    if ('unmatched' in one) return { row, kind: 'unmatched', reason: one.unmatched };
    const { item, facts } = one;
    if ((verdicts.get(item.itemId)?.size ?? 0) > 1) return refuse('contradicted');
    if (item.taken === facts.verdict) return { row, kind: 'same' };
    if (item.taken !== null) return refuse('taken_otherwise');
    if (item.isDecidedHere) return refuse('decided_here');
    if (seen.has(item.itemId)) return { row, kind: 'same' };
    seen.add(item.itemId);
    const isSample = facts.verdict === 'false_positive' && isSampled(item.itemId);
    return { row, kind: isSample ? 'sample' : 'decided', itemId: item.itemId, facts };
  });
}
