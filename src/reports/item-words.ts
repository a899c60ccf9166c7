import type { Absence } from '../matches/review/project-items.js';
import { countNoun, formatCount } from './format-count.js';
import { formatDay } from './format-time.js';
import type { ChangeItemFacts, ItemOwner, OpenItemsFacts, ReplacedFacts, SaidFacts } from './item-facts.js';

const dayMs = 86_400_000;

/** How much waits for a decision and how much of it too long: `12 open alerts, 2 critical, 3 overdue`. */
export function describeWaiting(openItems: OpenItemsFacts): string {
  const { waiting, overdue, proposed } = openItems;
  const critical = countCritical(openItems);
  return [
    countNoun(waiting, 'open alert'),
    ...(critical === 0 ? [] : [`${formatCount(critical)} critical`]),
    overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`,
    ...(proposed === 0 ? [] : [`${formatCount(proposed)} for a second person to confirm`]),
  ].join(', ');
}

/** The same as a sentence, with whose they are and since when: `12 alerts of 5 customers wait for a decision: 2 critical, 3 overdue, ...`. */
export function tellWaiting(openItems: OpenItemsFacts, now: Date): string {
  const { waiting, customers, overdue, proposed, absent, oldestAt } = openItems;
  if (waiting === 0) return 'No alert waits for a decision.';
  const critical = countCritical(openItems);
  const whose = customers === null ? '' : ` of ${countNoun(customers, 'customer')}`;
  const parts = [
    ...(critical === 0 ? [] : [`${formatCount(critical)} critical`]),
    overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`,
    ...(oldestAt === null ? [] : [`the oldest since ${formatDay(oldestAt)} (${countDays(oldestAt, now)})`]),
    ...(proposed === 0 ? [] : [`${formatCount(proposed)} for a second person to confirm`]),
    ...(absent === null || absent === 0 ? [] : [`${formatCount(absent)} no longer matched`]),
  ];
  return `${countNoun(waiting, 'alert')}${whose} ${waiting === 1 ? 'waits' : 'wait'} for a decision: ${parts.join(', ')}.`;
}

/** How many critical alerts wait. */
export const countCritical = ({ bySeverity }: Pick<OpenItemsFacts, 'bySeverity'>): number =>
  bySeverity.find(({ severity }) => severity === 'critical')?.waiting ?? 0;

/** For how many whole days something waits: `19 days`, or `less than a day`. */
export function countDays(since: Date, now: Date): string {
  const days = Math.floor((now.getTime() - since.getTime()) / dayMs);
  return days <= 0 ? 'less than a day' : countNoun(days, 'day');
}

/** Why the match of an alert is absent, in words. */
export const absenceWords: Readonly<Record<Absence, string>> = {
  not_returned: 'the service no longer returns the match',
  below_threshold: 'the match fell below the threshold',
  customer_changed: 'the match is absent since our customer record changed',
  settings_changed: 'the match is absent since our settings changed',
};

/** What was decided about the match that an alert seems to replace: `false positive by ada on 2026-11-20 about "John DOE" (m-12): ...`. */
export const describeReplaced = ({ verdict, reviewer, reason, decidedAt, name, matchId }: ReplacedFacts): string =>
  `${verdict.replaceAll('_', ' ')} by ${reviewer} on ${formatDay(decidedAt)} about ${name} (${matchId}), which left the list when this one came: ${reason}`;

/** For how long they have waited: `9 up to a day, 2 up to a week, 1 longer than 30 days`. */
export function describeAges({ byAge }: OpenItemsFacts): string {
  const parts: readonly [number, string][] = [
    [byAge.upToOneDay, 'up to a day'],
    [byAge.upToOneWeek, 'up to a week'],
    [byAge.upToThirtyDays, 'up to 30 days'],
    [byAge.older, 'longer'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${formatCount(count)} ${words}`)
    .join(', ');
}

/** Who answers for an item: `bea`, or `bea (for ada)`. */
export const describeOwner = ({ name, standsInFor }: ItemOwner): string =>
  standsInFor === null ? name : `${name} (for ${standsInFor})`;

/** Where an item stood at `now`, and since when: `Open since 2026-11-21 (4 days), overdue since 2026-11-22, assigned to bea (for ada)`. */
export function describeItem({ state, openedAt, dueAt, owner, reopenedBecause }: ChangeItemFacts, now: Date): string {
  if (state === 'settled') return 'Settled';
  if (state === 'confirmed') return 'Confirmed';
  if (state === 'gone') return 'No longer matched, nothing to decide';
  const days = Math.floor((now.getTime() - openedAt.getTime()) / dayMs);
  const age = days <= 0 ? 'today' : countNoun(days, 'day');
  const waits = state === 'proposed' ? 'Waits for a second person' : reopenedBecause.length > 0 ? 'Re-opened' : 'Open';
  const because = reopenedBecause.length === 0 ? '' : ` (${describeReopening(reopenedBecause)})`;
  const due =
    dueAt === null
      ? ''
      : `, ${dueAt < now ? 'overdue since' : 'due'} ${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `${waits}${because} since ${formatDay(openedAt)} (${age})${due}, ${owner === null ? 'assigned to nobody' : `assigned to ${describeOwner(owner)}`}`;
}

/** Where an item stood in a few words: `due 2026-11-22`, `false positive by ada`. */
export function describeBriefly({ state, dueAt, said, replaced }: ChangeItemFacts): string {
  const [last] = said;
  const before = replaced === null ? '' : `before: ${replaced.verdict.replaceAll('_', ' ')} by ${replaced.reviewer}`;
  if (state === 'open')
    return [...(dueAt === null ? ['open'] : [`due ${formatDay(dueAt)}`]), ...(before === '' ? [] : [before])].join(
      '; ',
    );
  if (state === 'proposed') return 'for a second person';
  if (state === 'gone') return 'no longer matched';
  return last?.verdict ? `${last.verdict.replaceAll('_', ' ')} by ${last.reviewer}` : state;
}

/** Why an item is open again, in words. */
export const describeReopening = (reasons: readonly string[]): string => reasons.map(describeReason).join(', ');

/** What was said about an item: `false positive by ada on 2026-11-20: another birth date`. */
export function describeSaid({ kind, verdict, reviewer, isAttested, reason, saidAt }: SaidFacts): string {
  const what =
    kind === 'undone' ? 'undone' : `${kind === 'decided' ? '' : `${kind}: `}${verdict?.replaceAll('_', ' ') ?? ''}`;
  return `${what} by ${reviewer}${isAttested ? ' (attested)' : ''} on ${formatDay(saidAt)}: ${reason}`;
}

function describeReason(reason: string): string {
  if (reason === 'expired') return 'the decision ran out';
  if (reason === 'undone') return 'the decision was undone';
  if (reason === 'returned') return 'matched again';
  return `${reason.replaceAll('_', ' ')} changed`;
}
