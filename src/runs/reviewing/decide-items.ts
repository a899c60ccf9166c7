import { createHmac } from 'node:crypto';
import type { DispositionVerdict } from '../../matches/review/disposition.js';
import { toStamp } from '../../matches/review/item-code.js';
import { toState } from '../../matches/review/project-items.js';
import { toSeenFacts, toSeenText } from '../../matches/review/seen-facts.js';
import type { Queryable } from '../../store/database.js';
import { type DecidableItem, holdItems, noteDecidedScores, saveDisposition } from '../../store/decidable-items.js';
import { settleParties } from './settle-parties.js';

/** Who decides; `isAttested` where nothing but their word says who they are. */
export interface Reviewer {
  name: string;
  isAttested: boolean;
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
  expiresAt: Date | null;
}

/** What became of a decision; `refused` says why in words. */
export type DecisionResult =
  | { itemId: number; kind: 'decided' | 'same_already' }
  | {
      itemId: number;
      kind: 'refused';
      reason: 'unknown_item' | 'no_longer_listed' | 'changed_since' | 'decided_since';
    };

/**
 * Decides about items inside a transaction: each decision is bound to exactly what the reviewer saw. One about an item that has changed since, or
 * about which somebody has decided otherwise since, is refused; the same one again is no second one.
 */
export async function decideItems(
  transaction: Queryable,
  { digestKey, reviewer, now }: { digestKey: Buffer; reviewer: Reviewer; now: Date },
  decisions: readonly ItemDecision[],
): Promise<readonly DecisionResult[]> {
  const items = await holdItems(
    transaction,
    decisions.map(({ itemId }) => itemId),
  );
  const results: DecisionResult[] = [];
  const decided: DecidableItem[] = [];
  for (const decision of decisions) {
    const item = items.get(decision.itemId);
    const refusal = item === undefined ? 'unknown_item' : findRefusal(item, decision, digestKey);
    if (item !== undefined && isSameDecision(item, decision, reviewer)) {
      results.push({ itemId: decision.itemId, kind: 'same_already' });
    } else if (item === undefined || refusal !== null) {
      results.push({ itemId: decision.itemId, kind: 'refused', reason: refusal ?? 'unknown_item' });
    } else {
      await saveDecision(transaction, item, decision, { digestKey, reviewer, now });
      decided.push(item);
      results.push({ itemId: decision.itemId, kind: 'decided' });
    }
  }
  await noteDecidedScores(transaction, decided);
  await settleParties(transaction, decided);
  return results;
}

/** What names the state in which a reviewer saw an item: what was to be seen, and whose decision stood; keyed, so that nothing can be told from it. */
export const toItemStamp = (item: DecidableItem, digestKey: Buffer): string =>
  toStampAt(item, item.standing?.dispositionId ?? null, digestKey);

function toStampAt({ customer, listed }: DecidableItem, dispositionId: number | null, digestKey: Buffer): string {
  const seen = toSeenText(toSeenFacts(customer, listed));
  return toStamp(
    createHmac('sha256', digestKey)
      .update(`${dispositionId ?? 'none'} ${seen}`)
      .digest('hex'),
  );
}

function findRefusal(
  item: DecidableItem,
  { stamp }: ItemDecision,
  digestKey: Buffer,
): 'no_longer_listed' | 'changed_since' | 'decided_since' | null {
  if (item.state === 'gone') return 'no_longer_listed';
  if (stamp === toItemStamp(item, digestKey)) return null;
  const isAsBefore = [null, ...item.decisions].some((before) => stamp === toStampAt(item, before, digestKey));
  return isAsBefore ? 'decided_since' : 'changed_since';
}

const isSameDecision = ({ standing }: DecidableItem, { verdict }: ItemDecision, { name }: Reviewer): boolean =>
  standing?.isFinal === true && standing.verdict === verdict && standing.reviewer === name;

async function saveDecision(
  transaction: Queryable,
  item: DecidableItem,
  { verdict, reason, comment, origin, sheetId, expiresAt }: ItemDecision,
  { digestKey, reviewer, now }: { digestKey: Buffer; reviewer: Reviewer; now: Date },
): Promise<void> {
  const seen = toSeenFacts(item.customer, item.listed);
  await saveDisposition(
    transaction,
    {
      itemId: item.itemId,
      kind: 'decided',
      verdict,
      reviewer: reviewer.name,
      isAttested: reviewer.isAttested,
      reason,
      comment,
      origin,
      seen,
      seenDigest: createHmac('sha256', digestKey).update(toSeenText(seen)).digest('hex'),
      expiresAt,
      refersTo: null,
      sheetId,
      state: toState({ verdict, isFinal: true }),
    },
    now,
  );
}
