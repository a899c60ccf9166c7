import { toDate, toDayNumber } from '../local-time.js';
import { type DiscrepancyFacts, type ListedDiscrepancy, mostAcceptedDays } from '../reconciliation/discrepancy.js';
import { discrepancyWords } from '../vocabulary/discrepancies.js';
import { codeWords, describeDisposition, describeTopic, toWords } from '../vocabulary/words.js';
import { renderCsv } from './csv.js';
import { toPartyColumns } from './lists.js';
import { type DiscrepancyList, isNew, type ToReviewFacts, type WaitingAlert } from './run-facts.js';
import type { Column } from './section.js';
import {
  renderWorkbook,
  type Sheet,
  type SheetRow,
  toHeadingRow,
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

const party = toPartyColumns<WaitingAlert>((alert) => alert.party);

/** The columns of a working list: what reviewers fill in, customer, listed party, the code, then the rest. */
const alertColumns: readonly Column<WaitingAlert>[] = [
  { key: workingListColumns.disposition, width: 18, fillIn: true },
  { key: workingListColumns.reason, width: 28, fillIn: true },
  { key: workingListColumns.comment, width: 22, fillIn: true },
  { key: 'severity', width: 10, cell: ({ severity }) => severity },
  ...party.names,
  { key: 'listed_name', width: 26, title: 'Listed party', cell: ({ listed }) => listed.name },
  { key: 'risk_categories', width: 20, cell: ({ listed }) => join(listed.topics.map(describeTopic)) },
  { key: workingListColumns.alert, width: 26, cell: ({ mark }) => mark },
  { key: workingListColumns.sheet, width: 9, cell: ({ sheetId }) => `S-${sheetId}` },
  { key: 'due', width: 21, cell: ({ dueAt }) => dueAt },
  { key: 'new', sparse: true, width: 18, cell: ({ news }) => news && codeWords.alertNews[news] },
  {
    key: 'absence',
    sparse: true,
    width: 28,
    title: 'Match absent: confirm as no longer matched',
    cell: ({ absence }) => absence && codeWords.absence[absence],
  },
  { key: 'absent_since', sparse: true, width: 21, cell: ({ absentSince }) => absentSince },
  { key: 'alerts', sparse: true, width: 9, title: 'Alerts in this row', cell: ({ bulk }) => bulk?.alerts },
  {
    key: 'sample',
    sparse: true,
    width: 32,
    title: 'Customers to check as a sample',
    cell: ({ bulk }) => bulk?.sample.join('; '),
  },
  ...party.facts,
  { key: 'listed_birth_dates', width: 18, title: 'Listed party born', cell: ({ listed }) => join(listed.birthDates) },
  { key: 'listed_countries', width: 16, cell: ({ listed }) => join(listed.countries) },
  {
    key: 'birth_date_compared',
    width: 20,
    title: 'Birth dates',
    cell: ({ corroboration }) => codeWords.agreement[corroboration.birthDate],
  },
  {
    key: 'country_compared',
    width: 18,
    title: 'Countries compared',
    cell: ({ corroboration }) => codeWords.agreement[corroboration.country],
  },
  {
    key: 'former_disposition',
    width: 32,
    title: 'Former disposition of a similar match',
    cell: ({ replaced }, timezone) => replaced && describeReplaced(replaced, timezone),
  },
  {
    key: 'pending_approval',
    sparse: true,
    width: 17,
    cell: ({ proposal }) => proposal && describeDisposition(proposal.verdict),
  },
  { key: 'proposed_by', sparse: true, width: 17, cell: ({ proposal }) => proposal?.reviewer },
  { key: 'proposed_at', sparse: true, width: 21, cell: ({ proposal }) => proposal?.decidedAt },
  { key: 'proposed_reason', sparse: true, width: 32, cell: ({ proposal }) => proposal?.reason },
  { key: 'reopened_because', width: 18, cell: ({ reopenedBecause }) => join(reopenedBecause) },
  {
    key: 'last_disposition',
    width: 17,
    cell: ({ lastDecision }) => lastDecision && describeDisposition(lastDecision.verdict),
  },
  { key: 'last_disposition_by', width: 18, cell: ({ lastDecision }) => lastDecision?.reviewer },
  { key: 'last_disposition_at', width: 18, cell: ({ lastDecision }) => lastDecision?.decidedAt },
  { key: 'last_reason', width: 28, cell: ({ lastDecision }) => lastDecision?.reason },
  {
    key: 'legacy_disposition',
    width: 17,
    title: 'Disposition of an older system',
    cell: ({ legacy }) => legacy && describeDisposition(legacy.verdict),
  },
  { key: 'legacy_disposition_by', width: 18, cell: ({ legacy }) => legacy?.reviewer },
  { key: 'legacy_disposition_at', width: 18, cell: ({ legacy }) => legacy?.decidedAt },
  { key: 'legacy_reason', width: 28, cell: ({ legacy }) => legacy?.reason },
  {
    key: 'legacy_sample',
    width: 15,
    title: 'Checked again as a sample',
    cell: ({ legacy }) => (legacy?.isSample === true ? 'yes' : null),
  },
  { key: 'because', width: 22, title: 'Rule', cell: ({ rule }) => rule },
  { key: 'priority', width: 9, cell: ({ priority }) => priority },
  ...party.kind,
  { key: 'listed_kind', width: 13, cell: ({ listed }) => listed.schema },
  { key: 'hit', width: 10, title: 'Flagged as hit', cell: ({ listed }) => (listed.isHit ? 'yes' : 'no') },
  { key: 'score', width: 8, cell: ({ listed }) => listed.score },
  { key: 'rank', width: 7, cell: ({ listed }) => listed.rank },
  { key: 'open_since', width: 21, cell: ({ openedAt }) => openedAt },
  { key: 'assigned_to', width: 14, cell: ({ assignedTo }) => assignedTo },
  { key: 'match_id', width: 24, cell: ({ listed }) => listed.id },
  { key: 'mode', width: 8, cell: ({ mode }) => mode },
];

/** The columns of every list. */
const usualColumns = alertColumns.slice(0, 10);

/** The columns of a list of these alerts: those of every list and the sparse ones, or all. */
function chooseColumns(alerts: readonly WaitingAlert[], areAll: boolean): readonly Column<WaitingAlert>[] {
  if (areAll) return alertColumns;
  // Where all alerts are new, as after a first screening, the column says nothing.
  const areMixed = alerts.some((alert) => !isNew(alert));
  const isFilled = ({ key, sparse, cell }: Column<WaitingAlert>): boolean =>
    sparse === true && (areMixed || key !== 'new') && alerts.some((alert) => (cell?.(alert, 'UTC') ?? null) !== null);
  return [...usualColumns, ...alertColumns.slice(usualColumns.length).filter(isFilled)];
}

const join = (texts: readonly string[]): string => texts.join('; ');

/** A working list as CSV: one row per waiting alert, with empty columns for disposition, reason and comment. */
export const renderWorkingList = (
  alerts: readonly WaitingAlert[],
  { timezone, allColumns }: { timezone: string; allColumns: boolean },
): Generator<string> => renderCsv(chooseColumns(alerts, allColumns), alerts, timezone);

/** The sheet that reviewers fill in. */
export const listSheetName = 'To review';

/** The most rows of such a sheet; a CSV file has no limit. */
export const maxListRows = 10_000;

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
  around: { allColumns: boolean; above?: readonly SheetRow[]; below?: readonly SheetRow[] },
): Sheet =>
  toTableSheet({ title: listSheetName, columns: chooseColumns(alerts, around.allColumns), lines: alerts }, 3, {
    ...around,
    dropdowns: [
      {
        key: workingListColumns.disposition,
        values: Object.values(codeWords.disposition),
        isStrict: true,
        title: 'Disposition',
        hint: `One of ${Object.values(codeWords.disposition).join(', ')}, or empty.`,
      },
      {
        key: workingListColumns.reason,
        values: usualReasons,
        isStrict: false,
        title: 'Reason',
        hint: 'The reason of the disposition. Choose one, or write another.',
      },
    ],
  });

