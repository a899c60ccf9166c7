import { severityRules } from '../changes/severity.js';
import { codeWords } from '../vocabulary/words.js';
import type { ChangeGroup } from './change-groups.js';
import { toChangesSection, toDossierSection, toNotScreenedSection } from './lists.js';
import { describeDoubtedValues, describeReason, describeSnapshot } from './reasons.js';
import { type Coverage, listOwnDoubts, type Report, type Sum, toTitle } from './report.js';
import { listGuideRows, toDiscrepancySheet, toReviewSheet } from './review-list.js';
import type { Cell, ListSection } from './section.js';
import {
  renderWorkbook,
  type Sheet,
  type SheetRow,
  toHeadingRow,
  toLine,
  toTableSheet,
  toWarning,
} from './spreadsheet.js';
import { countNoun, formatCount, formatDuration, formatMinute, toVisibleText } from './text.js';
import { describeAges, describeCadence } from './words.js';

/** The name of a fact, its value and a note. */
type Fact = readonly [name: string, value: Cell, note?: string | null];

interface FactBlock {
  title: string;
  facts: readonly Fact[];
}

/** A sheet of facts; a block without facts is left out. */
function toFactSheet(
  name: string,
  {
    top,
    blocks,
    bottom = [],
  }: { top: readonly SheetRow[]; blocks: readonly FactBlock[]; bottom?: readonly SheetRow[] },
): Sheet {
  const rows = blocks
    .filter(({ facts }) => facts.length > 0)
    .flatMap(({ title, facts }): readonly SheetRow[] => [{ cells: [] }, toHeadingRow(title), ...facts.map(toRow)]);
  return {
    name,
    columns: [
      { width: 32, style: 'plain' },
      { width: 36, style: 'plain' },
      { width: 90, style: 'plain' },
    ],
    listRows: () => [...top, ...rows, ...bottom],
    table: null,
    dropdowns: [],
  };
}

const toRow = ([name, value, note = null]: Fact): SheetRow => ({
  cells: [name, value, note],
  styles: ['text', typeof value === 'number' ? 'figure' : 'text', 'text'],
});

function toSummarySheet(report: Report, above: readonly SheetRow[]): Sheet {
  const { verdict, coverage } = report;
  const top: readonly SheetRow[] = [
    ...above,
    { cells: [toTitle(report)], styles: ['title'] },
    toLine(`Times are in ${report.run.timezone}.`),
    toHeadingRow(codeWords.level[verdict.level]),
    ...[verdict.coverage, verdict.waiting ?? '', verdict.news, ...verdict.remarks]
      .filter((text) => text !== '')
      .map(toLine),
  ];
  const blocks = [
    ...listFound(report),
    ...(coverage === null ? [] : listCovered(coverage, report.run)),
    toRunBlock(report),
  ];
  return toFactSheet('Summary', { top, blocks });
}

