import { countNoun } from '../../reports/format-count.js';
import type { RunCounts } from '../../reports/run-facts.js';
import type { StateDisagreements } from '../../store/review/unprojected.js';
import type { RunBalance } from '../../store/run-sums.js';

/** One conservation sum with both its sides, as the database counts them. */
export interface BalanceLine {
  sum: string;
  left: number;
  right: number;
}

/** The conservation sums of a run by the database's count (DESIGN: Conservation). */
export const toBalanceLines = (balance: RunBalance): readonly BalanceLine[] => [
  {
    sum: 'rows = customers + rejected + duplicates',
    left: balance.rows,
    right: balance.customers + balance.rejected + balance.duplicates,
  },
  { sum: 'in scope = customers in the plan', left: balance.inScope, right: balance.inPlan },
  { sum: 'in scope = planned + skipped', left: balance.inScope, right: balance.planned + balance.skipped },
  {
    sum: 'planned = screened + reused + failed + remaining',
    left: balance.planned,
    right: balance.screened + balance.reused + balance.failed + balance.remaining,
  },
  {
    sum: 'screened or reused parties = parties with a stored answer',
    left: balance.answeredParties,
    right: balance.provenParties,
  },
  {
    sum: 'answered searches = answered searches in the ledger',
    left: balance.answeredSearches,
    right: balance.recordedSearches,
  },
];

const counted = [
  ...(['rows', 'customers', 'rejected', 'duplicates', 'inScope', 'planned', 'skipped'] as const),
  ...(['screened', 'reused', 'failed', 'remaining'] as const),
];

/** What of the customers' states is not what answers, alerts and dispositions give (DESIGN: The one rule). */
export const describeStateDisagreements = ({ alerts, hits }: StateDisagreements): readonly string[] => [
  ...(alerts > 0 ? [`alerts in the state of their dispositions: ${countNoun(alerts, 'alert')} in another`] : []),
  ...(hits > 0 ? [`hits with an alert: ${countNoun(hits, 'party', 'parties')} with a hit and no alert`] : []),
];

/** What does not hold by the database's count, and where its count is not the one that is about to be stored; both figures each. */
export function findDisagreements(counts: RunCounts, balance: RunBalance): readonly string[] {
  return [
    ...toBalanceLines(balance)
      .filter(({ left, right }) => left !== right)
      .map(({ sum, left, right }) => `${sum} does not hold in the database: ${left} is not ${right}`),
    ...counted
      .filter((name) => counts[name] !== balance[name])
      .map((name) => `${name} is ${counts[name]} by the sums and ${balance[name]} by the database`),
  ];
}
