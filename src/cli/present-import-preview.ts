import { listDoubtLines, rejectWords } from '../reports/reasons.js';
import { formatCount, toVisibleText } from '../reports/text.js';
import { describeRecord } from '../reports/words.js';
import type { RejectReason } from '../roster/customer.js';
import type { ImportPreview, OnboardingPreview } from '../runs/preview.js';
import { describeCounts } from './describe-counts.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';
import { describeCost } from './present-preview.js';

const isKnown = (reason: string): reason is RejectReason => Object.hasOwn(rejectWords, reason);

function listReads({ roster, source, counts, rejectedByReason, doubts }: ImportPreview): [string, string][] {
  const { rows, customers, rejected, duplicates, conflicts, ...history } = counts;
  const sums = `${formatCount(rows)} = ${formatCount(customers)} customers + ${formatCount(rejected)} rejected + ${formatCount(duplicates)} repeated`;
  return [
    ['roster', `${roster}, from ${source}`],
    ['rows', sums],
    ...Object.entries(rejectedByReason).map(([reason, count]): [string, string] => [
      `  ${reason}`,
      `${formatCount(count)}  ${isKnown(reason) ? rejectWords[reason] : ''}`,
    ]),
    ...listDoubtLines(doubts),
    ...(conflicts > 0
      ? [['conflicts', `${formatCount(conflicts)} ids with rows that differ`] satisfies [string, string]]
      : []),
    ['customers', describeCounts(history)],
  ];
}

const listGuards = ({ heldBy }: ImportPreview): [string, string][] =>
  heldBy.length === 0
    ? [['guards', 'all passed']]
    : heldBy.map(({ guard, message, look }, index) => [
        index === 0 ? 'HELD' : '',
        `${message} [guard ${guard}]; ${look}`,
      ]);

const listWarnings = ({ unmapped }: ImportPreview): [string, string][] =>
  unmapped.map((message) => ['warning', message]);

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
