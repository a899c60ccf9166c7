import { countNoun, formatCount } from './format-count.js';
import { formatDay } from './format-time.js';
import type { ChangeItemFacts, ItemOwner, OpenItemsFacts, SaidFacts } from './item-facts.js';

/** How much waits for a decision and how much of it too long: `12 open items, 3 overdue`. */
export function describeWaiting({ waiting, overdue, proposed }: OpenItemsFacts): string {
  const late = overdue === 0 ? 'none overdue' : `${formatCount(overdue)} overdue`;
  const second = proposed === 0 ? '' : `, ${formatCount(proposed)} for a second person to confirm`;
  return `${countNoun(waiting, 'open item')}, ${late}${second}`;
}

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

const dayMs = 86_400_000;

/** Where an item stood at `now`, and since when: `Open since 2026-11-21 (4 days), overdue since 2026-11-22, assigned to bea (for ada)`. */
export function describeItem({ state, openedAt, dueAt, owner, reopenedBecause }: ChangeItemFacts, now: Date): string {
  if (state === 'settled') return 'Settled';
  if (state === 'confirmed') return 'Confirmed';
  if (state === 'gone') return 'No longer listed, nothing to decide';
  const days = Math.floor((now.getTime() - openedAt.getTime()) / dayMs);
  const age = days <= 0 ? 'today' : countNoun(days, 'day');
  const waits = state === 'proposed' ? 'Waits for a second person' : reopenedBecause.length > 0 ? 'Open again' : 'Open';
  const because = reopenedBecause.length === 0 ? '' : ` (${reopenedBecause.map(describeReason).join(', ')})`;
  const due =
    dueAt === null
      ? ''
      : `, ${dueAt < now ? 'overdue since' : 'due'} ${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `${waits}${because} since ${formatDay(openedAt)} (${age})${due}, ${owner === null ? 'assigned to nobody' : `assigned to ${describeOwner(owner)}`}`;
}

/** What was said about an item: `false positive by ada on 2026-11-20: another birth date`. */
export function describeSaid({ kind, verdict, reviewer, isAttested, reason, saidAt }: SaidFacts): string {
  const what =
    kind === 'undone' ? 'undone' : `${kind === 'decided' ? '' : `${kind}: `}${verdict?.replaceAll('_', ' ') ?? ''}`;
  return `${what} by ${reviewer}${isAttested ? ' (attested)' : ''} on ${formatDay(saidAt)}: ${reason}`;
}

/** Why an item is open again, in words. */
function describeReason(reason: string): string {
  if (reason === 'expired') return 'the decision ran out';
  if (reason === 'undone') return 'the decision was undone';
  if (reason === 'returned') return 'listed again';
  return `${reason.replaceAll('_', ' ')} changed`;
}
