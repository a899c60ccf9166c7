import { formatCount } from '../reports/format-count.js';
import type { ForcedCustomer, ListComparison } from '../store/list-comparisons.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

/** A published list and whom it has forced into a run. */
export interface BecauseOf {
  comparison: ListComparison;
  /** The first of them. */
  forced: readonly ForcedCustomer[];
}

/** How many forced customers are named. */
export const mostNamed = 20;

/** What a command says about the list because of which it asked, after what it says anyway. */
export function addBecauseOf(outcome: Outcome, { comparison, forced }: BecauseOf): Outcome {
  const { file, digest, listed, spellings, comparedParties, forcedCustomers } = comparison;
  const others = forcedCustomers - forced.length;
  const rows: [string, string][] = [
    ['because of', `${file}: ${formatCount(listed)} entries with ${formatCount(spellings)} names, SHA-256 ${digest}`],
    ['forced', `${formatCount(forcedCustomers)} customers of ${formatCount(comparedParties)} parties compared`],
    ...forced.map(({ reference, because }): [string, string] => ['', `${reference}: ${because}`]),
    ...(others > 0 ? [['', `and ${formatCount(others)} more`] satisfies [string, string]] : []),
  ];
  return {
    ...outcome,
    document: { ...outcome.document, becauseOf: { ...comparison, forced } },
    text: `${outcome.text}\n${formatTable(rows)}`,
  };
}
