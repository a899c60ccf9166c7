import { createHmac } from 'node:crypto';
import { toDueTime, toPriority } from '../../changes/change-event.js';
import { corroborate } from '../../changes/corroboration.js';
import { type TopicFamilies, toWorstTopic } from '../../changes/severity.js';
import { toItemCode, toSeenVersion } from '../../matches/item-code.js';
import { type Match, pairMatches } from '../../matches/match.js';
import { compareSeenFacts, type ItemStep, projectItems, toSeenFacts, toSeenText } from '../../matches/review-item.js';
import type { OpenItemsFacts, ToReviewFacts, WaitingItem } from '../../reports/list-facts.js';
import { maxListRows } from '../../reports/review-list.js';
import type { Queryable } from '../../store/database/database.js';
import { readOrganisation, readRunSettings } from '../../store/organisations.js';
import { readReportSheet, saveReportSheet } from '../../store/report-revisions.js';
import {
  type DecidableItem,
  readDecidableItems,
  saveDisposition,
  saveFourEyes,
  saveOpenItems,
  saveSettledItems,
} from '../../store/review/decisions.js';
import {
  type ItemChange,
  projectHeldParties,
  projectParties,
  type StoredItem,
  type UnprojectedParty,
} from '../../store/review/projection.js';
import { findAutoClosable, type ProjectionScope, type StoredWaitingItem } from '../../store/review/waiting.js';
import { type Severity, severities } from '../../vocabulary.js';
import type { RunSession } from '../session.js';
import { isAutoClosing } from '../settings-acceptance.js';
import type { ReviewSettings } from './settings.js';

/**
 * Stage: makes of all that a roster's runs have found on an account what reviewers have to decide about, and lets decisions hold or fall; inside
 * the transaction that closes a run, when control searches have confirmed its answers. Of a held run, whose answers are taken back by then,
 * only what is new or worse. Gives what waits then.
 */
export async function makeItems(
  transaction: Queryable,
  { app, run, organisation }: RunSession,
  accountId: number,
  how: 'counts' | 'held' | 'accepted',
): Promise<OpenItemsFacts | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { clock, settings } = app;
  const now = clock.now();
  const scope = { rosterId, accountId };
  const assessed = { calendar: settings.review, families: settings.changes.topics, now };
  // Accepting a run of before changes no rule of now.
  if (how !== 'accepted') await saveFourEyes(transaction, run.organisationId, settings.review.fourEyes, now);
  await projectParties(transaction, { ...scope, runId, now }, (party, items) =>
    toItemChanges(addProvisional(party, items), items, assessed),
  );
  // Of a held run what is new or worse is opened: nothing is closed by it, and no decision becomes one about other facts.
  if (how === 'held')
    await projectHeldParties(transaction, { ...scope, runId, now }, (party, items) =>
      toItemChanges(party, items, assessed).filter(
        ({ event, state }) => event !== null && worse.has(event.kind) && (state === 'open' || state === 'proposed'),
      ),
    );
  // No policy goes by answers that could not be relied on at first.
  if (how === 'counts')
    await closeByPolicy(transaction, { runId, ...scope }, { now, digestKey: organisation.digestKey });
  await saveReportSheet(transaction, runId, scope, { now, maxItems: maxListRows });
  await saveSettledItems(transaction, runId, scope);
  return saveOpenItems(transaction, runId, scope, now);
}

/**
 * Closes by the policy `review.autoClose`, where the accepted settings in force have it, what has been absent for long enough. The actor of
 * these dispositions is the policy, and a return re-opens the alert.
 */
