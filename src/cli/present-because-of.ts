import { countNoun, formatCount } from '../reports/text.js';
import type { BecauseOf } from '../runs/checks/because-of.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

/** How many forced customers are named. */
export const mostNamed = 20;

/** A list and whom it forced, as lines for people. */
export function formatBecauseOf({ comparison, forced }: BecauseOf): string {
  const { file, digest, listed, spellings, comparedParties, forcedCustomers } = comparison;
  const others = forcedCustomers - forced.length;
  const rows: [string, string][] = [
    [
      'because of',
      `${file}: ${countNoun(listed, 'entry', 'entries')} with ${countNoun(spellings, 'name')}, SHA-256 ${digest}`,
    ],
    [
      'forced',
      `${countNoun(forcedCustomers, 'customer')} of ${countNoun(comparedParties, 'party', 'parties')} compared`,
    ],
    ...forced.map(({ reference, because }): [string, string] => ['', `${reference}: ${because}`]),
    ...(others > 0 ? [['', `and ${formatCount(others)} more`] satisfies [string, string]] : []),
  ];
  return `\n${formatTable(rows)}`;
}

/** The same as it stands in a document. */
export const toBecauseOfDocument = ({ comparison, forced }: BecauseOf): Record<string, unknown> => ({
  ...comparison,
  forced,
});

/** What a command says about the list because of which it asked, after what it says anyway. */
export const addBecauseOf = (outcome: Outcome, becauseOf: BecauseOf): Outcome => ({
  ...outcome,
  document: { ...outcome.document, becauseOf: toBecauseOfDocument(becauseOf) },
  text: `${outcome.text}${formatBecauseOf(becauseOf)}`,
});
