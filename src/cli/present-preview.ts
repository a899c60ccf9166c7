import { describeReason } from '../reports/reasons.js';
import { formatCount } from '../reports/text.js';
import type { ScreeningPreview } from '../runs/preview.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

type Line = [string, string];

const shownLeftOut = 10;

function describeReasons(reasons: Readonly<Record<string, number>>): [string, string][] {
  const tallies = Object.entries(reasons).toSorted(([, left], [, right]) => right - left);
  return tallies.map(([reason, customers]) => [reason, `${formatCount(customers)}  ${describeReason(reason)}`]);
}

/** Whom the budget leaves out; those who cannot wait are named by their reference. */
function describeLeftOut({ overBudget, leftOut, budget }: ScreeningPreview): [string, string][] {
  if (budget === null) return [];
  const left = `${formatCount(budget.leftForAll)} calls, ${formatCount(budget.leftForReserved)} with what is kept for new customers and control searches`;
  const { cadence = 0, ...urgent } = overBudget;
  const customers = Object.values(urgent).reduce((sum, count) => sum + count, 0);
  if (customers + cadence === 0) return [['budget left', left]];
  const more = customers > shownLeftOut ? ' ...' : '';
  const names = customers === 0 ? '' : `: ${leftOut.slice(0, shownLeftOut).join(', ')}${more}`;
  return [
    ['budget left', left],
    ...(customers === 0
      ? []
      : [
          [
            'left out',
            `${formatCount(customers)} asked for, overdue or never screened as they are${names}`,
          ] satisfies Line,
        ]),
    ...(cadence === 0 ? [] : [[customers === 0 ? 'left out' : '', `${formatCount(cadence)} due again`] satisfies Line]),
  ];
}

/** A cost in words, or why it is not known. */
export const describeCost = (cost: ScreeningPreview['cost']): string =>
  cost === null ? 'unknown: budget.pricePerSearch is not set' : `${cost.amount.toFixed(2)} ${cost.currency}`;

/** What `screen --dry-run` says. */
export const presentPreview = (preview: ScreeningPreview): Outcome => ({
  exitCode: exitCodes.complete,
  document: { schema: 'nightscreen/screening-preview/1', ...preview },
  text: formatTable([
    ['roster', `${preview.roster}, ${preview.selection} customers`],
    ['in scope', formatCount(preview.inScope)],
    ...describeReasons(preview.reasons),
    ['planned', `${formatCount(preview.planned)} customers, ${formatCount(preview.reused)} of them answered already`],
    [
      'calls',
      `${formatCount(preview.calls)} = ${formatCount(preview.searches)} different searches + ${formatCount(preview.controlSearches)} control searches; repeats not counted`,
    ],
    ['minutes', String(preview.minutes)],
    ['cost', describeCost(preview.cost)],
    ...describeLeftOut(preview),
  ]),
});
