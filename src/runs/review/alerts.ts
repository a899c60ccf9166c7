import { createHmac } from 'node:crypto';
import { toDueTime, toPriority, type WorkCalendar } from '../../changes/change-event.js';
import { corroborate } from '../../changes/corroboration.js';
import { type ChangeSettings, toSeverity, toWorstTopic } from '../../changes/severity.js';
import { type AlertStep, compareSeenFacts, projectAlerts, toSeenFacts, toSeenText } from '../../matches/alert.js';
import { toAlertCode, toEventSeenVersion, toSeenVersion } from '../../matches/alert-code.js';
import { type Match, pairMatches } from '../../matches/match.js';
import type { ListedDiscrepancy } from '../../reconciliation/discrepancy.js';
import type { DiscrepancyList, OpenAlertsFacts, WaitingAlert } from '../../reports/list-facts.js';
import { maxListRows } from '../../reports/review-list.js';
import type { Queryable } from '../../store/database/database.js';
import { readCurrentDiscrepancies } from '../../store/discrepancies.js';
import { readReviewOrganisation, readRunSettings } from '../../store/organisations.js';
import {
  type DecidableAlert,
  readDecidableAlerts,
  saveDisposition,
  saveReviewState,
} from '../../store/review/decisions.js';
import {
  type AlertChange,
  projectParties,
  type StoredAlert,
  type UnprojectedParty,
} from '../../store/review/projection.js';
import { findAutoClosable, type ProjectionScope, type StoredWaitingAlert } from '../../store/review/waiting.js';
import { type Severity, severities } from '../../vocabulary.js';
import type { RunSession } from '../session.js';
import { isAutoClosing } from '../settings-acceptance.js';

/**
 * Stage: makes review alerts from the findings of a roster's runs on an account, and keeps or re-opens their decisions. It runs inside the
 * transaction that closes a run, after control searches have confirmed the answers. A held run, whose answers are taken back, gives only new
 * and worse alerts. Returns what waits then.
 */
export async function makeAlerts(
  transaction: Queryable,
  { app, run }: RunSession,
  accountId: number,
  how: 'counts' | 'held' | 'accepted',
): Promise<OpenAlertsFacts | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { clock, settings } = app;
  const now = clock.now();
  const scope = { rosterId, accountId };
  const calendar = { ...settings.review, timezone: settings.timezone };
  const assessed = { calendar, rating: settings.changes, now };
  await projectParties(transaction, { ...scope, runId, now, isHeld: how === 'held' }, (party, alerts, isOfHeldRun) => {
    if (!isOfHeldRun) return toAlertChanges(addProvisional(party, alerts), alerts, assessed);
    // A held run opens what is new or worse. It closes nothing, and no decision moves to other facts.
    return toAlertChanges(party, alerts, assessed).filter(
      ({ event, state }) =>
        event !== null && worse.has(event.kind) && (state === 'open' || state === 'pending_approval'),
    );
  });
  // No policy applies to answers that were unreliable at first.
  if (how === 'counts') await closeByPolicy(transaction, { runId, organisationId: run.organisationId, ...scope }, now);
  return saveReviewState(transaction, runId, scope, { now, maxItems: maxListRows });
}

/**
 * Closes alerts that have been absent for long enough, if the accepted settings in force have the policy `review.autoClose`. The actor of
 * these dispositions is the policy. A match that returns re-opens its alert.
 */
async function closeByPolicy(
  transaction: Queryable,
  { runId, organisationId, ...scope }: ProjectionScope & { runId: number; organisationId: number },
  now: Date,
): Promise<void> {
  const accepted = await readRunSettings(transaction, runId);
  if (accepted === null || !isAutoClosing(accepted)) return;
  const closable = await findAutoClosable(transaction, runId, scope, now);
  const alerts = await readDecidableAlerts(
    transaction,
    organisationId,
    closable.map(({ alertId }) => alertId),
  );
  for (const { alertId, absentSince } of closable) {
    const alert = alerts.get(alertId);
    if (alert === undefined) continue;
    const decision = {
      alertId,
      kind: 'decided',
      verdict: 'no_longer_matched',
      origin: 'policy',
      reviewer: { name: 'review.autoClose', isAttested: false },
      reason: `absent since ${absentSince.toISOString()}; policy accepted by ${accepted.acceptedBy}`,
      seen: toSeenFacts(alert.customer, alert.listed),
    } as const;
    await saveDisposition(transaction, decision, now);
  }
}

