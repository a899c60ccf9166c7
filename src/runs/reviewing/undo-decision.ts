import { toDueTime } from '../../changes/due-time.js';
import type { DispositionVerdict } from '../../matches/review/disposition.js';
import { parseItemMark } from '../../matches/review/item-code.js';
import { toSeenFacts } from '../../matches/review/seen-facts.js';
import { readOrganisation } from '../../store/organisations.js';
import { holdItems, saveDisposition } from '../../store/review/decisions.js';
import type { Workplace } from '../workplace.js';
import { endAcceptance } from './accept-discrepancies.js';
import type { Reviewer } from './decide-items.js';
import { findStaleness, toSeenDigest } from './item-stamp.js';

/** Which decision is undone: the one that stands about an item that is as its mark says. */
export interface UndoRequest {
  mark: string;
  reviewer: Reviewer;
  reason: string;
}

/** What became of it; `keepsConfirmed` where the customer counts as confirmed until it is decided anew. */
export type UndoResult =
  | {
      kind: 'undone';
      undone: { verdict: DispositionVerdict; reviewer: string; isFinal: boolean };
      isListed: boolean;
      keepsConfirmed: boolean;
    }
  | { kind: 'acceptance_ended' }
  | { kind: 'refused'; reason: 'no_item' | 'unknown_item' | 'changed_since' | 'decided_since' | 'nothing_to_undo' };

/**
 * Undoes the decision, or the proposal, that stands about an item, or ends the acceptance of a discrepancy: a new entry of its history, and the item waits again. It settles nobody,
 * and who was confirmed stays so until it is decided anew, so one person is enough also where a decision takes two.
 */
export async function undoDecision(workplace: Workplace, { mark, reviewer, reason }: UndoRequest): Promise<UndoResult> {
  const { database, settings, clock } = workplace;
  const { digestKey } = await readOrganisation(database, settings.organisation);
  const discrepancy = parseItemMark(mark, digestKey, 'D');
  if (discrepancy !== null) {
    const { itemId: discrepancyId, stamp } = discrepancy;
    const ended = await database.transaction((transaction) =>
      endAcceptance(transaction, { discrepancyId, stamp }, { digestKey, reviewer, reason, now: clock.now() }),
    );
    return ended === 'ended' ? { kind: 'acceptance_ended' } : { kind: 'refused', reason: ended };
  }
  const parsed = parseItemMark(mark, digestKey);
  if (parsed === null) return { kind: 'refused', reason: 'no_item' };
  const { itemId, stamp } = parsed;
  return database.transaction(async (transaction): Promise<UndoResult> => {
    const item = (await holdItems(transaction, [itemId])).get(itemId);
    if (item === undefined) return { kind: 'refused', reason: 'unknown_item' };
    const staleness = findStaleness(item, stamp, digestKey);
    if (staleness !== null) return { kind: 'refused', reason: staleness };
    const { standing, absence, severity } = item;
    if (standing === null) return { kind: 'refused', reason: 'nothing_to_undo' };
    const now = clock.now();
    await saveDisposition(
      transaction,
      {
        itemId,
        kind: 'undone',
        verdict: null,
        reviewer: reviewer.name,
        isAttested: reviewer.isAttested,
        reason,
        comment: null,
        origin: 'review',
        seen: toSeenFacts(item.customer, item.listed),
        seenDigest: toSeenDigest(item, digestKey),
        expiresAt: null,
        refersTo: standing.dispositionId,
        sheetId: null,
        dueAt: toDueTime(severity, now, settings.review),
      },
      now,
    );
    const { verdict, isFinal } = standing;
    return {
      kind: 'undone',
      undone: { verdict, isFinal, reviewer: standing.reviewer },
      isListed: absence === null,
      keepsConfirmed: verdict === 'true_match' && isFinal,
    };
  });
}
