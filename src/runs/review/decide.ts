import { toDueTime } from '../../changes/change-event.js';
import { parseItemCode, toItemCode } from '../../matches/item-code.js';
import { classifyDecision, type DecisionStep, toSeenFacts } from '../../matches/review-item.js';
import { type Queryable, readAtOnce, tryOut } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import {
  type DecidableItem,
  holdItems,
  readDecidableItems,
  readFourEyes,
  saveDisposition,
} from '../../store/review/decisions.js';
import { type ItemHistory, readItemHistories } from '../../store/review/waiting.js';
import type { DispositionVerdict, Severity } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import {
  type AcceptanceList,
  type AcceptanceResult,
  type AcceptedRow,
  acceptDiscrepancies,
  endAcceptance,
} from './accept-discrepancies.js';
import { findStaleness, toItemSeenVersion, toSeenDigest } from './items.js';
import { type FaultyRow, type FilledRow, openBulkRows, readReviewList } from './lists.js';
import type { DecisionContext, Reviewer } from './people.js';
import { requireCustomer } from './people.js';

/** What a reviewer has decided about an item. */
export interface ItemDecision {
  itemId: number;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
  /** The stamp that the item had before the reviewer's eyes. */
  seenVersion: string;
  origin: 'review' | 'legacy';
  /** The working list that it came by. */
  sheetId: number | null;
  /** When it runs out at the latest; the settings may say sooner. */
  expiresAt: Date | null;
}

/** Why a decision is not taken. */
type DecisionRefusal = 'unknown_item' | 'no_longer_listed' | 'still_listed' | 'changed_since' | 'decided_since';

/** What became of a decision; `proposed` is still to be confirmed by another person. */
type DecisionResult =
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

/** Two people release alerts of the chosen severities, and where any was chosen, every sanctions alert and every true match. */
const takesTwoToRelease = ({ severity, topic, isConfirmed }: DecidableItem, fourEyes: ReadonlySet<Severity>): boolean =>
  fourEyes.has(severity) || (fourEyes.size > 0 && (topic === 'sanction' || isConfirmed));

function findRefusal(
  item: DecidableItem,
  { verdict, seenVersion }: ItemDecision,
  digestKey: Buffer,
): DecisionRefusal | null {
  if (item.state === 'gone') return 'no_longer_listed';
  const staleness = findStaleness(item, seenVersion, digestKey);
  // Only of an absent match can be said that it is no longer one.
  return staleness ?? (verdict === 'no_longer_matched' && item.absence === null ? 'still_listed' : null);
}

const toCurrent = (item: DecidableItem, digestKey: Buffer): Parameters<typeof classifyDecision>[0] =>
  item.current && {
    ...item.current,
    reviewers: [item.current.reviewer, ...(item.current.proposer === null ? [] : [item.current.proposer])],
    isAboutTheSame: item.current.seenDigest === toSeenDigest(item, digestKey),
  };

/** A step that stores something. */
type NewStep = Exclude<DecisionStep, { kind: 'same_already' }>;

function toResult({ itemId, current }: DecidableItem, step: NewStep, { name }: Reviewer): DecisionResult {
  if (step.kind === 'confirmed') return { itemId, kind: step.kind };
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
    item,
  );
}

/** How a list is taken: without \`apply\` everything is tried and nothing stored; \`partial\` takes what can be taken although some rows cannot. */
export interface DecisionImport {
  path: string;
  reviewer: Reviewer;
  apply: boolean;
  partial: boolean;
}

/** What became of a working list. */
export interface ImportedDecisions {
  /** Whether anything was stored. */
  isApplied: boolean;
  decided: readonly FilledRow[];
  /** Decided by one person where it takes two. */
  proposed: readonly FilledRow[];
  /** Proposed by somebody else, and decided by that. */
  confirmed: readonly FilledRow[];
  /** Of what is decided or proposed: what takes the place of somebody else's proposal. */
  instead: readonly { row: FilledRow; verdict: DispositionVerdict; reviewer: string }[];
  /** Decided the same way by the same person before: a list that is imported twice decides nothing twice. */
  sameAlready: readonly FilledRow[];
  /** Proposed the same way by the same person before, and still to be confirmed by another. */
  proposedAlready: readonly FilledRow[];
  refused: readonly { row: FilledRow; reason: DecisionRefusal }[];
  faulty: readonly FaultyRow[];
  undecided: number;
  /** Of these: rows with a reason all the same. */
  onlyReasons: number;
  /** What became of the discrepancies that it accepts; null where it is no list of any. */
  discrepancies:
    | (Pick<AcceptanceList, 'faulty' | 'untouched'> & {
        rows: readonly { row: AcceptedRow; result: AcceptanceResult }[];
      })
    | null;
}