/** The alerts that wait when a run closes, as a sheet of its report to fill in. */
export function toReviewSheet({ alerts, waiting }: ToReviewFacts, above: readonly SheetRow[]): Sheet {
  const wholeListCommand = 'nightscreen review export --out review.csv';
  return toListSheet(alerts, {
    allColumns: true,
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
  // Below the alerts, so that the sheet saved as CSV begins with its headers, and beside the columns to fill in.
  const below = listTruncationNotices(shown.length, facts).map(({ cells }): SheetRow => {
    return { cells: ['', '', '', ...cells], styles: ['plain', 'plain', 'plain', 'heading'] };
  });
  return renderWorkbook({
    title: `Working list S-${facts.sheetId}`,
    createdAt: facts.exportedAt,
    timezone: facts.timezone,
    warning: null,
    organisation: facts.organisation,
    sheets: [
      toListSheet(shown, { allColumns: facts.allColumns, below }),
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
  /** Whether the alerts have all columns. */
  allColumns: boolean;
  /** The organisation that its commands name. */
  organisation?: string | undefined;
  /** The command that tries the import of the workbook. */
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
    listRows: () => [
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
  toHeadingRow(`What to fill in, in the yellow columns of the sheet "${listSheetName}"`),
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
  toHeadingRow(`What to fill in, in the yellow columns of the sheet "${discrepancySheetName}"`),
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
  toHeadingRow('How to import it'),
  toLine('Save the workbook as .xlsx. This command shows what it would do and stores nothing:'),
  toLine(importCommand),
  toLine('It prints the command that stores the dispositions. A second import of the same list changes nothing.'),
  { cells: [] },
  toHeadingRow('Notes'),
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
          `Only the first ${formatCount(shown)} of ${countNoun(waiting, 'open alert')} are listed: new ones, then the most urgent. For all of them, run: ${wholeListCommand}`,
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
  { key: 'severity', width: 10, cell: ({ severity }) => severity },
  { key: 'what', width: 34, title: 'What disagrees', cell: ({ kind }) => discrepancyWords[kind].title },
  { key: 'reference', width: 18, title: 'Customer', cell: ({ facts }) => describeReferences(facts) },
  { key: 'dossier', width: 24, cell: ({ facts: { dossier } }) => (isText(dossier) ? dossier : null) },
  { key: 'facts', width: 40, cell: ({ facts }) => join(listFacts(facts).map((fact) => fact.join(': '))) },
  { key: discrepancyListColumns.acceptUntil, width: 15, fillIn: true },
  { key: discrepancyListColumns.reason, width: 36, fillIn: true },
  { key: 'next', width: 44, title: 'What to do', cell: ({ kind }) => discrepancyWords[kind].next },
  { key: 'open_since', width: 21, cell: ({ openedAt }) => openedAt },
  { key: 'seen', width: 8, title: 'Seen in comparisons', cell: ({ seen }) => seen },
  {
    key: 'state',
    width: 16,
    cell: ({ acceptance }) => (acceptance === null ? 'open' : acceptance.isFinal ? 'accepted' : 'pending approval'),
  },
  {
    key: 'accepted_until',
    width: 13,
    title: 'Accepted or proposed until',
    cell: ({ acceptance }) => acceptance?.until,
  },
  { key: 'accepted_by', width: 17, title: 'Accepted or proposed by', cell: ({ acceptance }) => acceptance?.reviewer },
  { key: 'accepted_because', width: 32, title: 'Because', cell: ({ acceptance }) => acceptance?.reason },
  { key: 'roster', width: 14, cell: ({ roster }) => roster },
  { key: 'kind', width: 26, title: 'Code', cell: ({ kind }) => kind },
  { key: discrepancyListColumns.discrepancy, width: 26, cell: ({ mark }) => mark },
];

/** Discrepancies as CSV, with empty columns for the last day of acceptance and the reason. */
export const renderDiscrepancyList = (listed: readonly ListedDiscrepancy[]): Generator<string> =>
  renderCsv(discrepancyColumns, listed);

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
  return toTableSheet({ title: discrepancySheetName, columns: discrepancyColumns, lines: shown }, 3, {
    above: [...above, ...cut],
    dropdowns: [
      {
        key: discrepancyListColumns.acceptUntil,
        title: 'Accept until',
        isStrict: false,
        // One day below the limit: the reviewers' time zone may have changed since.
        values: [30, 90, mostAcceptedDays - 1].map((days) => toDate(toDayNumber(at, timezone) + days)),
        hint: `The last day (yyyy-mm-dd), at most ${mostAcceptedDays} days ahead. A critical one cannot be accepted.`,
      },
    ],
  });
}
