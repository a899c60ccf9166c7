import type { DispositionVerdict } from './disposition.js';

/** What stands about an item. */
export interface StandingDecision {
  dispositionId: number;
  verdict: DispositionVerdict;
  /** False for a proposal that nobody has confirmed yet. */
  isFinal: boolean;
  /** Whose it is: one person's, or that of who proposed it and who confirmed it. */
  reviewers: readonly string[];
  /** Whether it is about just what is to be seen now. */
  isAboutTheSame: boolean;
}

/** What somebody says about an item. */
export interface SaidDecision {
  verdict: DispositionVerdict;
  reviewer: string;
  /** Whether it takes two people to release this alert. */
  needsSecondPerson: boolean;
}

/** What a decision is taken for. */
export type DecisionStep =
  /** It is said already. */
  { kind: 'same_already' } | { kind: 'decided' } | { kind: 'proposed' } | { kind: 'confirmed'; proposalId: number };

const releasing: ReadonlySet<DispositionVerdict> = new Set(['false_positive', 'no_longer_matched']);

/**
 * What it means that a reviewer says something about an alert of which something may stand already. One person restricts at once: a true
 * match is decided, also in place of a proposal. Where two people are needed to release, one person's words, however often, are a proposal,
 * and only another person who says the same about the same confirms it. `inconclusive` releases nothing, so one person is enough.
 */
export function judgeDecision(
  standing: StandingDecision | null,
  { verdict, reviewer, needsSecondPerson }: SaidDecision,
): DecisionStep {
  const needsTwo = needsSecondPerson && releasing.has(verdict);
  if (standing?.isAboutTheSame === true && standing.verdict === verdict) {
    const isOwn = standing.reviewers.includes(reviewer);
    if (!standing.isFinal && !isOwn) return { kind: 'confirmed', proposalId: standing.dispositionId };
    if (needsTwo || (standing.isFinal && isOwn)) return { kind: 'same_already' };
  }
  return { kind: needsTwo ? 'proposed' : 'decided' };
}