/**
 * Takes the decisions of a working list: all of them or none, unless `partial`. Without `apply` they are tried in the same way and rolled back,
 * so that the preview says what would become of each. Throws RosterError when the file is no working list.
 */
export async function importDecisions(app: AppContext, request: DecisionImport): Promise<ImportedDecisions> {
  const { database, settings, clock } = app;
  const now = clock.now();
  const { digestKey } = await readOrganisation(database, settings.organisation);
  const expandBulk = openBulkRows(database, digestKey, request.reviewer);
  const { decisions: list, acceptances } = await readReviewList(request.path, digestKey, expandBulk);
  const { undecided, onlyReasons } = list;
  // Spreadsheets mangle references, so the list's own is taken only where the item is not known.
  const itemIds = [...list.filled, ...list.faulty].flatMap(({ itemId }) => itemId ?? []);
  const items = await readDecidableItems(database, itemIds);
  const toCustomer = ({ itemId, customer }: FilledRow | FaultyRow): string | null =>
    (itemId === null ? undefined : items.get(itemId)?.reference) ?? customer;
  const filled = list.filled.map((row) => ({ ...row, customer: toCustomer(row) }));
  const faulty = list.faulty.map((row) => ({ ...row, customer: toCustomer(row) }));
  const decisions = filled.map((row) => ({ ...row, origin: 'review', expiresAt: null }) as const);
  const context = { digestKey, reviewer: request.reviewer, now, review: settings.review };
  const { isApplied, result: tried } = await tryOut(
    database,
    async (transaction) => ({
      results: await decideItems(transaction, context, decisions),
      acceptances: await acceptDiscrepancies(transaction, context, acceptances?.filled ?? []),
    }),
    (both) => {
      const isWhole =
        faulty.length + (acceptances?.faulty.length ?? 0) === 0 &&
        [...both.results, ...both.acceptances].every(({ kind }) => kind !== 'refused');
      return request.apply && (isWhole || request.partial);
    },
  );
  const { results } = tried;
  const byItem = new Map(results.map((result) => [result.itemId, result]));
  const ofKind = (kind: DecisionResult['kind']) => filled.filter(({ itemId }) => byItem.get(itemId)?.kind === kind);
  const isPending = (itemId: number): boolean => {
    const result = byItem.get(itemId);
    return result?.kind === 'same_already' && result.isPending;
  };
  return {
    isApplied,
    decided: ofKind('decided'),
    proposed: ofKind('proposed'),
    confirmed: ofKind('confirmed'),
    instead: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result !== undefined && 'instead' in result ? [{ row, ...result.instead }] : [];
    }),
    sameAlready: ofKind('same_already').filter(({ itemId }) => !isPending(itemId)),
    proposedAlready: ofKind('same_already').filter(({ itemId }) => isPending(itemId)),
    refused: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result?.kind === 'refused' ? [{ row, reason: result.reason }] : [];
    }),
    faulty,
    undecided,
    onlyReasons,
    discrepancies: acceptances && {
      ...{ faulty: acceptances.faulty, untouched: acceptances.untouched },
      rows: acceptances.filled.flatMap((row, index) => {
        const result = tried.acceptances[index];
        return result === undefined ? [] : [{ row, result }];
      }),
    },
  };
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
 * Undoes the decision, or the proposal, that stands about an item that is as its mark says, or ends the acceptance of a discrepancy: a new entry of its history, and the item waits again. It settles nobody,
 * and who was confirmed stays so until it is decided anew, so one person is enough also where a decision takes two.
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
        refersTo: current.dispositionId,
        sheetId: null,
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

/** An item with its history, and the mark by which it is named as it is now. */
export type ShownItem = Omit<ItemHistory, 'itemId'> & { mark: string };

/** Every item of the customers of this reference, each with all that has become of it; throws ConfigError for an unknown one. */
export async function showItems(
  { database, settings, clock }: AppContext,
  reference: string,
): Promise<readonly ShownItem[]> {
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireCustomer(database, organisationId, { reference, where: 'argument customer' });
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