const worse: ReadonlySet<string> = new Set(['opened', 'reopened', 'escalated', 'returned']);
const serious: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** Gives the changes of a party's alerts that follow from its current matches. Each hit and each critical or high change needs review. */
export function toAlertChanges(
  party: UnprojectedParty,
  alerts: readonly StoredAlert[],
  { calendar, rating, now }: Pick<Projection, 'calendar' | 'rating' | 'now'>,
): readonly AlertChange[] {
  const needsReview = ({ id, isHit }: Match): boolean => {
    const change = party.changes.get(id);
    return isHit || (change !== undefined && change.kind !== 'hit_lost' && serious.has(change.severity));
  };
  const byId = new Map(alerts.map((alert) => [alert.alertId, alert]));
  const causeOf = ({ alertId, listed }: Pick<StoredAlert, 'alertId' | 'listed'>) => {
    const cause = party.causes.get(listed.id) ?? 'service_data';
    const seenWith = byId.get(alertId)?.customer ?? null;
    // A change of other facts, such as of another party or of an end date, is no cause for a missing match.
    const isSameParty =
      seenWith !== null &&
      compareSeenFacts(toSeenFacts(seenWith, listed), toSeenFacts(party.customer, listed)).length === 0;
    return cause === 'customer_record' && isSameParty ? 'service_data' : cause;
  };
  const steps = projectAlerts({ ...party, alerts, needsReview, causeOf }, now);
  const projection = { party, byId, calendar, rating, now };
  const changes = steps.flatMap((step) => toChange(step, projection));
  const touched = new Set(changes.map(({ alertId }) => alertId));
  // These were seen with the newer record. They get no event, but the next comparison starts from this record.
  const dated = alerts
    .filter(({ alertId, state, absence }) => state !== 'no_longer_matched' && absence === null && !touched.has(alertId))
    .map((alert) => ({
      ...keep(alert, projection),
      customerVersion: party.customerVersion,
      ...escalate(alert, alert.listed, projection),
    }));
  return [...changes, ...dated];
}

/** Adds to a party the matches that held runs have found since its last valid answer. Until the next valid answer they count as present. */
function addProvisional(party: UnprojectedParty, alerts: readonly StoredAlert[]): UnprojectedParty {
  const provisional = alerts.filter(({ isProvisional }) => isProvisional).map(({ listed }) => listed);
  if (provisional.length === 0) return party;
  return { ...party, matches: [...pairMatches(party.matches, provisional).onlyBefore, ...provisional] };
}

interface Projection {
  party: UnprojectedParty;
  byId: ReadonlyMap<number, StoredAlert>;
  calendar: WorkCalendar;
  rating: ChangeSettings;
  now: Date;
}

function toChange(step: AlertStep, projection: Projection): readonly AlertChange[] {
  const { party, byId, calendar, rating, now } = projection;
  if (step.kind === 'opened') {
    const change = party.changes.get(step.match.id);
    const assessment = { severity: change?.severity ?? 'high', rule: change?.rule ?? 'hit_gained' } as const;
    return [
      {
        alertId: null,
        partyId: party.partyId,
        state: 'open',
        absence: step.absence,
        listed: step.match,
        topic: toWorstTopic(rating.topics, step.match.topics),
        ...assessment,
        priority: prioritise(assessment.severity, step.match, party),
        customerVersion: party.customerVersion,
        isBaseline: change?.isBaseline ?? false,
        openedAt: now,
        dueAt: toDueTime(assessment.severity, now, calendar),
        dropsDisposition: false,
        event: { kind: 'opened', reasons: [] },
      },
    ];
  }
  const alert = byId.get(step.alert.alertId);
  if (alert === undefined) return [];
  const kept = keep(alert, projection);
  const { absence } = step.kind === 'absent' || step.kind === 'auto_closed' ? step : { absence: null };
  if (step.kind === 'auto_closed') {
    return [{ ...kept, state: 'no_longer_matched', absence, event: { kind: 'auto_closed', reasons: [step.absence] } }];
  }
  if (step.kind === 'absent') {
    const event = step.absence === alert.absence ? 'rekeyed' : 'absent';
    const reasons = event === 'absent' ? [step.absence] : [];
    const waits = { ...kept, listed: step.listed, absence, event: { kind: event, reasons } } as const;
    if (step.hasRunOut) {
      const dueAt = toDueTime(alert.severity, now, calendar);
      const ended = { kind: 'absent', reasons: ['expired', step.absence] } as const;
      return [{ ...waits, state: 'open', openedAt: now, dueAt, dropsDisposition: true, event: ended }];
    }
    if (alert.state !== 'true_match') return [waits];
    // An absent true match waits from now on, with one business day until it is due.
    return [{ ...waits, state: 'open', openedAt: now, dueAt: toDueTime('high', now, calendar) }];
  }
  if (step.kind === 'reopened') {
    const change = findWorst(alert, step.match, projection);
    const severity = toReopenedSeverity(alert, change?.severity, step.reasons);
    const isReturn = step.reasons.length === 1 && step.reasons[0] === 'returned';
    const rule = change !== undefined && change.severity === severity ? change.rule : alert.rule;
    return [
      {
        ...kept,
        ...seen(step.match, projection),
        state: 'open',
        severity,
        rule,
        priority: prioritise(severity, step.match, party),
        isBaseline: false,
        // A match that returns, or that only has a proposal, continues its alert. A decision that ended begins a new wait.
        openedAt: isReturn || isWaiting(alert) ? alert.openedAt : now,
        dueAt: isReturn ? alert.dueAt : toEarlierDue(alert, severity, { calendar, now }),
        dropsDisposition: true,
        event: { kind: 'reopened', reasons: step.reasons },
      },
    ];
  }
  const { match, state } = step;
  const wasAbsent = alert.absence !== null || alert.state === 'no_longer_matched';
  const event = wasAbsent ? 'returned' : alert.listed.id === match.id ? null : 'rekeyed';
  return [
    {
      ...kept,
      ...seen(match, projection),
      state,
      priority: prioritise(alert.severity, match, party),
      event: event && { kind: event, reasons: [] },
      ...escalate({ ...alert, state }, match, projection),
    },
  ];
}

