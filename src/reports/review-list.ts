import { toDate, toDayNumber } from '../local-time.js';
import {
  type DiscrepancyFacts,
  discrepancyFacts,
  type ListedDiscrepancy,
  mostAcceptedDays,
} from '../reconciliation/discrepancy.js';
import { codeWords, describeDisposition, describeTopic, toWords } from '../vocabulary/words.js';
import { type Column, partyColumns, renderCsv } from './csv.js';
import type { DiscrepancyList, ToReviewFacts, WaitingAlert } from './list-facts.js';
import {
  renderWorkbook,
  type Sheet,
  type SheetLayout,
  type SheetRow,
  toHeading,
  toLine,
  toTableSheet,
  toWarning,
} from './spreadsheet.js';
import { countNoun, formatCount, formatMinute } from './text.js';
import { describeReplaced } from './words.js';

/** The columns that are read back: the code of the alert, its sheet, and what the reviewer fills in. */
export const workingListColumns = {
  alert: 'alert',
  sheet: 'sheet',
  disposition: 'disposition',
  reason: 'reason',
  comment: 'comment',
} as const;

/** All columns of a working list. */
export const toWorkingListTable = (timezone: string): readonly Column<WaitingAlert>[] => [
  { header: workingListColumns.alert, cell: ({ mark }) => mark },
  { header: workingListColumns.sheet, cell: ({ sheetId }) => `S-${sheetId}` },
  { header: 'severity', cell: ({ severity }) => severity },
  { header: 'priority', cell: ({ priority }) => priority },
  { header: 'due', cell: ({ dueAt }) => dueAt?.toISOString() ?? null },
  ...partyColumns<WaitingAlert>(({ party }) => party),
  { header: 'listed_name', cell: ({ listed }) => listed.name },
  { header: 'risk_categories', cell: ({ listed }) => listed.topics.map(describeTopic).join('; ') },
  { header: 'listed_birth_dates', cell: ({ listed }) => listed.birthDates.join('; ') },
  { header: 'birth_date_compared', cell: ({ corroboration }) => codeWords.agreement[corroboration.birthDate] },
  { header: 'listed_countries', cell: ({ listed }) => listed.countries.join('; ') },
  { header: 'country_compared', cell: ({ corroboration }) => codeWords.agreement[corroboration.country] },
  { header: 'listed_kind', cell: ({ listed }) => listed.schema },
  { header: 'hit', cell: ({ listed }) => (listed.isHit ? 'yes' : 'no') },
  { header: 'score', cell: ({ listed }) => listed.score },
  { header: 'rank', cell: ({ listed }) => listed.rank },
  { header: 'match_id', cell: ({ listed }) => listed.id },
  { header: 'mode', cell: ({ mode }) => mode },
  { header: 'because', cell: ({ rule }) => rule },
  { header: 'open_since', cell: ({ openedAt }) => openedAt.toISOString() },
  { header: 'reopened_because', cell: ({ reopenedBecause }) => reopenedBecause.join('; ') },
  { header: 'assigned_to', cell: ({ assignedTo }) => assignedTo },
  { header: 'pending_approval', cell: ({ proposal }) => proposal && describeDisposition(proposal.verdict) },
  { header: 'proposed_by', cell: ({ proposal }) => proposal?.reviewer ?? null },
  { header: 'proposed_at', cell: ({ proposal }) => proposal?.decidedAt.toISOString() ?? null },
  { header: 'proposed_reason', cell: ({ proposal }) => proposal?.reason ?? null },
  { header: 'last_disposition', cell: ({ lastDecision }) => lastDecision && describeDisposition(lastDecision.verdict) },
  { header: 'last_disposition_by', cell: ({ lastDecision }) => lastDecision?.reviewer ?? null },
  { header: 'last_disposition_at', cell: ({ lastDecision }) => lastDecision?.decidedAt.toISOString() ?? null },
  { header: 'last_reason', cell: ({ lastDecision }) => lastDecision?.reason ?? null },
  { header: 'legacy_disposition', cell: ({ legacy }) => legacy && describeDisposition(legacy.verdict) },
  { header: 'legacy_disposition_by', cell: ({ legacy }) => legacy?.reviewer ?? null },
  { header: 'legacy_disposition_at', cell: ({ legacy }) => legacy?.decidedAt ?? null },
  { header: 'legacy_reason', cell: ({ legacy }) => legacy?.reason ?? null },
  { header: 'legacy_sample', cell: ({ legacy }) => (legacy?.isSample === true ? 'yes' : null) },
  { header: workingListColumns.disposition, cell: () => null },
  { header: workingListColumns.reason, cell: () => null },
  { header: workingListColumns.comment, cell: () => null },
  { header: 'absence', cell: ({ absence }) => absence && codeWords.absence[absence] },
  { header: 'absent_since', cell: ({ absentSince }) => absentSince?.toISOString() ?? null },
  { header: 'alerts', cell: ({ bulk }) => bulk?.alerts ?? null },
  { header: 'sample', cell: ({ bulk }) => bulk?.sample.join('; ') ?? null },
  { header: 'former_disposition', cell: ({ replaced }) => replaced && describeReplaced(replaced, timezone) },
];