const listFound = (report: Report): readonly FactBlock[] => {
  const { changes, baseline, openAlerts, dossiers, droppedParties, rejects, doubted } = report;
  return [
    { title: 'Open alerts when the run closed', facts: openAlerts === null ? [] : listWaiting(openAlerts, report.run) },
    { title: 'Changes by severity', facts: (changes ?? []).map(toSeverityFact) },
    { title: 'Matches of first screenings by severity', facts: baseline.map(toSeverityFact) },
    {
      title: 'Dossiers',
      facts: dossiers === null ? [] : listDossierFacts(dossiers, report.run),
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

const listDossierFacts = (
  { sweeps, changes }: NonNullable<Report['dossiers']>,
  { timezone }: Report['run'],
): readonly Fact[] => [
  ...sweeps.map(({ startedAt, dossiers, proven, unprovenBecause }): Fact => {
    const proof = proven ? 'proven complete' : `not proven complete: ${unprovenBecause ?? 'no reason given'}`;
    return ['Dossiers seen', dossiers, `by the sweep of ${formatMinute(startedAt, timezone)}, ${proof}`];
  }),
  ['Changes', changes.length],
];

function toSeverityFact({ severity, count, sanctionHits, clusters }: ChangeGroup): Fact {
  const notes = [
    ...(sanctionHits === 0 ? [] : [`${countNoun(sanctionHits, 'hit')} for a sanction`]),
    ...(clusters.length === 0 ? [] : [`with ${countNoun(clusters.length, 'group')} of similar changes`]),
  ];
  return [codeWords.severity[severity], count, notes.join(', ') || null];
}

const listWaiting = (openAlerts: NonNullable<Report['openAlerts']>, { timezone }: Report['run']): readonly Fact[] => [
  ['Alerts', openAlerts.waiting, `${formatCount(openAlerts.overdue)} overdue`],
  ...(openAlerts.customers === null ? [] : [['of customers', openAlerts.customers] as const]),
  ...openAlerts.bySeverity.map(
    ({ severity, waiting, overdue }): Fact => [
      `of them ${codeWords.severity[severity].toLowerCase()}`,
      waiting,
      `${formatCount(overdue)} overdue`,
    ],
  ),
  ...(openAlerts.oldestAt === null
    ? []
    : [['Age', describeAges(openAlerts), `the oldest since ${formatMinute(openAlerts.oldestAt, timezone)}`] as const]),
  ['Pending approval', openAlerts.proposed],
  ...(openAlerts.absent === null ? [] : [['With an absent match, to be confirmed', openAlerts.absent] as const]),
  ['Not assigned', openAlerts.unassigned],
];

const listCovered = (
  { sums, formerRosterAt, states, failedBecause, skippedBecause }: Coverage,
  { timezone }: Report['run'],
): readonly FactBlock[] => [
  {
    title: 'Coverage: all sums hold',
    facts: [
      ...sums.map(toSumFact),
      ...(formerRosterAt === null
        ? []
        : [
            [
              'roster',
              formatMinute(formerRosterAt, timezone),
              'imported by an earlier run; this run imported no roster',
            ] as const,
          ]),
    ],
  },
  {
    title: 'Customers in scope by state',
    facts: (states ?? []).map(({ code, count }) => [codeWords.state[code].name, count, codeWords.state[code].meaning]),
  },
  { title: 'Failed because', facts: failedBecause.map(({ code, count }) => [describeReason(code), count]) },
  { title: 'Skipped because', facts: skippedBecause.map(({ code, count }) => [describeReason(code), count]) },
];

const toSumFact = ({ whole, parts, relation }: Sum): Fact => [
  whole.name,
  whole.count,
  `${relation === 'equal' ? '=' : 'at most'} ${parts.map(({ name, count }) => `${formatCount(count)} ${name}`).join(' + ')}`,
];

function toRunBlock({ run, calls, controls }: Report): FactBlock {
  const { startedAt, finishedAt, comparedWith, timezone } = run;
  return {
    title: 'The run',
    facts: [
      ['Run', run.runId, `${run.kind}, ${run.state}`],
      ['Time', formatMinute(startedAt, timezone), `took ${formatDuration(startedAt, finishedAt)}`],
      [
        'Compared with',
        comparedWith?.runId ?? 'no earlier run',
        comparedWith && formatMinute(comparedWith.finishedAt, timezone),
      ],
      ...(calls.searches === null ? [] : [['Searches', calls.searches, 'control searches not included'] as const]),
      ...(controls === null
        ? []
        : [
            [
              'Control searches',
              controls.length,
              controls.length === 0
                ? 'none are configured'
                : `${formatCount(controls.filter(({ verdict }) => verdict === 'passed').length)} passed`,
            ] as const,
          ]),
    ],
  };
}

const testWarning = 'TEST: not evidence';

/**
 * `report.xlsx`: the report as a workbook. Reviewers fill in the sheets `To review` and `Discrepancies`, and `review import` reads them. A part
 * that the run does not have has no sheet.
 */
export function renderReportWorkbook(report: Report): AsyncGenerator<Uint8Array> {
  const warning = report.run.mode === 'test' ? testWarning : null;
  const above =
    warning === null
      ? []
      : [toWarning(`${warning}. This run used a test key; its answers are not about real customers.`)];
  const changes = toChangesSection(report);
  const dossiers = toDossierSection(report);
  const notScreened = toNotScreenedSection(report);
  const sheets = [
    toSummarySheet(report, above),
    report.toReview && toReviewSheet(report.toReview, above),
    report.discrepancies &&
      toDiscrepancySheet(report.discrepancies, { at: report.run.finishedAt, timezone: report.run.timezone, above }),
    changes && toReadOnlySheet(changes, 3, above),
    dossiers && toReadOnlySheet(dossiers, 2, above),
    notScreened && toReadOnlySheet(notScreened, 2, above),
    toMethodSheet(report, above),
  ];
  return renderWorkbook({
    title: `${toTitle(report)}, ${report.run.runId}`,
    createdAt: report.run.finishedAt,
    timezone: report.run.timezone,
    warning,
    sheets: sheets.filter((sheet) => sheet !== null),
  });
}

function toMethodSheet(report: Report, above: readonly SheetRow[]): Sheet {
  const screens = report.changes !== null;
  const has = { alerts: report.toReview !== null, discrepancies: report.discrepancies !== null };
  return toFactSheet('Method', {
    top: [
      ...above,
      { cells: ['Method and instructions'], styles: ['title'] },
      ...(screens
        ? [
            'Each customer in scope is searched for at the service by name, type, birth date and country. The answer is compared with the last result that was reported or has a disposition. Each difference is a change. Matches of a first screening are listed separately.',
            'The service flags a match as a hit by its own threshold. Score and rank are shown as it sent them. Nightscreen assigns the severity by the table below. Settings may give a rule another severity. The settings digest identifies the settings in force.',
          ].map(toLine)
        : []),
      toLine(
        'The workbook contains only facts that were stored when the run closed. If it is written again later, it has the same bytes.',
      ),
    ],
    blocks: [
      { title: 'Evidence', facts: listEvidence(report) },
      {
        title: 'Severity: by the first rule that applies',
        facts: screens
          ? severityRules.map(({ rule, severity, when }) => [rule, codeWords.severity[severity], when])
          : [],
      },
      {
        title: 'States of a customer',
        facts: screens ? Object.values(codeWords.state).map(({ name, meaning }) => [name, null, meaning]) : [],
      },
    ],
    bottom: has.alerts || has.discrepancies ? listGuideRows('nightscreen review import report.xlsx', has) : [],
  });
}

function listEvidence({ run, evidence, toReview }: Report): readonly Fact[] {
  const { rosterSource, cadence } = evidence;
  return [
    ['Run', run.runId, `${formatMinute(run.startedAt, run.timezone)} to ${formatMinute(run.finishedAt, run.timezone)}`],
    ['Made by', `Nightscreen ${run.version}`],
    ['Organisation', run.organisation],
    ...(run.roster === null ? [] : [['Roster', run.roster, rosterSource?.source ?? null] as const]),
    ...(rosterSource === null
      ? []
      : [
          ['Roster read', formatMinute(rosterSource.importedAt, run.timezone), describeSnapshot(rosterSource)] as const,
          ['Roster digest', null, rosterSource.digest] as const,
        ]),
    ...(cadence === null ? [] : [['Screening frequency', describeCadence(cadence), cadence.reason] as const]),
    ['Settings digest', null, evidence.settingsDigest],
    ['Service key', run.mode, evidence.keyFingerprint === '' ? 'not used' : `fingerprint ${evidence.keyFingerprint}`],
    ...(toReview === null
      ? []
      : [['Sheet to review', `S-${toReview.sheetId}`, 'stored with each disposition that it imports'] as const]),
    [
      'Other files',
      null,
      'report.html, report.json, changes.csv, not-screened.csv and rejects.csv in the same folder; SHA256SUMS and manifest.json contain their digests',
    ],
  ];
}

/** The most rows of a read-only sheet: a workbook with all sheets full stays below the size limit of `review import`. */
export const maxTableRows = 20_000;

/** The first `maxTableRows` lines of a section; `firstColumns` identify a line. */
export function toReadOnlySheet<Line>(
  section: ListSection<Line>,
  firstColumns: number,
  above: readonly SheetRow[],
): Sheet {
  const lines = section.lines.slice(0, maxTableRows);
  const notice = `Only the first ${formatCount(lines.length)} of ${countNoun(section.count, 'line')} are listed. All of them are in ${section.file}.`;
  const isCut = lines.length < section.count;
  return toTableSheet({ ...section, lines }, firstColumns, { above: isCut ? [...above, toWarning(notice)] : above });
}