/** The stored facts of a match that is seen with the current record. */
const seen = (match: Match, { party, rating }: Projection) => ({
  listed: match,
  absence: null,
  topic: toWorstTopic(rating.topics, match.topics),
  customerVersion: party.customerVersion,
});

/** The alert unchanged, with the record that its match was last seen with. */
const keep = (
  { disposition: _, isTrueMatch: __, customer: ___, isProvisional: ____, ...alert }: StoredAlert,
  { rating }: Pick<Projection, 'rating'>,
): AlertChange => ({
  ...alert,
  customerVersion: null,
  topic: toWorstTopic(rating.topics, alert.listed.topics),
  isBaseline: false,
  dropsDisposition: false,
  event: null,
});

const isWaiting = ({ state }: Pick<StoredAlert, 'state'>): boolean => state === 'open' || state === 'pending_approval';

const isWorse = (left: Severity, right: Severity): boolean => severities.indexOf(left) < severities.indexOf(right);

/** A more severe change makes a waiting alert more urgent. It is never due later than before. */
function escalate(alert: StoredAlert, match: Match, projection: Projection): Partial<AlertChange> {
  const { party, calendar, now } = projection;
  const change = findWorst(alert, match, projection);
  if (change === undefined || !isWaiting(alert) || !isWorse(change.severity, alert.severity)) return {};
  return {
    severity: change.severity,
    rule: change.rule,
    priority: prioritise(change.severity, match, party),
    dueAt: toEarlierDue(alert, change.severity, { calendar, now }),
    event: { kind: 'escalated', reasons: change.reasons },
  };
}

interface Rating {
  severity: Severity;
  rule: string;
  reasons: readonly string[];
}

/**
 * The most severe rating of a match: that of its change, and that of a new match once the customer's birth date contradicts no longer. A date
 * that lowered an alert may have been a substitute for an unknown one.
 */
function findWorst(alert: StoredAlert, match: Match, { party, rating }: Projection): Rating | undefined {
  const change = party.changes.get(match.id);
  const changed = change && { severity: change.severity, rule: change.rule, reasons: [] };
  const corroboration = corroborate(party.customer, match);
  const contradicted = corroborate(alert.customer, match).birthDate === 'contradict';
  const isWithdrawn = contradicted && corroboration.birthDate !== 'contradict';
  if (!isWithdrawn) return changed;
  const difference = { kind: 'match_added', matchId: match.id, before: null, after: match, fields: [] } as const;
  const subject = { difference, corroboration, cause: 'customer_record', isTrueMatch: false } as const;
  const { severity, rule } = toSeverity({ ...subject, riskTier: party.riskTier }, rating);
  if (changed !== undefined && !isWorse(severity, changed.severity)) return changed;
  return { severity, rule, reasons: ['customer_birth_date'] };
}

/** The due time of an alert with this severity from now on. A waiting alert is never due later than before. */
function toEarlierDue(
  alert: StoredAlert,
  severity: Severity,
  { calendar, now }: Pick<Projection, 'calendar' | 'now'>,
): Date | null {
  const due = toDueTime(severity, now, calendar);
  const { dueAt } = alert;
  return isWaiting(alert) && due !== null && dueAt !== null && dueAt < due ? dueAt : due;
}