async function closeByPolicy(
  transaction: Queryable,
  { runId, ...scope }: ProjectionScope & { runId: number },
  { now, digestKey }: { now: Date; digestKey: Buffer },
): Promise<void> {
  const accepted = await readRunSettings(transaction, runId);
  if (accepted === null || !isAutoClosing(accepted)) return;
  const closable = await findAutoClosable(transaction, runId, scope, now);
  const items = await readDecidableItems(
    transaction,
    closable.map(({ itemId }) => itemId),
  );
  for (const { itemId, absentSince } of closable) {
    const item = items.get(itemId);
    if (item === undefined) continue;
    await saveDisposition(
      transaction,
      {
        ...{ itemId, kind: 'decided', verdict: 'no_longer_matched', origin: 'policy', reviewer: 'review.autoClose' },
        ...{ isAttested: false, comment: null, expiresAt: null, refersTo: null, sheetId: null, dueAt: null },
        reason: `absent since ${absentSince.toISOString()}; policy accepted by ${accepted.acceptedBy}`,
        seen: toSeenFacts(item.customer, item.listed),
        seenDigest: toSeenDigest(item, digestKey),
      },
      now,
    );
  }
}

const worse: ReadonlySet<string> = new Set(['opened', 'reopened', 'escalated', 'returned']);
const serious: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** What a party's matches of now make of its items; what is to be looked at is each hit, and what is judged critical or high. */
export function toItemChanges(
  party: UnprojectedParty,
  items: readonly StoredItem[],
  { calendar, families, now }: Pick<Projection, 'calendar' | 'families' | 'now'>,
): readonly ItemChange[] {
  const needsReview = ({ id, isHit }: Match): boolean => {
    const change = party.changes.get(id);
    return isHit || (change !== undefined && change.kind !== 'hit_lost' && serious.has(change.severity));
  };
  const byId = new Map(items.map((item) => [item.itemId, item]));
  const causeOf = ({ itemId, listed }: Pick<StoredItem, 'itemId' | 'listed'>) => {
    const cause = party.causes.get(listed.id) ?? 'service_data';
    const seenWith = byId.get(itemId)?.customer ?? null;
    // A change of the record elsewhere, such as of another party or of an end date, takes no match away.
    const isSameParty =
      seenWith !== null &&
      compareSeenFacts(toSeenFacts(seenWith, listed), toSeenFacts(party.customer, listed)).length === 0;
    return cause === 'customer_record' && isSameParty ? 'service_data' : cause;
  };
  const steps = projectItems({ ...party, items, needsReview, causeOf }, now);
  const projection = { party, byId, calendar, families, now };
  const changes = steps.flatMap((step) => toChange(step, projection));
  const touched = new Set(changes.map(({ itemId }) => itemId));
  // Seen beside the newer record: no event, but the next comparison starts from here.
  const dated = items
    .filter(({ itemId, state, absence }) => state !== 'gone' && absence === null && !touched.has(itemId))
    .map((item) => ({
      ...keep(item, projection),
      customerVersion: party.customerVersion,
      ...escalate(item, item.listed, projection),
    }));
  return [...changes, ...dated];
}

/** The party with what held runs have found since its last answer that counts: that is neither absent nor as before until another answer counts. */
function addProvisional(party: UnprojectedParty, items: readonly StoredItem[]): UnprojectedParty {
  const provisional = items.filter(({ isProvisional }) => isProvisional).map(({ listed }) => listed);
  if (provisional.length === 0) return party;
  return { ...party, matches: [...pairMatches(party.matches, provisional).onlyBefore, ...provisional] };
}

interface Projection {
  party: UnprojectedParty;
  byId: ReadonlyMap<number, StoredItem>;
  calendar: ReviewSettings;
  families: TopicFamilies;
  now: Date;
}