/** A working list as CSV: one row per waiting alert, with empty columns for disposition, reason and comment. */
export const renderWorkingList = (alerts: readonly WaitingAlert[], timezone: string): Generator<string> =>
  renderCsv(toWorkingListTable(timezone), alerts);

/** The sheet that reviewers fill in. */
export const listSheetName = 'To review';

/** The most rows of such a sheet; a CSV file has no limit. */
export const maxListRows = 10_000;

// In reading order: customer, listed party, columns to fill in, then the rest. Widths in characters.
const layout: SheetLayout = [
  ['severity', 10],
  ['reference', 14, 'Customer'],
  ['name', 26],
  ['listed_name', 26, 'Listed party'],
  ['risk_categories', 20],
  [workingListColumns.disposition, 20],
  [workingListColumns.reason, 32],
  [workingListColumns.comment, 32],
  ['due', 21],
  ['absence', 28, 'Match absent: confirm as no longer matched'],
  ['absent_since', 21],
  ['alerts', 9, 'Alerts in this row'],
  ['sample', 32, 'Customers to check as a sample'],
  ['birth_date', 12, 'Born'],
  ['listed_birth_dates', 18, 'Listed party born'],
  ['birth_date_compared', 20, 'Birth dates'],
  ['countries', 11],
  ['listed_countries', 16],
  ['country_compared', 18, 'Countries compared'],
  ['former_disposition', 32, 'Former disposition of a similar match'],
  ['pending_approval', 17],
  ['proposed_by', 17],
  ['proposed_at', 21],
  ['proposed_reason', 32],
  ['reopened_because', 18, 'Re-opened because'],
  ['last_disposition', 17],
  ['last_disposition_by', 18],
  ['last_disposition_at', 18],
  ['last_reason', 28],
  ['legacy_disposition', 17, 'Disposition of an older system'],
  ['legacy_disposition_by', 18],
  ['legacy_disposition_at', 18],
  ['legacy_reason', 28],
  ['legacy_sample', 15, 'Checked again as a sample'],
  ['because', 22, 'Rule'],
  ['priority', 9],
  ['role', 12],
  ['type', 9],
  ['risk_tier', 10],
  ['listed_kind', 13],
  ['hit', 10, 'Flagged as hit'],
  ['score', 8],
  ['rank', 7],
  ['open_since', 21],
  ['assigned_to', 14],
  ['match_id', 24],
  ['mode', 8],
  [workingListColumns.alert, 26],
  [workingListColumns.sheet, 9],
];
// A validation formula holds at most 255 characters. Reviewers may write other reasons.
const usualReasons = [
  'another birth date',
  'another country',
  'another name',
  'person and organisation',
  'birth date and country agree',
  'customer says so',
  'document seen',
  'too little information',
  'no longer on the list',
  'customer record corrected',
];
/** Alerts as a sheet to fill in; rows `above` the headers and `below` the last alert. */
const toListSheet = (
  alerts: readonly WaitingAlert[],
  { timezone, above = [], below = [] }: { timezone: string; above?: readonly SheetRow[]; below?: readonly SheetRow[] },
): Sheet =>
  toTableSheet(alerts, {
    name: listSheetName,
    columns: toWorkingListTable(timezone),
    layout,
    above,
    below,
    firstColumns: layout.findIndex(([header]) => header === 'name') + 1,
    fillIn: [workingListColumns.disposition, workingListColumns.reason, workingListColumns.comment],
    dropdowns: [
      {
        header: workingListColumns.disposition,
        values: Object.values(codeWords.disposition),
        isStrict: true,
        title: 'Disposition',
        hint: `One of ${Object.values(codeWords.disposition).join(', ')}, or empty.`,
      },
      {
        header: workingListColumns.reason,
        values: usualReasons,
        isStrict: false,
        title: 'Reason',
        hint: 'The reason of the disposition. Choose one, or write another.',
      },
    ],
  });

