import type { Severity } from '../../changes/change-event.js';
import type { DispositionVerdict } from '../../matches/review/disposition.js';
import { type DecisionStep, judgeDecision } from '../../matches/review/judge-decision.js';
import { toSeenFacts } from '../../matches/review/seen-facts.js';
import type { Queryable } from '../../store/database/database.js';
import {
  type DecidableItem,
  holdItems,
  noteDecidedScores,
  readFourEyes,
  saveDisposition,
} from '../../store/review/decisions.js';
import { findStaleness, toSeenDigest } from './item-stamp.js';
import type { ReviewSettings } from './settings.js';

/** Who decides; `isAttested` where nothing but their word says who they are. */
export interface Reviewer {
  name: string;
  isAttested: boolean;
}

/** By whom, when and under which settings it is decided. */
export interface DecisionContext {
  digestKey: Buffer;
  reviewer: Reviewer;
  now: Date;
  review: Pick<ReviewSettings, 'fourEyes' | 'expiresAfterDays'>;
}

/** What a reviewer has decided about an item. */
export interface ItemDecision {
  itemId: number;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
  /** The stamp that the item had before the reviewer's eyes. */
  stamp: string;
  origin: 'review' | 'legacy';
  /** The working list that it came by. */
  sheetId: number | null;
  /** When it runs out at the latest; the settings may say sooner. */
  expiresAt: Date | null;
}

/** Why a decision is not taken. */
export type DecisionRefusal = 'unknown_item' | 'no_longer_listed' | 'still_listed' | 'changed_since' | 'decided_since';

/** What became of a decision; `proposed` is still to be confirmed by another person. */
export type DecisionResult =
  | { itemId: number; kind: 'confirmed' }
  /** `isPending` where it is a proposal that still waits for another person. */
  | { itemId: number; kind: 'same_already'; isPending: boolean }
  | {
      itemId: number;
      kind: 'decided' | 'proposed';
      /** What somebody else had proposed, and what this takes the place of. */
      instead?: { verdict: DispositionVerdict; reviewer: string };
    }
  | { itemId: number; kind: 'refused'; reason: DecisionRefusal };

/**
 * Decides about items inside a transaction: each decision is bound to exactly what the reviewer saw. Where releasing takes two people
 * the first one's is a proposal, and it takes another who has seen it. One about an item that has changed since, or about which somebody has decided
 * otherwise since, is refused; the same one again is no second one.
 */
export async function decideItems(
  transaction: Queryable,
  context: DecisionContext,
  decisions: readonly ItemDecision[],
): Promise<readonly DecisionResult[]> {
  const { digestKey, reviewer, review } = context;
  const items = await holdItems(
    transaction,
    decisions.map(({ itemId }) => itemId),
  );
  const stored = await readFourEyes(
    transaction,
    [...items.values()].map(({ accountId }) => accountId),
  );
  const results: DecisionResult[] = [];
  const decided: DecidableItem[] = [];
  for (const decision of decisions) {
    const { itemId, verdict } = decision;
    const item = items.get(itemId);
    if (item === undefined) {
      results.push({ itemId, kind: 'refused', reason: 'unknown_item' });
      continue;
    }
    // Settings of one's own allow no more than the organisation's runs do.
    const fourEyes = new Set([...review.fourEyes, ...(stored.get(item.accountId) ?? [])]);
    const needsSecondPerson = takesTwoToRelease(item, fourEyes);
    const standing = toStanding(item, digestKey);
    const step = judgeDecision(standing, { verdict, reviewer: reviewer.name, needsSecondPerson });
    const refusal = findRefusal(item, decision, digestKey);
    const isOwn = standing?.reviewers.includes(reviewer.name) === true;
    if (step.kind === 'same_already' && (isOwn || refusal === null)) {
      results.push({ itemId, kind: 'same_already', isPending: standing?.isFinal === false });
    } else if (refusal !== null) results.push({ itemId, kind: 'refused', reason: refusal });
    else if (step.kind !== 'same_already') {
      await saveDecision(transaction, item, decision, step, context);
      decided.push(item);
      results.push(toResult(item, step, reviewer));
    }
  }
  await noteDecidedScores(transaction, decided);
  return results;
}

/** Two people release alerts of the chosen severities, and where any was chosen, every sanctions alert and every true match. */
const takesTwoToRelease = ({ severity, topic, isConfirmed }: DecidableItem, fourEyes: ReadonlySet<Severity>): boolean =>
  fourEyes.has(severity) || (fourEyes.size > 0 && (topic === 'sanction' || isConfirmed));

function findRefusal(item: DecidableItem, { verdict, stamp }: ItemDecision, digestKey: Buffer): DecisionRefusal | null {
  if (item.state === 'gone') return 'no_longer_listed';
  const staleness = findStaleness(item, stamp, digestKey);
  // Only of an absent match can be said that it is no longer one.
  return staleness ?? (verdict === 'no_longer_matched' && item.absence === null ? 'still_listed' : null);
}

const toStanding = (item: DecidableItem, digestKey: Buffer): Parameters<typeof judgeDecision>[0] =>
  item.standing && {
    ...item.standing,
    reviewers: [item.standing.reviewer, ...(item.standing.proposer === null ? [] : [item.standing.proposer])],
    isAboutTheSame: item.standing.seenDigest === toSeenDigest(item, digestKey),
  };

/** A step that stores something. */
type NewStep = Exclude<DecisionStep, { kind: 'same_already' }>;

function toResult({ itemId, standing }: DecidableItem, step: NewStep, { name }: Reviewer): DecisionResult {
  if (step.kind === 'confirmed') return { itemId, kind: step.kind };
  if (standing === null || standing.isFinal || standing.reviewer === name) return { itemId, kind: step.kind };
  return { itemId, kind: step.kind, instead: { verdict: standing.verdict, reviewer: standing.reviewer } };
}

const dayMs = 86_400_000;

async function saveDecision(
  transaction: Queryable,
  item: DecidableItem,
  { verdict, reason, comment, origin, sheetId, expiresAt }: ItemDecision,
  step: NewStep,
  { digestKey, reviewer, now, review }: DecisionContext,
): Promise<void> {
  const isFinal = step.kind !== 'proposed';
  const days = review.expiresAfterDays[item.severity];
  const ends = [expiresAt, days === undefined ? null : new Date(now.getTime() + days * dayMs)].flatMap(
    (end) => end ?? [],
  );
  // What settles nothing waits anyway.
  const holds = isFinal && verdict !== 'inconclusive';
  await saveDisposition(
    transaction,
    {
      itemId: item.itemId,
      kind: step.kind,
      verdict,
      reviewer: reviewer.name,
      isAttested: reviewer.isAttested,
      reason,
      comment,
      origin,
      seen: toSeenFacts(item.customer, item.listed),
      seenDigest: toSeenDigest(item, digestKey),
      expiresAt: holds && ends.length > 0 ? new Date(Math.min(...ends.map((end) => end.getTime()))) : null,
      refersTo: step.kind === 'confirmed' ? step.proposalId : null,
      sheetId,
      dueAt: null,
    },
    now,
  );
}