function toChange(step: ItemStep, projection: Projection): readonly ItemChange[] {
  const { party, byId, calendar, families, now } = projection;
  if (step.kind === 'opened') {
    const change = party.changes.get(step.match.id);
    const assessment = { severity: change?.severity ?? 'high', rule: change?.rule ?? 'hit_gained' } as const;
    return [
      {
        itemId: null,
        partyId: party.partyId,
        state: 'open',
        absence: step.absence,
        listed: step.match,
        topic: toWorstTopic(families, step.match.topics),
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
  const item = byId.get(step.item.itemId);
  if (item === undefined) return [];
  const kept = keep(item, projection);
  const { absence } = step.kind === 'absent' || step.kind === 'gone' ? step : { absence: null };
  if (step.kind === 'gone') {
    return [{ ...kept, state: 'gone', absence, event: { kind: 'gone', reasons: [step.absence] } }];
  }
  if (step.kind === 'absent') {
    const event = step.absence === item.absence ? 'rekeyed' : 'absent';
    const reasons = event === 'absent' ? [step.absence] : [];
    const waits = { ...kept, listed: step.listed, absence, event: { kind: event, reasons } } as const;
    if (step.hasRunOut) {
      const dueAt = toDueTime(item.severity, now, calendar);
      const ended = { kind: 'absent', reasons: ['expired', step.absence] } as const;
      return [{ ...waits, state: 'open', openedAt: now, dueAt, dropsDisposition: true, event: ended }];
    }
    if (item.state !== 'confirmed') return [waits];
    // A true match that is absent waits from now on, for one business day.
    return [{ ...waits, state: 'open', openedAt: now, dueAt: toDueTime('high', now, calendar) }];
  }
  if (step.kind === 'reopened') {
    const change = party.changes.get(step.match.id);
    const severity = toReopenedSeverity(item, change?.severity, step.reasons);
    const isReturn = step.reasons.length === 1 && step.reasons[0] === 'returned';
    const rule = change !== undefined && change.severity === severity ? change.rule : item.rule;
    return [
      {
        ...kept,
        ...seen(step.match, projection),
        state: 'open',
        severity,
        rule,
        priority: prioritise(severity, step.match, party),
        isBaseline: false,
        // A match that returns continues its alert, as does one of which something was only proposed; a decision that fell begins a new wait.
        openedAt: isReturn || isWaiting(item) ? item.openedAt : now,
        dueAt: isReturn ? item.dueAt : toEarlierDue(item, severity, { calendar, now }),
        dropsDisposition: true,
        event: { kind: 'reopened', reasons: step.reasons },
      },
    ];
  }
  const { match, state } = step;
  const wasAbsent = item.absence !== null || item.state === 'gone';
  const event = wasAbsent ? 'returned' : item.listed.id === match.id ? null : 'rekeyed';
  return [
    {
      ...kept,
      ...seen(match, projection),
      state,
      priority: prioritise(item.severity, match, party),
      event: event && { kind: event, reasons: [] },
      ...escalate({ ...item, state }, match, projection),
    },
  ];
}

/** What is stored of a match that is seen beside the record of now. */
const seen = (match: Match, { party, families }: Projection) => ({
  listed: match,
  absence: null,
  topic: toWorstTopic(families, match.topics),
  customerVersion: party.customerVersion,
});

/** An item as it was, beside the record with which its match was last seen. */
const keep = (
  { disposition: _, isConfirmed: __, customer: ___, isProvisional: ____, ...item }: StoredItem,
  { families }: Pick<Projection, 'families'>,
): ItemChange => ({
  ...item,
  customerVersion: null,
  topic: toWorstTopic(families, item.listed.topics),
  isBaseline: false,
  dropsDisposition: false,
  event: null,
});

const isWaiting = ({ state }: Pick<StoredItem, 'state'>): boolean => state === 'open' || state === 'proposed';

const isWorse = (left: Severity, right: Severity): boolean => severities.indexOf(left) < severities.indexOf(right);

/** What waits already becomes more urgent with a more severe change, and is due no later than it was. */
function escalate(item: StoredItem, match: Match, { party, calendar, now }: Projection): Partial<ItemChange> {
  const change = party.changes.get(match.id);
  if (change === undefined || !isWaiting(item) || !isWorse(change.severity, item.severity)) return {};
  return {
    severity: change.severity,
    rule: change.rule,
    priority: prioritise(change.severity, match, party),
    dueAt: toEarlierDue(item, change.severity, { calendar, now }),
    event: { kind: 'escalated', reasons: [] },
  };
}

/** When an item of this severity is due from now on, and no later than it was where it has waited. */
function toEarlierDue(
  item: StoredItem,
  severity: Severity,
  { calendar, now }: Pick<Projection, 'calendar' | 'now'>,
): Date | null {
  const due = toDueTime(severity, now, calendar);
  const { dueAt } = item;
  return isWaiting(item) && due !== null && dueAt !== null && dueAt < due ? dueAt : due;
}

/**
 * What an item is worth that is open again: no less than it was, because a small change makes nobody less of a hit, and what is decided by two
 * people must not come to be decided by one. A customer who changed although a match was confirmed is urgent.
 */
function toReopenedSeverity(
  { severity, disposition }: StoredItem,
  changed: Severity | undefined,
  reasons: readonly string[],
): Severity {
  const isConfirmed = disposition?.verdict === 'true_match' && disposition.isFinal;
  const floor = isConfirmed && reasons.some((reason) => reason.startsWith('customer_')) ? 'high' : severity;
  const worth = [severity, floor, ...(changed === undefined ? [] : [changed])];
  return worth.reduce((worst, each) => (isWorse(each, worst) ? each : worst));
}

const prioritise = (severity: Severity, match: Match, { customer }: UnprojectedParty): number =>
  toPriority({ severity, isHit: match.isHit, corroboration: corroborate(customer, match), score: match.score });

type SeenItem = Pick<DecidableItem, 'customer' | 'listed'>;

/** The keyed digest (hex) of what is to be seen of an item: a decision is bound to it. */
export const toSeenDigest = ({ customer, listed }: DecidableItem, digestKey: Buffer): string =>
  digest(toSeenText(toSeenFacts(customer, listed)), digestKey);

/**
 * What names the state in which a reviewer saw an item: what was to be seen, and what was said about it last, whether it stands or not, so
 * that a list from before a decision never takes effect after it was undone or has run out. Keyed: nothing can be distinguished from it.
 */
export const toItemSeenVersion = (item: SeenItem & Pick<DecidableItem, 'decisions'>, digestKey: Buffer): string =>
  toSeenVersionAt(item, item.decisions.at(-1) ?? null, digestKey);

/** Why an item is no longer as it was when this stamp was made; null when it is. */
export function findStaleness(
  item: DecidableItem,
  seenVersion: string,
  digestKey: Buffer,
): 'changed_since' | 'decided_since' | null {
  if (seenVersion === toItemSeenVersion(item, digestKey)) return null;
  const isAsBefore = [null, ...item.decisions].some(
    (before) => seenVersion === toSeenVersionAt(item, before, digestKey),
  );
  return isAsBefore ? 'decided_since' : 'changed_since';
}

const toSeenVersionAt = ({ customer, listed }: SeenItem, dispositionId: number | null, digestKey: Buffer): string =>
  toSeenVersion(digest(`${dispositionId ?? 'none'} ${toSeenText(toSeenFacts(customer, listed))}`, digestKey));

const digest = (text: string, key: Buffer): string => createHmac('sha256', key).update(text).digest('hex');

/** An item that waits as a list shows it, with the mark by which a decision about it is read back. */
export function toWaitingItem(
  { itemId, lastSaidId, ...item }: StoredWaitingItem,
  { sheetId, digestKey }: { sheetId: number; digestKey: Buffer },
): WaitingItem {
  const decisions = lastSaidId === null ? [] : [lastSaidId];
  const seenVersion = toItemSeenVersion({ customer: item.party, listed: item.listed, decisions }, digestKey);
  const mark = toItemCode({ itemId, seenVersion }, digestKey);
  return { ...item, mark, sheetId, corroboration: corroborate(item.party, item.listed) };
}

/** What waited for reviewers when a run closed, each item with the mark by which a decision about it is read back; null where nothing is known of it. */
export async function readToReview(
  database: Queryable,
  runId: number,
  organisation: string,
): Promise<ToReviewFacts | null> {
  const sheet = await readReportSheet(database, runId);
  if (sheet === null) return null;
  const { digestKey } = await readOrganisation(database, organisation);
  const { sheetId, waiting } = sheet;
  return { sheetId, waiting, items: sheet.items.map((item) => toWaitingItem(item, { sheetId, digestKey })) };
}
