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
  /** Whether a match of this severity is settled or confirmed by two people only. */
  needsSecondPerson: boolean;
}

/** What a decision is taken for. */
export type DecisionStep =
  /** It is said already. */
  { kind: 'same_already' } | { kind: 'decided' } | { kind: 'proposed' } | { kind: 'confirmed'; proposalId: number };

/**
 * What it means that a reviewer says something about an item of which something may stand already. Where two people are needed one
 * person's words, however often, are a proposal, and it is confirmed only by another's who says the same about the same; that it cannot be
 * told settles nothing, so anybody may say it.
 */
export function judgeDecision(
  standing: StandingDecision | null,
  { verdict, reviewer, needsSecondPerson }: SaidDecision,
): DecisionStep {
  const needsTwo = needsSecondPerson && verdict !== 'inconclusive';
  if (standing?.isAboutTheSame === true && standing.verdict === verdict) {
    const isOwn = standing.reviewers.includes(reviewer);
    if (!standing.isFinal && !isOwn) return { kind: 'confirmed', proposalId: standing.dispositionId };
    if (needsTwo || (standing.isFinal && isOwn)) return { kind: 'same_already' };
  }
  return { kind: needsTwo ? 'proposed' : 'decided' };
}
