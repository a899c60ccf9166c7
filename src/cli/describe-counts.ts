import { formatCount } from '../reports/text.js';

const toWords = (name: string): string => name.replaceAll(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`);

/** Counts as one line, `rows 512, customers 505`, in the order given. */
export const describeCounts = (counts: Readonly<Record<string, number | boolean>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${toWords(name)} ${typeof count === 'number' ? formatCount(count) : count ? 'yes' : 'no'}`)
    .join(', ');