/** The alerts that wait when a run closes, as a sheet of its report to fill in. */
export function toReviewSheet({ alerts, waiting }: ToReviewFacts, above: readonly SheetRow[], timezone: string): Sheet {
  const wholeListCommand = 'nightscreen review export --out review.csv';
  return toListSheet(alerts, {
    timezone,
    above: [...above, ...listTruncationNotices(alerts.length, { waiting, wholeListCommand })],
  });
}

/**
 * A working list as a workbook (XLSX) with the first `maxRows` alerts. All cells except the columns to fill in are locked without a password. No
 * cell is a formula.
 */
export function renderWorkingListWorkbook(
  alerts: readonly WaitingAlert[],
  facts: WorkbookFacts,
  maxRows = maxListRows,
): AsyncGenerator<Uint8Array> {
  const shown = alerts.slice(0, maxRows);
  // Below the alerts, so that the sheet saved as CSV begins with its headers.
  const below = listTruncationNotices(shown.length, facts);
  return renderWorkbook({
    title: `Working list S-${facts.sheetId}`,
    createdAt: facts.exportedAt,
    timezone: facts.timezone,
    warning: null,
    sheets: [
      toListSheet(shown, { timezone: facts.timezone, below }),
      ...(facts.discrepancySheet ? [facts.discrepancySheet] : []),
      toGuideSheet(shown.length, facts),
    ],
  });
}

const discrepancySheetName = 'Discrepancies';

/** The facts of a working list's workbook. */
export interface WorkbookFacts {
  sheetId: number;
  exportedAt: Date;
  /** The IANA time zone of the reviewers. */
  timezone: string;
  /** The number of open alerts, in the workbook or not. */
  waiting: number;
  /** Null where there are no discrepancies. */
  discrepancySheet?: Sheet | null;
  /** The command that imports the workbook. */
  importCommand: string;
  /** The command that writes a list of all open alerts. */
  wholeListCommand: string;
}

function toGuideSheet(shown: number, facts: WorkbookFacts): Sheet {
  const { sheetId, exportedAt, timezone, discrepancySheet = null, importCommand } = facts;
  const title = `Working list S-${sheetId} of ${formatMinute(exportedAt, timezone)}: ${countNoun(shown, 'open alert')}`;
  return {
    name: 'How to',
    columns: [{ width: 100, style: 'plain' }],
    rows: [
      { cells: [title], styles: ['title'] },
      toLine(`Times are in ${timezone}.`),
      ...listTruncationNotices(shown, facts),
      ...listGuideRows(importCommand, { alerts: true, discrepancies: discrepancySheet !== null }),
    ],
    table: null,
    dropdowns: [],
  };
}

const alertGuideRows: readonly SheetRow[] = [
  { cells: [] },
  toHeading(`What to fill in, in the yellow columns of the sheet "${listSheetName}"`),
  toLine('Disposition: one of these words. Leave it empty for an alert that stays as it is.'),
  toLine('- true match: the listed party is the customer.'),
  toLine('- false positive: the listed party is not the customer.'),
  toLine('- inconclusive: there is not enough information; the alert stays open.'),
  toLine('- no longer matched: the match is absent, and nothing remains to be done.'),
  toLine('Reason: every disposition needs one. Choose a usual reason, or write another.'),
  toLine('Comment: further information to keep with the disposition.'),
];

