import { createHmac } from 'node:crypto';
import { toDueTime, toPriority, type WorkCalendar } from '../../changes/change-event.js';
import { corroborate } from '../../changes/corroboration.js';
import { type ChangeSettings, toSeverity, toWorstTopic } from '../../changes/severity.js';
import { type AlertStep, compareSeenFacts, projectAlerts, toSeenFacts, toSeenText } from '../../matches/alert.js';
import { toAlertCode, toEventSeenVersion, toSeenVersion } from '../../matches/alert-code.js';
import { type Match, pairMatches } from '../../matches/match.js';
import type { ListedDiscrepancy } from '../../reconciliation/discrepancy.js';
import { maxListRows } from '../../reports/review-list.js';
import type { DiscrepancyList, OpenAlertsFacts, WaitingAlert } from '../../reports/run-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { readCurrentDiscrepancies } from '../../store/dossiers/discrepancies.js';
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
import type { RunContext } from '../app-context.js';
import { isAutoClosing } from './settings.js';

/**
 * Makes review alerts from the answers that a run has just applied (those after `afterWave`), and keeps or re-opens their decisions. Answers that
 * are `held` are not applied, and give only new and more urgent alerts, until a person accepts them (`accepted_later`). Returns what waits then.
 */
export async function makeAlerts(
  transaction: Queryable,
  { app, run }: RunContext,
  accountId: number,
  { afterWave, answers }: { afterWave: number; answers: 'whole' | 'part' | 'held' | 'accepted_later' },
): Promise<OpenAlertsFacts | null> {
  const { runId, organisationId, rosterId } = run;
  if (rosterId === null) return null;
  const { clock, settings } = app;
  const now = clock.now();
  const scope = { rosterId, accountId };
  const calendar = { ...settings.review, timezone: settings.timezone };
  const assessed = { calendar, changeSettings: settings.changes, now };
  const projected = { ...scope, runId, afterWave, now, isHeld: answers === 'held' };
  await projectParties(transaction, projected, (party, alerts, hasHeldAnswers) =>
    hasHeldAnswers
      ? toAlertChanges(party, alerts, assessed).filter(mayComeFromHeldRun)
      : toAlertChanges(addProvisional(party, alerts), alerts, assessed),
  );
  // No policy applies to a part of a run, nor to answers that were unreliable at first.
  if (answers === 'whole') await closeByPolicy(transaction, { runId, organisationId, ...scope }, now);
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

const eventsOfHeldRuns: ReadonlySet<string> = new Set(['opened', 'reopened', 'escalated', 'returned']);

/** A held run opens alerts and makes them more urgent. It closes nothing, and no decision moves to other facts. */
const mayComeFromHeldRun = (change: AlertChange): boolean =>
  change.event !== null && eventsOfHeldRuns.has(change.event.kind) && isWaiting(change);

const serious: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** Gives the changes of a party's alerts that follow from its current matches. Each hit and each critical or high change needs review. */
export function toAlertChanges(
  party: UnprojectedParty,
  alerts: readonly StoredAlert[],
  assessed: Pick<Projection, 'calendar' | 'changeSettings' | 'now'>,
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
  const steps = projectAlerts({ ...party, alerts, needsReview, causeOf }, assessed.now);
  const projection = { ...assessed, party, byId };
  const changes = steps.flatMap((step) => toChange(step, projection) ?? []);
  const changedIds = new Set(changes.map(({ alertId }) => alertId));
  // These matches were seen with the current record too: the next comparison starts from it. They have no event unless escalated.
  const unchanged = alerts
    .filter(
      ({ alertId, state, absence }) => state !== 'no_longer_matched' && absence === null && !changedIds.has(alertId),
    )
    .map((alert) => ({
      ...keep(alert, projection),
      customerVersion: party.customerVersion,
      ...escalate(alert, alert.listed, projection),
    }));
  return [...changes, ...unchanged];
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
  changeSettings: ChangeSettings;
  now: Date;
}

type StepOf<Kind extends AlertStep['kind']> = Extract<AlertStep, { kind: Kind }>;

function toChange(step: AlertStep, projection: Projection): AlertChange | null {
  if (step.kind === 'opened') return openAlert(step, projection);
  const alert = projection.byId.get(step.alert.alertId);
  if (alert === undefined) return null;
  switch (step.kind) {
    case 'reopened':
      return reopenAlert(alert, step, projection);
    case 'carried':
      return carryAlert(alert, step, projection);
    case 'absent':
      return makeAbsent(alert, step, projection);
    case 'auto_closed':
      return {
        ...keep(alert, projection),
        state: 'no_longer_matched',
        absence: step.absence,
        event: { kind: 'auto_closed', reasons: [step.absence] },
      };
  }
}

function openAlert({ match, absence }: StepOf<'opened'>, projection: Projection): AlertChange {
  const { party, calendar, now } = projection;
  const change = party.changes.get(match.id);
  const severity = change?.severity ?? 'high';
  return {
    ...showMatch(match, projection),
    alertId: null,
    partyId: party.partyId,
    state: 'open',
    absence,
    severity,
    rule: change?.rule ?? 'hit_gained',
    priority: prioritise(severity, match, party),
    isBaseline: change?.isBaseline ?? false,
    openedAt: now,
    dueAt: toDueTime(severity, now, calendar),
    dropsDisposition: false,
    event: { kind: 'opened', reasons: [] },
  };
}

function reopenAlert(alert: StoredAlert, { match, reasons }: StepOf<'reopened'>, projection: Projection): AlertChange {
  const { party, calendar, now } = projection;
  const rating = rateMatch(alert, match, projection);
  const severity = toReopenedSeverity(alert, rating?.severity, reasons);
  const isReturn = reasons.length === 1 && reasons[0] === 'returned';
  return {
    ...keep(alert, projection),
    ...showMatch(match, projection),
    state: 'open',
    severity,
    rule: rating?.severity === severity ? rating.rule : alert.rule,
    priority: prioritise(severity, match, party),
    // A match that returns, or that only has a proposal, continues its alert. A decision that ended begins a new wait.
    openedAt: isReturn || isWaiting(alert) ? alert.openedAt : now,
    dueAt: isReturn ? alert.dueAt : toEarlierDue(alert, severity, { calendar, now }),
    dropsDisposition: true,
    event: { kind: 'reopened', reasons },
  };
}

/** The decision holds for the present match. `state` is another one only if the match was absent. */
function carryAlert(alert: StoredAlert, { match, state }: StepOf<'carried'>, projection: Projection): AlertChange {
  const wasAbsent = alert.absence !== null || alert.state === 'no_longer_matched';
  const moved = alert.listed.id === match.id ? null : 'rekeyed';
  const kind = wasAbsent ? 'returned' : moved;
  return {
    ...keep(alert, projection),
    ...showMatch(match, projection),
    state,
    priority: prioritise(alert.severity, match, projection.party),
    event: kind && { kind, reasons: [] },
    ...escalate({ ...alert, state }, match, projection),
  };
}

function makeAbsent(
  alert: StoredAlert,
  { listed, absence, hasRunOut }: StepOf<'absent'>,
  projection: Projection,
): AlertChange {
  const { calendar, now } = projection;
  const absent = { ...keep(alert, projection), listed, absence };
  if (hasRunOut) {
    return {
      ...absent,
      state: 'open',
      openedAt: now,
      dueAt: toDueTime(alert.severity, now, calendar),
      dropsDisposition: true,
      event: { kind: 'absent', reasons: ['expired', absence] },
    };
  }
  // When the absence is known, only the id of the match is new.
  const event: AlertChange['event'] =
    absence === alert.absence ? { kind: 'rekeyed', reasons: [] } : { kind: 'absent', reasons: [absence] };
  if (alert.state !== 'true_match') return { ...absent, event };
  // An absent true match waits from now on, with one business day until it is due.
  const opening = { kind: 'absent', reasons: ['true_match', absence] } as const;
  return { ...absent, state: 'open', openedAt: now, dueAt: toDueTime('high', now, calendar), event: opening };
}

/** The facts of an alert whose match is seen with the current record. */
const showMatch = (match: Match, { party, changeSettings }: Projection) => ({
  listed: match,
  absence: null,
  topic: toWorstTopic(changeSettings.topics, match.topics),
  customerVersion: party.customerVersion,
});

/** The alert unchanged. Null as version keeps the record with which its match was last seen. */
const keep = (alert: StoredAlert, { changeSettings }: Projection): AlertChange => ({
  alertId: alert.alertId,
  partyId: alert.partyId,
  state: alert.state,
  absence: alert.absence,
  listed: alert.listed,
  severity: alert.severity,
  rule: alert.rule,
  priority: alert.priority,
  openedAt: alert.openedAt,
  dueAt: alert.dueAt,
  customerVersion: null,
  topic: toWorstTopic(changeSettings.topics, alert.listed.topics),
  isBaseline: false,
  dropsDisposition: false,
  event: null,
});

const isWaiting = ({ state }: Pick<StoredAlert, 'state'>): boolean => state === 'open' || state === 'pending_approval';

const isMoreSevere = (left: Severity, right: Severity): boolean => severities.indexOf(left) < severities.indexOf(right);

/** A more severe change makes a waiting alert more urgent. It is never due later than before. */
function escalate(alert: StoredAlert, match: Match, projection: Projection): Partial<AlertChange> {
  const { party, calendar, now } = projection;
  const rating = rateMatch(alert, match, projection);
  if (rating === undefined || !isWaiting(alert) || !isMoreSevere(rating.severity, alert.severity)) return {};
  return {
    severity: rating.severity,
    rule: rating.rule,
    priority: prioritise(rating.severity, match, party),
    dueAt: toEarlierDue(alert, rating.severity, { calendar, now }),
    event: { kind: 'escalated', reasons: rating.reasons },
  };
}

interface Rating {
  severity: Severity;
  rule: string;
  reasons: readonly string[];
}

/**
 * The most severe rating of a match: that of its change, or that of a new match if the customer's birth date contradicted it when it was last
 * seen and no longer does. The former date, which lowered the alert, may have been a substitute for an unknown one.
 */
function rateMatch(alert: StoredAlert, match: Match, { party, changeSettings }: Projection): Rating | undefined {
  const change = party.changes.get(match.id);
  const ofChange = change && { severity: change.severity, rule: change.rule, reasons: [] };
  const corroboration = corroborate(party.customer, match);
  const didContradict = corroborate(alert.customer, match).birthDate === 'contradict';
  if (!didContradict || corroboration.birthDate === 'contradict') return ofChange;
  const difference = { kind: 'match_added', matchId: match.id, before: null, after: match, fields: [] } as const;
  const subject = { difference, corroboration, cause: 'customer_record', isTrueMatch: false } as const;
  const { severity, rule } = toSeverity({ ...subject, riskTier: party.riskTier }, changeSettings);
  if (ofChange !== undefined && !isMoreSevere(severity, ofChange.severity)) return ofChange;
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
  const isOfCustomer = reasons.some((reason) => reason.startsWith('customer_'));
  const candidates = [severity];
  if (isTrueMatch && isOfCustomer) candidates.push('high');
  if (changed !== undefined) candidates.push(changed);
  return candidates.reduce((worst, each) => (isMoreSevere(each, worst) ? each : worst));
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
  // The code of a discrepancy is made like that of an alert, from its own number, and begins with D.
  const toListed = ({ discrepancyId, eventId, ...shown }: (typeof listed)[number]): ListedDiscrepancy => ({
    ...shown,
    mark: toAlertCode({ alertId: discrepancyId, seenVersion: toEventSeenVersion(eventId, reviewKey) }, reviewKey, 'D'),
  });
  return { count, listed: listed.map(toListed) };
}
