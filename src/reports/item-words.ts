import { countNoun, formatCount } from './format-count.js';
import type { OpenItemsFacts } from './run-facts.js';

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