const discrepancyGuideRows: readonly SheetRow[] = [
  { cells: [] },
  toHeading(`What to fill in, in the yellow columns of the sheet "${discrepancySheetName}"`),
  toLine(
    `Accept until: the last day of the acceptance, as yyyy-mm-dd, at most ${mostAcceptedDays} days ahead. The discrepancy re-opens after that day, and when its facts change. A critical one cannot be accepted. Leave it empty for a discrepancy that must be corrected.`,
  ),
  toLine('Reason: each acceptance needs one.'),
];

/** How to fill in the sheets of a workbook, and how to import it. */
export const listGuideRows = (
  importCommand: string,
  has: { alerts: boolean; discrepancies: boolean },
): readonly SheetRow[] => [
  ...(has.alerts ? alertGuideRows : []),
  ...(has.discrepancies ? discrepancyGuideRows : []),
  { cells: [] },
  toHeading('How to import it'),
  toLine('Save the workbook as .xlsx. This command shows what it would do and stores nothing:'),
  toLine(importCommand),
  toLine('The same command with --apply stores the dispositions. A second import of the same list changes nothing.'),
  { cells: [] },
  toHeading('Notes'),
  toLine(
    'The other cells are locked against accidental changes. Sort and filter by the arrows in the headings, which move whole rows. To remove rows, remove the sheet protection first; it has no password.',
  ),
  toLine(
    'The import reads only the columns that you fill in and the column Alert or Discrepancy. Changes that a spreadsheet makes to dates, scores and ids do not matter.',
  ),
  toLine('If an alert changed after the list was written, the import refuses its disposition and says why.'),
];

const listTruncationNotices = (
  shown: number,
  { waiting, wholeListCommand }: Pick<WorkbookFacts, 'waiting' | 'wholeListCommand'>,
): readonly SheetRow[] =>
  waiting > shown
    ? [
        toWarning(
          `Only the ${formatCount(shown)} most urgent of ${countNoun(waiting, 'open alert')} are listed. For all of them, run: ${wholeListCommand}`,
        ),
      ]
    : [];

/** The columns of discrepancies that are read back. */
export const discrepancyListColumns = {
  discrepancy: 'discrepancy',
  acceptUntil: 'accept_until',
  reason: 'reason',
} as const;

const factWords: Readonly<Record<string, string>> = {
  status: 'status',
  updatedAt: 'last changed',
  roster: 'roster says',
  rosterName: 'roster says',
  dossierName: 'dossier says',
  name: 'name',
  rosterDate: 'roster says',
  dossierDate: 'dossier says',
  rosterCountries: 'roster says',
  dossierCountry: 'dossier says',
  former: 'former name',
  changedAt: 'changed',
  alerts: 'open alerts',
  others: 'other dossiers',
  stated: 'rows by its source',
  read: 'rows read',
  held: 'held',
};

/** The facts that disagree, each in words with its value. */
export const listFacts = (facts: DiscrepancyFacts['facts']): readonly (readonly [words: string, value: string])[] =>
  Object.entries(facts).flatMap(([name, value]) => {
    const words = factWords[name];
    if (words === undefined || value === null) return [];
    const text = Array.isArray(value) ? value.slice(0, 5).join(', ') : String(value);
    return [[words, toWords(text)] as const];
  });

const isText = (value: unknown): value is string => typeof value === 'string';

/** The customers of a discrepancy: up to `most` references of `count`. */
export function listReferences({ reference, references, customers }: DiscrepancyFacts['facts'], most: number) {
  if (!Array.isArray(references)) return { shown: isText(reference) ? [reference] : [], count: 1 };
  return { shown: references.filter(isText).slice(0, most), count: Number(customers) };
}

