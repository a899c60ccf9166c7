import { type Severity, severities } from '../../changes/change-event.js';
import { corroborate } from '../../changes/corroboration.js';
import { toDueTime } from '../../changes/due-time.js';
import { toPriority } from '../../changes/priority.js';
import { type TopicFamilies, toWorstTopic } from '../../changes/topic-families.js';
import type { Match } from '../../matches/match.js';
import { pairMatches } from '../../matches/pair-matches.js';
import { type ItemStep, projectItems } from '../../matches/review/project-items.js';
import { compareSeenFacts, toSeenFacts } from '../../matches/review/seen-facts.js';
import type { ItemChange, StoredItem } from '../../store/review-items.js';
import type { UnprojectedParty } from '../../store/unprojected-changes.js';
import type { ReviewSettings } from './settings.js';

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
export function addProvisional(party: UnprojectedParty, items: readonly StoredItem[]): UnprojectedParty {
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
    const judgement = { severity: change?.severity ?? 'high', rule: change?.rule ?? 'hit_gained' } as const;
    return [
      {
        itemId: null,
        partyId: party.partyId,
        state: 'open',
        absence: step.absence,
        listed: step.match,
        topic: toWorstTopic(families, step.match.topics),
        ...judgement,
        priority: prioritise(judgement.severity, step.match, party),
        customerVersion: party.customerVersion,
        isBaseline: change?.isBaseline ?? false,
        openedAt: now,
        dueAt: toDueTime(judgement.severity, now, calendar),
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
