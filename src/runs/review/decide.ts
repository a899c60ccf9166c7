import { toDueTime } from '../../changes/change-event.js';
import { classifyDecision, compareSeenFacts, type DecisionStep, toSeenFacts } from '../../matches/alert.js';
import { parseAlertCode, toAlertCode, toEventSeenVersion } from '../../matches/alert-code.js';
import { type Queryable, readAtOnce } from '../../store/database/database.js';
import { readDecidable, saveAcceptance } from '../../store/dossiers/discrepancies.js';
import { readReviewOrganisation } from '../../store/organisations.js';
import {
  type DecidableAlert,
  holdAlerts,
  readAlertHistories,
  readDecidableAlerts,
  readFourEyes,
  saveDisposition,
} from '../../store/review/decisions.js';
import type { DispositionVerdict, Severity } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { findStaleness, toAlertSeenVersion } from './alerts.js';
import type { DecisionContext, Reviewer } from './people.js';
import { requireKnown } from './people.js';

/** A reviewer's decision about an alert. */
export interface AlertDecision {
  alertId: number;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
  /** The version of the alert that the reviewer saw. */
  seenVersion: string;
  origin: 'review' | 'legacy';
  /** The working list that the decision came from. */
  sheetId: number | null;
  /** The latest expiry; the settings may set an earlier one. */
  expiresAt: Date | null;
}

/** Why a decision is refused. */
type DecisionRefusal = 'unknown_alert' | 'no_longer_listed' | 'still_listed' | 'changed_since' | 'decided_since';

/** The result of a decision; another person must confirm a `proposed` one. */
type DecisionResult =
  | { alertId: number; kind: 'approved' }
  /** `isPending`: the earlier decision is a proposal that another person must confirm. */
  | { alertId: number; kind: 'same_already'; isPending: boolean }
  | {
      alertId: number;
      kind: 'decided' | 'proposed';
      /** The proposal of another person that this decision replaces. */
      instead?: { verdict: DispositionVerdict; reviewer: string };
    }
  | { alertId: number; kind: 'refused'; reason: DecisionRefusal };

/**
 * Decides alerts inside a transaction. Each decision is bound to exactly what the reviewer saw. Where a release takes two people, the first
 * decision is a proposal and a second person confirms it. A decision is refused when the alert has changed since, or when another person has
 * decided differently since. The same decision again changes nothing.
 */
export async function decideAlerts(
  transaction: Queryable,
  context: DecisionContext,
  decisions: readonly AlertDecision[],
): Promise<readonly DecisionResult[]> {
  const { organisationId, reviewKey, reviewer, review } = context;
  const alerts = await holdAlerts(
    transaction,
    organisationId,
    decisions.map(({ alertId }) => alertId),
  );
  const accountIds = [...alerts.values()].map(({ accountId }) => accountId);
  const findFourEyes = await readFourEyes(transaction, accountIds, review.fourEyes);
  const results: DecisionResult[] = [];
  for (const decision of decisions) {
    const { alertId, verdict } = decision;
    const alert = alerts.get(alertId);
    if (alert === undefined) {
      results.push({ alertId, kind: 'refused', reason: 'unknown_alert' });
      continue;
    }
    const needsSecondPerson = takesTwoToRelease(alert, findFourEyes(alert.accountId));
    const current = toCurrent(alert);
    const step = classifyDecision(current, { verdict, reviewer: reviewer.name, needsSecondPerson });
    const refusal = findRefusal(alert, decision, reviewKey);
    const isOwn = current?.reviewers.includes(reviewer.name) === true;
    if (step.kind === 'same_already' && (isOwn || refusal === null)) {
      results.push({ alertId, kind: 'same_already', isPending: current?.isFinal === false });
    } else if (refusal !== null) results.push({ alertId, kind: 'refused', reason: refusal });
    else if (step.kind !== 'same_already') {
      await saveDecision(transaction, alert, decision, step, context);
      results.push(toResult(alert, step, reviewer));
    }
  }
  return results;
}