function describeReferences(facts: DiscrepancyFacts['facts']): string | null {
  const { shown, count } = listReferences(facts, 5);
  if (shown.length === 0) return null;
  return `${shown.join('; ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
}

const discrepancyColumns: readonly Column<ListedDiscrepancy>[] = [
  { header: discrepancyListColumns.discrepancy, cell: ({ mark }) => mark },
  { header: 'severity', cell: ({ severity }) => severity },
  { header: 'what', cell: ({ kind }) => discrepancyFacts[kind].title },
  { header: 'kind', cell: ({ kind }) => kind },
  { header: 'roster', cell: ({ roster }) => roster },
  { header: 'reference', cell: ({ facts }) => describeReferences(facts) },
  { header: 'dossier', cell: ({ facts: { dossier } }) => (isText(dossier) ? dossier : null) },
  {
    header: 'facts',
    cell: ({ facts }) =>
      listFacts(facts)
        .map((fact) => fact.join(': '))
        .join('; '),
  },
  { header: 'open_since', cell: ({ openedAt }) => openedAt.toISOString() },
  { header: 'seen', cell: ({ seen }) => seen },
  { header: 'next', cell: ({ kind }) => discrepancyFacts[kind].next },
  {
    header: 'state',
    cell: ({ acceptance }) => (acceptance === null ? 'open' : acceptance.isFinal ? 'accepted' : 'pending approval'),
  },
  { header: 'accepted_until', cell: ({ acceptance }) => acceptance?.until ?? null },
  { header: 'accepted_by', cell: ({ acceptance }) => acceptance?.reviewer ?? null },
  { header: 'accepted_because', cell: ({ acceptance }) => acceptance?.reason ?? null },
  { header: discrepancyListColumns.acceptUntil, cell: () => null },
  { header: discrepancyListColumns.reason, cell: () => null },
];

/** Discrepancies as CSV, with empty columns for the last day of acceptance and the reason. */
export const renderDiscrepancyList = (listed: readonly ListedDiscrepancy[]): Generator<string> =>
  renderCsv(discrepancyColumns, listed);

const discrepancyLayout: SheetLayout = [
  ['severity', 10],
  ['what', 34, 'What disagrees'],
  ['reference', 18, 'Customer'],
  ['dossier', 24],
  ['facts', 40],
  [discrepancyListColumns.acceptUntil, 15],
  [discrepancyListColumns.reason, 36],
  ['next', 44, 'What to do'],
  ['open_since', 21],
  ['seen', 8, 'Seen in comparisons'],
  ['state', 16],
  ['accepted_until', 13, 'Accepted or proposed until'],
  ['accepted_by', 17, 'Accepted or proposed by'],
  ['accepted_because', 32, 'Because'],
  ['roster', 14],
  ['kind', 26, 'Code'],
  [discrepancyListColumns.discrepancy, 26],
];

/** Discrepancies as a sheet to fill in, written at `at`; null where there are none. */
export function toDiscrepancySheet(
  { count, listed }: DiscrepancyList,
  { at, timezone, above = [] }: { at: Date; timezone: string; above?: readonly SheetRow[] },
): Sheet | null {
  if (listed.length === 0) return null;
  const shown = listed.slice(0, maxListRows);
  const cut =
    count > shown.length
      ? [
          toWarning(
            `Only the first ${shown.length} of ${countNoun(count, 'discrepancy', 'discrepancies')} are listed. For all of them, run: nightscreen review export --discrepancies --out discrepancies.csv`,
          ),
        ]
      : [];
  return toTableSheet(shown, {
    name: discrepancySheetName,
    columns: discrepancyColumns,
    layout: discrepancyLayout,
    firstColumns: 3,
    above: [...above, ...cut],
    fillIn: [discrepancyListColumns.acceptUntil, discrepancyListColumns.reason],
    dropdowns: [
      {
        header: discrepancyListColumns.acceptUntil,
        title: 'Accept until',
        isStrict: false,
        // One day below the limit: the reviewers' time zone may have changed since.
        values: [30, 90, mostAcceptedDays - 1].map((days) => toDate(toDayNumber(at, timezone) + days)),
        hint: `The last day (yyyy-mm-dd), at most ${mostAcceptedDays} days ahead. A critical one cannot be accepted.`,
      },
    ],
  });
}
