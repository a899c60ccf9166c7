import type { CadenceFacts } from './list-facts.js';

const hoursPerDay = 24;

/** How often customers are screened, in words: one span where all risk tiers have the same. */
export function describeCadence({ hours }: CadenceFacts): string {
  const { high, medium, low } = hours;
  if (high === medium && medium === low) return `every customer every ${describeHours(high)}`;
  return `high risk every ${describeHours(high)}, medium every ${describeHours(medium)}, low every ${describeHours(low)}`;
}

const describeHours = (hours: number): string => {
  const [count, noun] = hours % hoursPerDay === 0 ? [hours / hoursPerDay, 'day'] : [hours, 'hour'];
  return count === 1 ? noun : `${count} ${noun}s`;
};
