import { toDueTime } from '../../changes/change-event.js';
import { parseItemCode, toEventSeenVersion, toItemCode } from '../../matches/item-code.js';
import { classifyDecision, type DecisionStep, toSeenFacts } from '../../matches/review-item.js';
import { type Queryable, readAtOnce } from '../../store/database/database.js';
import { readDecidable, saveAcceptance } from '../../store/discrepancies.js';
import { readOrganisation } from '../../store/organisations.js';
import {
  type DecidableItem,
  holdItems,
  readDecidableItems,
  readFourEyes,
  readItemHistories,
  saveDisposition,
} from '../../store/review/decisions.js';
import type { DispositionVerdict, Severity } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { findStaleness, toItemSeenVersion, toSeenDigest } from './items.js';
import type { DecisionContext, Reviewer } from './people.js';
import { requireKnown } from './people.js';

/** A reviewer's decision about an item. */
export interface ItemDecision {
  itemId: number;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
  /** The version of the item that the reviewer saw. */
  seenVersion: string;
  origin: 'review' | 'legacy';
  /** The working list that the decision came from. */
  sheetId: number | null;
  /** The latest expiry; the settings may set an earlier one. */
  expiresAt: Date | null;
}

/** Why a decision is refused. */
type DecisionRefusal = 'unknown_item' | 'no_longer_listed' | 'still_listed' | 'changed_since' | 'decided_since';

/** The result of a decision; another person must confirm a `proposed` one. */
type DecisionResult =
  | { itemId: number; kind: 'approved' }
  /** `isPending`: the earlier decision is a proposal that another person must confirm. */
  | { itemId: number; kind: 'same_already'; isPending: boolean }
  | {
      itemId: number;
      kind: 'decided' | 'proposed';
      /** The proposal of another person that this decision replaces. */
      instead?: { verdict: DispositionVerdict; reviewer: string };
    }
  | { itemId: number; kind: 'refused'; reason: DecisionRefusal };

/**
 * Decides items inside a transaction. Each decision is bound to exactly what the reviewer saw. Where a release takes two people, the first
 * decision is a proposal and a second person confirms it. A decision is refused when the item has changed since, or when another person has
 * decided differently since. The same decision again changes nothing.
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
  for (const decision of decisions) {
    const { itemId, verdict } = decision;
    const item = items.get(itemId);
    if (item === undefined) {
      results.push({ itemId, kind: 'refused', reason: 'unknown_item' });
      continue;
    }
    // A local configuration cannot relax the four-eyes rule that the organisation's runs have stored.
    const fourEyes = new Set([...review.fourEyes, ...(stored.get(item.accountId) ?? [])]);
    const needsSecondPerson = takesTwoToRelease(item, fourEyes);
    const current = toCurrent(item, digestKey);
    const step = classifyDecision(current, { verdict, reviewer: reviewer.name, needsSecondPerson });
    const refusal = findRefusal(item, decision, digestKey);
    const isOwn = current?.reviewers.includes(reviewer.name) === true;
    if (step.kind === 'same_already' && (isOwn || refusal === null)) {
      results.push({ itemId, kind: 'same_already', isPending: current?.isFinal === false });
    } else if (refusal !== null) results.push({ itemId, kind: 'refused', reason: refusal });
    else if (step.kind !== 'same_already') {
      await saveDecision(transaction, item, decision, step, context);
      results.push(toResult(item, step, reviewer));
    }
  }
  return results;
}

/** Two people release alerts of the chosen severities. If any severity is chosen, also every sanctions alert and every true match. */
const takesTwoToRelease = ({ severity, topic, isConfirmed }: DecidableItem, fourEyes: ReadonlySet<Severity>): boolean =>
  fourEyes.has(severity) || (fourEyes.size > 0 && (topic === 'sanction' || isConfirmed));

function findRefusal(
  item: DecidableItem,
  { verdict, seenVersion }: ItemDecision,
  digestKey: Buffer,
): DecisionRefusal | null {
  if (item.state === 'no_longer_matched') return 'no_longer_listed';
  const staleness = findStaleness(item, seenVersion, digestKey);
  // `no_longer_matched` is a valid verdict only for an absent match.
  return staleness ?? (verdict === 'no_longer_matched' && item.absence === null ? 'still_listed' : null);
}

const toCurrent = (item: DecidableItem, digestKey: Buffer): Parameters<typeof classifyDecision>[0] =>
  item.current && {
    ...item.current,
    reviewers: [item.current.reviewer, ...(item.current.proposer === null ? [] : [item.current.proposer])],
    isAboutTheSame: item.current.seenDigest === toSeenDigest(item, digestKey),
  };

type NewStep = Exclude<DecisionStep, { kind: 'same_already' }>;