/** Two people release alerts of the chosen severities. If any severity is chosen, also every sanctions alert and every true match. */
const takesTwoToRelease = (
  { severity, topic, isTrueMatch }: DecidableAlert,
  fourEyes: ReadonlySet<Severity>,
): boolean => fourEyes.has(severity) || (fourEyes.size > 0 && (topic === 'sanction' || isTrueMatch));

function findRefusal(
  alert: DecidableAlert,
  { verdict, seenVersion }: AlertDecision,
  reviewKey: Buffer,
): DecisionRefusal | null {
  if (alert.state === 'no_longer_matched') return 'no_longer_listed';
  const staleness = findStaleness(alert, seenVersion, reviewKey);
  // `no_longer_matched` is a valid verdict only for an absent match.
  return staleness ?? (verdict === 'no_longer_matched' && alert.absence === null ? 'still_listed' : null);
}

const toCurrent = (alert: DecidableAlert): Parameters<typeof classifyDecision>[0] =>
  alert.current && {
    ...alert.current,
    reviewers: [alert.current.reviewer, ...(alert.current.proposer === null ? [] : [alert.current.proposer])],
    isAboutTheSame:
      alert.current.seen !== null &&
      compareSeenFacts(alert.current.seen, toSeenFacts(alert.customer, alert.listed)).length === 0,
  };

type NewStep = Exclude<DecisionStep, { kind: 'same_already' }>;

function toResult({ alertId, current }: DecidableAlert, step: NewStep, { name }: Reviewer): DecisionResult {
  if (step.kind === 'approved') return { alertId, kind: step.kind };
  if (current === null || current.isFinal || current.reviewer === name) return { alertId, kind: step.kind };
  return { alertId, kind: step.kind, instead: { verdict: current.verdict, reviewer: current.reviewer } };
}

const dayMs = 86_400_000;

async function saveDecision(
  transaction: Queryable,
  alert: DecidableAlert,
  { verdict, reason, comment, origin, sheetId, expiresAt }: AlertDecision,
  step: NewStep,
  { reviewer, now, review }: DecisionContext,
): Promise<void> {
  const isFinal = step.kind !== 'proposed';
  const days = review.expiresAfterDays[alert.severity];
  const ends = [expiresAt, days === undefined ? null : new Date(now.getTime() + days * dayMs)].flatMap(
    (end) => end ?? [],
  );
  // An inconclusive or proposed decision leaves the alert open, so it has no expiry.
  const holds = isFinal && verdict !== 'inconclusive';
  const made = {
    alertId: alert.alertId,
    kind: step.kind,
    verdict,
    reason,
    comment,
    origin,
    sheetId,
    reviewer,
    seen: toSeenFacts(alert.customer, alert.listed),
    expiresAt: holds && ends.length > 0 ? new Date(Math.min(...ends.map((end) => end.getTime()))) : null,
    refersTo: step.kind === 'approved' ? step.proposalId : null,
  };
  await saveDisposition(transaction, made, now);
}

/** The result of an undo; with `keepsTrueMatch` the customer stays a true match until the next decision. */
export type UndoResult =
  | {
      kind: 'undone';
      undone: { verdict: DispositionVerdict; reviewer: string; isFinal: boolean };
      isListed: boolean;
      keepsTrueMatch: boolean;
    }
  | { kind: 'acceptance_ended' }
  | { kind: 'refused'; reason: 'no_alert' | 'unknown_alert' | 'changed_since' | 'decided_since' | 'nothing_to_undo' };

/**
 * Undoes the current decision or proposal about the alert that a code names, or ends the acceptance of a discrepancy. The code must name the
 * current version. The history gets an entry and the alert waits again. An undo releases nobody: a true match stays one until the next
 * decision, so one person is always enough.
 */
