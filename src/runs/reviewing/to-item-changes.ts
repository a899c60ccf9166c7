import { type Severity, severities } from '../../changes/change-event.js';
import { corroborate } from '../../changes/corroboration.js';
import { toDueTime } from '../../changes/due-time.js';
import { toPriority } from '../../changes/priority.js';
import type { Match } from '../../matches/match.js';
import { type ItemStep, projectItems } from '../../matches/review/project-items.js';
import type { ItemChange, StoredItem } from '../../store/review-items.js';
import type { UnprojectedParty } from '../../store/unprojected-changes.js';
import type { ReviewSettings } from './settings.js';

const serious: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** What a party's matches of now make of its items; what is to be looked at is each hit, and what is judged critical or high. */
export function toItemChanges(
  party: UnprojectedParty,
  items: readonly StoredItem[],
  calendar: ReviewSettings,
  now: Date,
): readonly ItemChange[] {
  const needsReview = ({ id, isHit }: Match): boolean => {
    const change = party.changes.get(id);
    return isHit || (change !== undefined && serious.has(change.severity));
  };
  const { customer, matches } = party;
  const steps = projectItems({ customer, matches, items, needsReview }, now);
  const byId = new Map(items.map((item) => [item.itemId, item]));
  const told = steps.flatMap((step) => toChange(step, { party, byId, calendar, now }));
  const touched = new Set(told.map(({ itemId }) => itemId));
  // Seen beside the newer record: nothing to tell, but the next comparison starts from here.
  const dated = items
    .filter(({ itemId, state }) => state !== 'gone' && !touched.has(itemId))
    .map((item) => ({ ...keep(item, party), ...escalate(item, item.listed, { party, byId, calendar, now }) }));
  return [...told, ...dated];
}

interface Projection {
  party: UnprojectedParty;
  byId: ReadonlyMap<number, StoredItem>;
  calendar: ReviewSettings;
  now: Date;
}

function toChange(step: ItemStep, projection: Projection): readonly ItemChange[] {
  const { party, byId, calendar, now } = projection;
  if (step.kind === 'opened') {
    const change = party.changes.get(step.match.id);
    const judgement = { severity: change?.severity ?? 'high', rule: change?.rule ?? 'hit_gained' } as const;
    return [
      {
        itemId: null,
        partyId: party.partyId,
        state: 'open',
        listed: step.match,
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
  const kept = keep(item, party);
  if (step.kind === 'gone') return [{ ...kept, state: 'gone', event: { kind: 'gone', reasons: [] } }];
  if (step.kind === 'reopened') {
    const change = party.changes.get(step.match.id);
    const severity = toReopenedSeverity(item, change?.severity, step.reasons);
    const rule = change !== undefined && change.severity === severity ? change.rule : item.rule;
    return [
      {
        ...kept,
        state: 'open',
        listed: step.match,
        severity,
        rule,
        priority: prioritise(severity, step.match, party),
        isBaseline: false,
        openedAt: now,
        dueAt: toEarlierDue(item, severity, { calendar, now }),
        dropsDisposition: true,
        event: { kind: 'reopened', reasons: step.reasons },
      },
    ];
  }
  const { match, state } = step;
  const event = item.state === 'gone' ? 'returned' : item.listed.id === match.id ? null : 'rekeyed';
  return [
    {
      ...kept,
      state,
      listed: match,
      priority: prioritise(item.severity, match, party),
      event: event && { kind: event, reasons: [] },
      ...escalate({ ...item, state }, match, projection),
    },
  ];
}

/** An item as it was, beside the record of now. */
const keep = (
  { disposition: _, wasConfirmed: __, ...item }: StoredItem,
  { customerVersion }: UnprojectedParty,
): ItemChange => ({
  ...item,
  customerVersion,
  isBaseline: false,
  dropsDisposition: false,
  event: null,
});

const isWorse = (left: Severity, right: Severity): boolean => severities.indexOf(left) < severities.indexOf(right);

/** What waits already becomes more urgent with a more severe change, and is due no later than it was. */
function escalate(item: StoredItem, match: Match, { party, calendar, now }: Projection): Partial<ItemChange> {
  const change = party.changes.get(match.id);
  const waits = item.state === 'open' || item.state === 'proposed';
  if (change === undefined || !waits || !isWorse(change.severity, item.severity)) return {};
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
  { state, dueAt }: StoredItem,
  severity: Severity,
  { calendar, now }: Pick<Projection, 'calendar' | 'now'>,
): Date | null {
  const due = toDueTime(severity, now, calendar);
  const hasWaited = state === 'open' || state === 'proposed';
  return hasWaited && due !== null && dueAt !== null && dueAt < due ? dueAt : due;
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
