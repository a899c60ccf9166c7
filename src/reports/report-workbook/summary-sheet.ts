import type { ChangeGroup } from '../change-groups.js';
import { severityWords } from '../change-words.js';
import { countNoun, formatCount } from '../format-count.js';
import { formatDuration, formatTime } from '../format-time.js';
import { describeAges } from '../item-words.js';
import { levelWords } from '../level-words.js';
import type { Sum } from '../list-sums.js';
import { describeReason } from '../reason-words.js';
import type { Coverage, Report } from '../report.js';
import { listOwnDoubts, toTitle } from '../report.js';
import { describeDoubtedValues } from '../snapshot-words.js';
import type { Sheet, SheetRow } from '../spreadsheet/sheet.js';
import { stateWords } from '../state-words.js';

import { toVisibleText } from '../visible-text.js';
import { toHeading, toLine } from '../workbook-guide.js';
import { type Fact, type FactBlock, toFactSheet } from './fact-sheet.js';

/** The first sheet: what the run comes to, what waits, and the sums that balance. */
export function toSummarySheet(report: Report, above: readonly SheetRow[]): Sheet {
  const { verdict, coverage } = report;
  const top: readonly SheetRow[] = [
    ...above,
    { cells: [toTitle(report)], styles: ['title'] },
    toHeading(levelWords[verdict.level]),
    ...[verdict.coverage, verdict.waiting ?? '', verdict.news, ...verdict.remarks]
      .filter((text) => text !== '')
      .map(toLine),
  ];
  const blocks = [...listFound(report), ...(coverage === null ? [] : listCovered(coverage)), toRunBlock(report)];
  return toFactSheet('Summary', { top, blocks });
}

const listFound = (report: Report): readonly FactBlock[] => {
  const { changes, baseline, openItems, dossiers, droppedParties, rejects, doubted } = report;
  return [
    { title: 'Waiting for a decision when the run closed', facts: openItems === null ? [] : listWaiting(openItems) },
    { title: 'Changes by severity', facts: (changes ?? []).map(toSeverityFact) },
    { title: 'Matches of first screenings by severity', facts: baseline.map(toSeverityFact) },
    {
      title: 'Dossiers',
      facts: dossiers === null ? [] : listDossierFacts(dossiers),
    },
    {
      title: 'Values in doubt: they count as unknown',
      facts: listOwnDoubts(report).map((column) => [
        toVisibleText(column.column),
        column.doubts,
        `of ${formatCount(column.doubts + column.read)}${column.values.length === 0 ? '' : `: ${describeDoubtedValues(column)}`}`,
      ]),
    },
    {
      title: 'Only in the other files',
      facts: [
        ...(rejects === null || rejects.length === 0
          ? []
          : [['Rejected rows', rejects.length, 'rejects.csv'] as const]),
        ...(doubted.length === 0 ? [] : [['Rows with values in doubt', doubted.length, 'rejects.csv'] as const]),
        ...(droppedParties.length === 0
          ? []
          : [['No longer in the source', droppedParties.length, 'report.html and report.json'] as const]),
      ],
    },
  ];
};

const listDossierFacts = ({ sweeps, changes }: NonNullable<Report['dossiers']>): readonly Fact[] => [
  ...sweeps.map(({ startedAt, dossiers, proven, unprovenBecause }): Fact => {
    const proof = proven ? 'proven complete' : `not proven complete: ${unprovenBecause ?? 'no reason given'}`;
    return ['Dossiers seen', dossiers, `by the sweep of ${formatTime(startedAt)}, ${proof}`];
  }),
  ['Changes', changes.length],
];

function toSeverityFact({ severity, count, sanctionHits, floods }: ChangeGroup): Fact {
  const notes = [
    ...(sanctionHits === 0 ? [] : [`${countNoun(sanctionHits, 'hit')} for a sanction`]),
    ...(floods.length === 0 ? [] : [`with ${countNoun(floods.length, 'group')} of changes alike`]),
  ];
  return [severityWords[severity], count, notes.join(', ') || null];
}

const listWaiting = (openItems: NonNullable<Report['openItems']>): readonly Fact[] => [
  ['Alerts', openItems.waiting, `${formatCount(openItems.overdue)} overdue`],
  ...(openItems.customers === null ? [] : [['of customers', openItems.customers] as const]),
  ...openItems.bySeverity.map(
    ({ severity, waiting, overdue }): Fact => [`of them ${severity}`, waiting, `${formatCount(overdue)} overdue`],
  ),
  ...(openItems.oldestAt === null
    ? []
    : [['How long', describeAges(openItems), `the oldest since ${formatTime(openItems.oldestAt)}`] as const]),
  ['For a second person to confirm', openItems.proposed],
  ...(openItems.absent === null ? [] : [['No longer matched, to be confirmed', openItems.absent] as const]),
  ['Assigned to nobody', openItems.unassigned],
];

const listCovered = ({
  sums,
  formerRosterAt,
  states,
  failedBecause,
  skippedBecause,
}: Coverage): readonly FactBlock[] => [
  {
    title: 'Coverage: every sum holds, or there would be no report',
    facts: [
      ...sums.map(toSumFact),
      ...(formerRosterAt === null
        ? []
        : [['roster', formatTime(formerRosterAt), 'imported then; this run read none'] as const]),
    ],
  },
  {
    title: 'Customers in scope by state',
    facts: (states ?? []).map(({ code, count }) => [stateWords[code].name, count, stateWords[code].meaning]),
  },
  { title: 'Failed because', facts: failedBecause.map(({ code, count }) => [describeReason(code), count]) },
  { title: 'Skipped because', facts: skippedBecause.map(({ code, count }) => [describeReason(code), count]) },
];

const toSumFact = ({ whole, parts, relation }: Sum): Fact => [
  whole.name,
  whole.count,
  `${relation === 'equal' ? '=' : 'at most'} ${parts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(' + ')}`,
];

function toRunBlock({ run, calls, canaries }: Report): FactBlock {
  const { startedAt, finishedAt, comparedWith } = run;
  return {
    title: 'The run',
    facts: [
      ['Run', run.runId, `${run.kind}, ${run.state}`],
      ['Time', formatTime(startedAt), `took ${formatDuration(startedAt, finishedAt)}`],
      ['Compared with', comparedWith?.runId ?? 'no earlier run', comparedWith && formatTime(comparedWith.finishedAt)],
      ...(calls.searches === null ? [] : [['Searches', calls.searches, 'control searches not included'] as const]),
      ...(canaries === null
        ? []
        : [
            [
              'Control searches',
              canaries.length,
              canaries.length === 0
                ? 'none are configured'
                : `${formatCount(canaries.filter(({ verdict }) => verdict === 'passed').length)} passed`,
            ] as const,
          ]),
    ],
  };
}
