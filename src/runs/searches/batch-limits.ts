import type { GroupCommitLimits } from './group-commit.js';

/**
 * How much of what was answered may be unsaved. Answers not saved yet are asked for again after a crash, so they wait for a tenth of a
 * second at most before their saving begins; the count only bounds them where more than a thousand a second arrive or the database is slow.
 */
export const batchLimits: GroupCommitLimits = { maxItems: 512, maxDelayMs: 100 };

/**
 * How many searches are noted as in flight together: as many as can be under way at once, or begin within a tenth of a second. What is noted
 * and not sent when the process dies counts as spent.
 */
export const toNotedAhead = ({ perSecond, concurrency }: { perSecond: number; concurrency: number }): number =>
  Math.max(concurrency, Math.min(batchLimits.maxItems / 2, Math.ceil(perSecond / 10)));
