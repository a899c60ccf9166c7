import { describeReason } from '../../reports/reasons.js';
import { formatCount, formatDuration, toVisibleText } from '../../reports/text.js';
import { describeStates } from '../../reports/words.js';
import { measureCoverage, type RosterCoverage } from '../../runs/coverage.js';
import type { CoverageGap } from '../../store/customers/coverage.js';
import { defineDatabaseCommand } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { toOutcome } from '../invocation.js';
import { limitTo, shared } from '../options.js';
import { describeCounts, describeGap, describeReasons, formatTable, toMinute } from '../text.js';

/** The server cancels a longer statement. */
const queryTimeoutMs = 10 * 60_000;

const head = [
  'roster',
  'tier',
  'in scope',
  'valid',
  'never',
  'unreadable',
  'changed',
  'overdue',
  'unproven',
  'last failed',
  'oldest',
];

function toRow(roster: string, tier: string, sums: RosterCoverage['total'], at: Date): (string | number)[] {
  const { inScope, valid, never, unreadable, changed, overdue, unproven, failedBecause, oldestScreenedAt } = sums;
  const failed = Object.values(failedBecause).reduce((sum, count) => sum + count, 0);
  const oldest = oldestScreenedAt === null ? '-' : formatDuration(oldestScreenedAt, at);
  return [roster, tier, inScope, valid, never, unreadable, changed, overdue, unproven, failed, oldest];
}

function toRows(
  roster: string,
  { total, tiers }: Pick<RosterCoverage, 'total' | 'tiers'>,
  at: Date,
): (string | number)[][] {
  const present = Object.entries(tiers).filter(([, sums]) => sums.inScope > 0);
  return [...present.map(([tier, sums]) => toRow(roster, tier, sums, at)), toRow(roster, 'all', total, at)];
}

function formatCoverage(coverage: RosterCoverage): string {
  const { at, rosters, total, cadence } = coverage;
  const gap = describeGap(coverage.neverImported, total.inScope);
  if (rosters.length === 0) return `${gap}\n`;
  const rows = rosters.flatMap((roster) => toRows(roster.roster, roster, at));
  const together = rosters.length > 1 ? toRows('all', coverage, at) : [];
  const listed = rosters.flatMap(({ roster, uncovered }) =>
    uncovered.map(({ reference, tier, status, lastScreenedAt, failedBecause }) => [
      roster,
      tier,
      status,
      reference,
      lastScreenedAt === null ? 'never' : toMinute(lastScreenedAt),
      describeUncovered(status, failedBecause),
    ]),
  );
  return [
    formatTable([head, ...rows, ...together]),
    `\n${formatTable([
      ['states', describeStates(total.states)],
      Object.keys(total.failedBecause).length > 0 && ['last failed', describeReasons(total.failedBecause)],
      total.oldestScreenedAt !== null && [
        'oldest',
        `${toMinute(total.oldestScreenedAt)} UTC, ${formatDuration(total.oldestScreenedAt, at)} ago`,
      ],
      ['frequency', `${describeCounts(cadence.hours)} hours${cadence.reason === null ? '' : `: ${cadence.reason}`}`],
    ])}`,
    ...rosters.flatMap(({ roster, gaps, unmappedNames }) => [
      ...gaps.map((each) => `${describeUnreadable(roster, each)}\n`),
      ...unmappedNames.map((message) => `not searched for, roster ${roster}: ${toVisibleText(message)}\n`),
    ]),
    listed.length === 0 ? '' : `\nNot covered\n${formatTable(listed)}`,
    gap === null ? '' : `\n${gap}\n`,
  ].join('');
}

function describeUncovered(status: string, because: string | null): string {
  const reason = because === null ? '' : describeReason(because);
  return status === 'unreadable' ? `${reason}: the searches do not cover this customer` : reason;
}

const toPublished = ({ uncovered, ...roster }: RosterCoverage['rosters'][number]) => ({
  ...roster,
  uncovered: uncovered.map(({ reference, tier, status, ...rest }) => ({ reference, tier, standing: status, ...rest })),
});

const describeUnreadable = (roster: string, { reason, count, accepted }: CoverageGap): string =>
  `not screened of ${roster}: ${describeReason(reason)}: ${formatCount(count)}${accepted === 0 ? '' : `, ${formatCount(accepted)} accepted`}`;

export const command = defineDatabaseCommand({
  usage: 'coverage',
  isForEach: true,
  description:
    'count customers that are screened, never screened or overdue, and with --limit list the worst; exit code 3 unless all are covered',
  options: { roster: shared.roster, limit: limitTo(1_000_000) },
  examples: ['coverage', 'coverage --roster retail --limit 20'],
  needs: { queryTimeoutMs },
  run: async (app, { options: { roster, limit } }) => {
    const coverage = await measureCoverage(app, { roster, list: limit ?? 0 });
    return toOutcome(
      'nightscreen/coverage/1',
      { ...coverage, rosters: coverage.rosters.map(toPublished) },
      formatCoverage(coverage),
      coverage.isCovered ? exitCodes.complete : exitCodes.incomplete,
    );
  },
});