function toResult({ itemId, current }: DecidableItem, step: NewStep, { name }: Reviewer): DecisionResult {
  if (step.kind === 'approved') return { itemId, kind: step.kind };
  if (current === null || current.isFinal || current.reviewer === name) return { itemId, kind: step.kind };
  return { itemId, kind: step.kind, instead: { verdict: current.verdict, reviewer: current.reviewer } };
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
  // An inconclusive or proposed decision leaves the item open, so it has no expiry.
  const holds = isFinal && verdict !== 'inconclusive';
  await saveDisposition(
    transaction,
    {
      ...{ itemId: item.itemId, kind: step.kind, verdict, reason, comment, origin, sheetId },
      ...{ reviewer: reviewer.name, isAttested: reviewer.isAttested },
      seen: toSeenFacts(item.customer, item.listed),
      seenDigest: toSeenDigest(item, digestKey),
      expiresAt: holds && ends.length > 0 ? new Date(Math.min(...ends.map((end) => end.getTime()))) : null,
      refersTo: step.kind === 'approved' ? step.proposalId : null,
    },
    now,
    item,
  );
}

/** The result of an undo; with `keepsConfirmed` the customer stays a true match until the next decision. */
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
 * Undoes the current decision or proposal about the item that a code names, or ends the acceptance of a discrepancy. The code must name the
 * current version. The history gets an entry and the item waits again. An undo releases nobody: a true match stays one until the next
 * decision, so one person is always enough.
 */
export async function undoDecision(
  app: AppContext,
  { mark, reviewer, reason }: { mark: string; reviewer: Reviewer; reason: string },
): Promise<UndoResult> {
  const { database, settings, clock } = app;
  const { digestKey } = await readOrganisation(database, settings.organisation);
  const discrepancy = parseItemCode(mark, digestKey, 'D');
  if (discrepancy !== null) {
    const { itemId: discrepancyId, seenVersion } = discrepancy;
    const ended = await database.transaction((transaction) =>
      endAcceptance(transaction, { discrepancyId, seenVersion }, { digestKey, reviewer, reason, now: clock.now() }),
    );
    return ended === 'ended' ? { kind: 'acceptance_ended' } : { kind: 'refused', reason: ended };
  }
  const parsed = parseItemCode(mark, digestKey);
  if (parsed === null) return { kind: 'refused', reason: 'no_item' };
  const { itemId, seenVersion } = parsed;
  return database.transaction(async (transaction): Promise<UndoResult> => {
    const item = (await holdItems(transaction, [itemId])).get(itemId);
    if (item === undefined) return { kind: 'refused', reason: 'unknown_item' };
    const staleness = findStaleness(item, seenVersion, digestKey);
    if (staleness !== null) return { kind: 'refused', reason: staleness };
    const { current, absence, severity } = item;
    if (current === null) return { kind: 'refused', reason: 'nothing_to_undo' };
    const now = clock.now();
    await saveDisposition(
      transaction,
      {
        ...{ itemId, kind: 'undone', verdict: null, reason, origin: 'review' },
        ...{ reviewer: reviewer.name, isAttested: reviewer.isAttested },
        seen: toSeenFacts(item.customer, item.listed),
        seenDigest: toSeenDigest(item, digestKey),
        refersTo: current.dispositionId,
        dueAt: toDueTime(severity, now, settings.review),
      },
      now,
    );
    const { verdict, isFinal } = current;
    return {
      kind: 'undone',
      undone: { verdict, isFinal, reviewer: current.reviewer },
      isListed: absence === null,
      keepsConfirmed: verdict === 'true_match' && isFinal,
    };
  });
}

/** An item with its history and the code of its current version. */
export type ShownItem = Omit<Awaited<ReturnType<typeof readItemHistories>>[number], 'itemId'> & { mark: string };

/** Gives every item of the customers with this reference, each with its history; throws ConfigError for an unknown reference. */
export async function showItems(
  { database, settings, clock }: AppContext,
  reference: string,
): Promise<readonly ShownItem[]> {
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireKnown(database, organisationId, { customer: { reference, where: 'argument customer' } });
  return readAtOnce(database, async (snapshot) => {
    const histories = await readItemHistories(snapshot, name, reference, clock.now());
    const items = await readDecidableItems(
      snapshot,
      histories.map(({ itemId }) => itemId),
    );
    return histories.flatMap(({ itemId, ...history }) => {
      const item = items.get(itemId);
      if (item === undefined) return [];
      return { mark: toItemCode({ itemId, seenVersion: toItemSeenVersion(item, digestKey) }, digestKey), ...history };
    });
  });
}

/** Ends the acceptance or proposal of a discrepancy whose code names its current version; the discrepancy is open again. */
async function endAcceptance(
  transaction: Queryable,
  { discrepancyId, seenVersion }: { discrepancyId: number; seenVersion: string },
  { digestKey, reviewer, now, reason }: Omit<DecisionContext, 'review'> & { reason: string },
): Promise<'ended' | 'unknown_item' | 'changed_since' | 'nothing_to_undo'> {
  const found = (await readDecidable(transaction, [discrepancyId])).get(discrepancyId);
  if (found === undefined) return 'unknown_item';
  if (seenVersion !== toEventSeenVersion(found.last.eventId, digestKey)) return 'changed_since';
  if (found.last.kind !== 'accepted' && found.last.kind !== 'proposed') return 'nothing_to_undo';
  const said = {
    discrepancyId,
    seenEventId: found.last.eventId,
    kind: 'acceptance_ended',
    reason,
    until: null,
  } as const;
  await saveAcceptance(transaction, { ...said, reviewer: reviewer.name, isAttested: reviewer.isAttested }, now);
  return 'ended';
}
