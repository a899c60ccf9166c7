import { describeReason, listDoubtLines, rejectWords } from '../reports/reasons.js';
import { countNoun, formatCount, toVisibleText } from '../reports/text.js';
import { describeRecord } from '../reports/words.js';
import type { RejectReason } from '../roster/customer.js';
import type { BecauseOf } from '../runs/checks/because-of.js';
import type { ImportPreview, OnboardingPreview, ScreeningPreview } from '../runs/preview.js';
import { exitCodes } from './exit-code.js';
import type { Outcome } from './invocation.js';
import { describeCounts, formatTable, type Row } from './text.js';

const shownLeftOut = 10;

function describeReasons(reasons: Readonly<Record<string, number>>): Row[] {
  const tallies = Object.entries(reasons).toSorted(([, left], [, right]) => right - left);
  return tallies.map(([reason, customers]) => [reason, `${formatCount(customers)}  ${describeReason(reason)}`]);
}

/** Whom the budget leaves out; those who cannot wait are named by their reference. */
function describeLeftOut({ overBudget, leftOut, budget }: ScreeningPreview): Row[] {
  if (budget === null) return [];
  const left = `${formatCount(budget.leftForAll)} calls, ${formatCount(budget.leftForReserved)} with what is kept for new customers and control searches`;
  const { cadence = 0, ...urgent } = overBudget;
  const customers = Object.values(urgent).reduce((sum, count) => sum + count, 0);
  const more = customers > shownLeftOut ? ' ...' : '';
  const names = customers === 0 ? '' : `: ${leftOut.slice(0, shownLeftOut).join(', ')}${more}`;
  return [
    ['budget left', left],
    customers > 0 && ['left out', `${formatCount(customers)} asked for, overdue or never screened as they are${names}`],
    cadence > 0 && [customers === 0 ? 'left out' : '', `${formatCount(cadence)} due again`],
  ];
}

/** A cost in words, or why it is not known. */
const describeCost = (cost: ScreeningPreview['cost']): string =>
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

const isKnown = (reason: string): reason is RejectReason => Object.hasOwn(rejectWords, reason);

function listReads({ roster, source, counts, rejectedByReason, doubts }: ImportPreview): Row[] {
  const { rows, customers, rejected, duplicates, conflicts, ...history } = counts;
  const sums = `${formatCount(rows)} = ${formatCount(customers)} customers + ${formatCount(rejected)} rejected + ${formatCount(duplicates)} repeated`;
  return [
    ['roster', `${roster}, from ${source}`],
    ['rows', sums],
    ...Object.entries(rejectedByReason).map(([reason, count]) => [
      `  ${reason}`,
      `${formatCount(count)}  ${isKnown(reason) ? rejectWords[reason] : ''}`,
    ]),
    ...listDoubtLines(doubts),
    conflicts > 0 && ['conflicts', `${formatCount(conflicts)} ids with rows that differ`],
    ['customers', describeCounts(history)],
  ];
}

const listGuards = ({ heldBy }: ImportPreview): Row[] =>
  heldBy.length === 0
    ? [['guards', 'all passed']]
    : heldBy.map(({ guard, message, look }, index) => [
        index === 0 ? 'HELD' : '',
        `${message} [guard ${guard}]; ${look}`,
      ]);

const listWarnings = ({ unmapped }: ImportPreview): Row[] => unmapped.map((message) => ['warning', message]);

const shownRejections = 20;

/** Where the first rejected rows stand, not what they hold. */
function formatRejections({ firstRejections }: ImportPreview): string {
  if (firstRejections.length === 0) return '';
  const rows = firstRejections
    .slice(0, shownRejections)
    .map(({ line, file, reference, column, reason, valueClass }) => [
      `  ${file === null ? '' : `${file}, `}line ${line}`,
      toVisibleText(reference ?? '-'),
      reason,
      column === null ? '' : `${toVisibleText(column)}${valueClass === null ? '' : `: ${valueClass}`}`,
    ]);
  const more = firstRejections.length > shownRejections ? `  ... more with --json\n` : '';
  return `\nThe first rejected rows\n${formatTable(rows)}${more}`;
}

/** The first changes that guards found, before and after. */
export function formatChanges({ changes }: Pick<ImportPreview, 'changes'>): string {
  if (changes.length === 0) return '';
  const rows = changes.flatMap(({ reference, before, after }) => [
    [`  ${toVisibleText(reference)}`, 'before', toVisibleText(describeRecord(before))],
    ['', 'after', toVisibleText(describeRecord(after))],
  ]);
  return `\nThe first changes of known customers\n${formatTable(rows)}`;
}

function toExitCode({ heldBy, isFedBack, counts }: ImportPreview): number {
  if (heldBy.length > 0) return exitCodes.refused;
  return isFedBack && counts.rejected > 0 ? exitCodes.incomplete : exitCodes.complete;
}

/** What `import --dry-run` says; a roster that would be held gives the exit code that the import would end with. */
export const presentImportPreview = (preview: ImportPreview): Outcome => ({
  exitCode: toExitCode(preview),
  document: { schema: 'nightscreen/import-preview/1', ...preview },
  text:
    formatTable([...listReads(preview), ...listGuards(preview), ...listWarnings(preview)]) +
    formatRejections(preview) +
    formatChanges(preview),
});

/** What `onboard --dry-run` says. */
export const presentOnboardingPreview = (preview: OnboardingPreview): Outcome => ({
  exitCode: toExitCode(preview),
  document: { schema: 'nightscreen/onboarding-preview/1', ...preview },
  text: `${formatTable([
    ...listReads(preview),
    ...listGuards(preview),
    ...listWarnings(preview),
    [
      'calls',
      `${formatCount(preview.calls)} = ${formatCount(preview.distinctSearches)} different searches + ${formatCount(preview.controlSearches)} control searches; repeats not counted`,
    ],
    ['minutes', String(preview.minutes)],
    ['cost', describeCost(preview.cost)],
  ])}${formatRejections(preview)}${formatChanges(preview)}`,
});

/** How many forced customers are named. */
export const mostNamed = 20;

/** A list and whom it forced, as lines for people. */
export function formatBecauseOf({ comparison, forced }: BecauseOf): string {
  const { file, digest, listed, spellings, comparedParties, forcedCustomers } = comparison;
  const others = forcedCustomers - forced.length;
  const rows: Row[] = [
    [
      'because of',
      `${file}: ${countNoun(listed, 'entry', 'entries')} with ${countNoun(spellings, 'name')}, SHA-256 ${digest}`,
    ],
    [
      'forced',
      `${countNoun(forcedCustomers, 'customer')} of ${countNoun(comparedParties, 'party', 'parties')} compared`,
    ],
    ...forced.map(({ reference, because }) => ['', `${reference}: ${because}`]),
    others > 0 && ['', `and ${formatCount(others)} more`],
  ];
  return `\n${formatTable(rows)}`;
}

/** The same as it stands in a document. */
export const toBecauseOfDocument = ({ comparison, forced }: BecauseOf): Record<string, unknown> => ({
  ...comparison,
  forced,
});

/** What a command says about the list because of which it asked, after what it says anyway. */
export const addBecauseOf = (outcome: Outcome, becauseOf: BecauseOf): Outcome => ({
  ...outcome,
  document: { ...outcome.document, becauseOf: toBecauseOfDocument(becauseOf) },
  text: `${outcome.text}${formatBecauseOf(becauseOf)}`,
});