export async function undoDecision(
  app: AppContext,
  { mark, reviewer, reason }: { mark: string; reviewer: Reviewer; reason: string },
): Promise<UndoResult> {
  const { database, settings, clock } = app;
  const { organisationId, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  const discrepancy = parseAlertCode(mark, reviewKey, 'D');
  if (discrepancy !== null) {
    const { alertId: discrepancyId, seenVersion } = discrepancy;
    const context = { organisationId, reviewKey, reviewer, reason, now: clock.now() };
    const ended = await database.transaction((transaction) =>
      endAcceptance(transaction, { discrepancyId, seenVersion }, context),
    );
    return ended === 'ended' ? { kind: 'acceptance_ended' } : { kind: 'refused', reason: ended };
  }
  const parsed = parseAlertCode(mark, reviewKey);
  if (parsed === null) return { kind: 'refused', reason: 'no_alert' };
  const { alertId, seenVersion } = parsed;
  return database.transaction(async (transaction): Promise<UndoResult> => {
    const alert = (await holdAlerts(transaction, organisationId, [alertId])).get(alertId);
    if (alert === undefined) return { kind: 'refused', reason: 'unknown_alert' };
    const staleness = findStaleness(alert, seenVersion, reviewKey);
    if (staleness !== null) return { kind: 'refused', reason: staleness };
    const { current, absence, severity } = alert;
    if (current === null) return { kind: 'refused', reason: 'nothing_to_undo' };
    const now = clock.now();
    const undo = {
      alertId,
      kind: 'undone',
      verdict: null,
      reason,
      origin: 'review',
      reviewer,
      seen: toSeenFacts(alert.customer, alert.listed),
      refersTo: current.dispositionId,
      dueAt: toDueTime(severity, now, { ...settings.review, timezone: settings.timezone }),
    } as const;
    await saveDisposition(transaction, undo, now);
    const { verdict, isFinal } = current;
    return {
      kind: 'undone',
      undone: { verdict, isFinal, reviewer: current.reviewer },
      isListed: absence === null,
      keepsTrueMatch: verdict === 'true_match' && isFinal,
    };
  });
}

/** An alert with its history and the code of its current version. */
export type ShownAlert = Omit<Awaited<ReturnType<typeof readAlertHistories>>[number], 'alertId'> & { mark: string };

/** Gives every alert of the customers with this reference, each with its history; throws ConfigError for an unknown reference. */
export async function showAlerts(
  { database, settings }: AppContext,
  reference: string,
): Promise<readonly ShownAlert[]> {
  const { organisationId, name, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  await requireKnown(database, organisationId, { customer: { reference, where: 'argument customer' } });
  return readAtOnce(database, async (snapshot) => {
    const histories = await readAlertHistories(snapshot, name, reference);
    const alerts = await readDecidableAlerts(
      snapshot,
      organisationId,
      histories.map(({ alertId }) => alertId),
    );
    return histories.flatMap(({ alertId, ...history }) => {
      const alert = alerts.get(alertId);
      if (alert === undefined) return [];
      return {
        mark: toAlertCode({ alertId, seenVersion: toAlertSeenVersion(alert, reviewKey) }, reviewKey),
        ...history,
      };
    });
  });
}

/** Ends the acceptance or proposal of a discrepancy whose code names its current version; the discrepancy is open again. */
async function endAcceptance(
  transaction: Queryable,
  { discrepancyId, seenVersion }: { discrepancyId: number; seenVersion: string },
  { organisationId, reviewKey, reviewer, now, reason }: Omit<DecisionContext, 'review'> & { reason: string },
): Promise<'ended' | 'unknown_alert' | 'changed_since' | 'nothing_to_undo'> {
  const found = (await readDecidable(transaction, organisationId, [discrepancyId])).get(discrepancyId);
  if (found === undefined) return 'unknown_alert';
  if (seenVersion !== toEventSeenVersion(found.last.eventId, reviewKey)) return 'changed_since';
  if (found.last.kind !== 'accepted' && found.last.kind !== 'proposed') return 'nothing_to_undo';
  const said = {
    discrepancyId,
    seenEventId: found.last.eventId,
    kind: 'acceptance_ended',
    reviewer,
    reason,
    until: null,
  } as const;
  await saveAcceptance(transaction, said, now);
  return 'ended';
}