/**
 * The severity of a re-opened alert. It never falls: a small change does not weaken a hit, and an alert that needs two people must not become
 * one that needs one. If the record of a customer with a true match changes, the alert is at least high.
 */
function toReopenedSeverity(
  { severity, disposition }: StoredAlert,
  changed: Severity | undefined,
  reasons: readonly string[],
): Severity {
  const isTrueMatch = disposition?.verdict === 'true_match' && disposition.isFinal;
  const floor = isTrueMatch && reasons.some((reason) => reason.startsWith('customer_')) ? 'high' : severity;
  const worth = [severity, floor, ...(changed === undefined ? [] : [changed])];
  return worth.reduce((worst, each) => (isWorse(each, worst) ? each : worst));
}

const prioritise = (severity: Severity, match: Match, { customer }: UnprojectedParty): number =>
  toPriority({ severity, isHit: match.isHit, corroboration: corroborate(customer, match), score: match.score });

type SeenAlert = Pick<DecidableAlert, 'customer' | 'listed'>;

/**
 * The version of an alert that a reviewer saw: a keyed digest of its facts and of its last decision, in force or not. So a list from before a
 * decision stays invalid after the decision was undone or has expired.
 */
export const toAlertSeenVersion = (alert: SeenAlert & Pick<DecidableAlert, 'decisions'>, reviewKey: Buffer): string =>
  toSeenVersionAt(alert, alert.decisions.at(-1) ?? null, reviewKey);

/** The version of a bulk row: a keyed digest of its alerts as they are. */
export function toBulkSeenVersion(
  alerts: ReadonlyMap<number, DecidableAlert>,
  alertIds: readonly number[],
  reviewKey: Buffer,
): string {
  const seenVersions = alertIds.map((alertId) => {
    const alert = alerts.get(alertId);
    return alert === undefined ? 'unknown' : `${alertId} ${alert.absence} ${toAlertSeenVersion(alert, reviewKey)}`;
  });
  return toSeenVersion(digest(`bulk ${seenVersions.join(' ')}`, reviewKey));
}

/** Why an alert no longer has this seen version; null when it has. */
export function findStaleness(
  alert: DecidableAlert,
  seenVersion: string,
  reviewKey: Buffer,
): 'changed_since' | 'decided_since' | null {
  if (seenVersion === toAlertSeenVersion(alert, reviewKey)) return null;
  const isAsBefore = [null, ...alert.decisions].some(
    (before) => seenVersion === toSeenVersionAt(alert, before, reviewKey),
  );
  return isAsBefore ? 'decided_since' : 'changed_since';
}

const toSeenVersionAt = ({ customer, listed }: SeenAlert, dispositionId: number | null, reviewKey: Buffer): string =>
  toSeenVersion(digest(`${dispositionId ?? 'none'} ${toSeenText(toSeenFacts(customer, listed))}`, reviewKey));

const digest = (text: string, key: Buffer): string => createHmac('sha256', key).update(text).digest('hex');

/** A waiting alert as a list shows it, with the alert code by which its decision is read back. */
export function toWaitingAlert(
  { alertId, lastSaidId, ...alert }: StoredWaitingAlert,
  { sheetId, reviewKey }: { sheetId: number; reviewKey: Buffer },
): WaitingAlert {
  const decisions = lastSaidId === null ? [] : [lastSaidId];
  const seenVersion = toAlertSeenVersion({ customer: alert.party, listed: alert.listed, decisions }, reviewKey);
  const mark = toAlertCode({ alertId, seenVersion }, reviewKey);
  return { ...alert, mark, sheetId, corroboration: corroborate(alert.party, alert.listed) };
}

/** The open discrepancies, now or at the end of a run, each with its code; null for a run that compared nothing. */
export async function listDiscrepancies(
  database: Queryable,
  organisation: string,
  choice: { runId: number } | { roster: string | null },
  limit: number | null = maxListRows,
): Promise<DiscrepancyList | null> {
  const { organisationId, reviewKey } = await readReviewOrganisation(database, organisation);
  const { count, listed } = await readCurrentDiscrepancies(
    database,
    'runId' in choice ? choice : { organisationId, ...choice },
    limit,
  );
  if (count === 0 && 'runId' in choice) return null;
  const toListed = ({ discrepancyId, eventId, ...shown }: (typeof listed)[number]): ListedDiscrepancy => ({
    ...shown,
    mark: toAlertCode({ alertId: discrepancyId, seenVersion: toEventSeenVersion(eventId, reviewKey) }, reviewKey, 'D'),
  });
  return { count, listed: listed.map(toListed) };
}
