import type { RunCounts } from '../reports/list-facts.js';
import { countNoun, formatCount } from '../reports/text.js';

/** What the answers of a run held: each different search counts once, however many customers it serves. */
export const describeFound = ({ matches, hits }: Pick<RunCounts, 'matches' | 'hits'>): string =>
  `${countNoun(matches, 'match', 'matches')} in the answers, ${formatCount(hits)} of them ${hits === 1 ? 'a hit' : 'hits'}; an answer that serves several customers counts once`;

/** What is different from what was last told: each customer and related party counts for itself. */
export const describeChanges = ({ changes }: Pick<RunCounts, 'changes'>): string =>
  `${formatCount(changes)} since the last report, for each customer and related party; first screenings apart`;
