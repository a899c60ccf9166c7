import type { SeenFacts } from './seen-facts.js';

/** What a reviewer may decide about a match: it is the customer, it is somebody else, it cannot be told, or it is absent and nothing remains to be done. */
export const dispositionVerdicts = ['true_match', 'false_positive', 'inconclusive', 'no_longer_matched'] as const;
export type DispositionVerdict = (typeof dispositionVerdicts)[number];

/** The decision that stands about an item. */
export interface Disposition {
  verdict: DispositionVerdict;
  /** False while a second person has yet to confirm it. */
  isFinal: boolean;
  /** What the reviewer had before them; the decision holds as long as it is the same. */
  seen: SeenFacts;
  /** From when on it must be decided anew; null for never. */
  expiresAt: Date | null;
}
