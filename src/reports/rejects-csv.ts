import type { RejectedRow, RejectReason } from '../roster/customer.js';
import type { RejectsColumn, surplusColumn } from '../roster/rejects-columns.js';
import { markFormula } from './neutralise-formula.js';
import { doubtWords, rejectWords } from './reason-words.js';
import { type Cell, type Column, renderCsv } from './render-csv.js';
import type { Report } from './report.js';
import { isOfParties } from './run-facts.js';
import { markHidden } from './visible-text.js';

const surplus: typeof surplusColumn = 'rejected_surplus';

/**
 * `rejects.csv`: the own fields of each row that was rejected, or accepted with values in doubt, under the source's headers, in their order, then
 * where it stands, why, and what became of it; to be
 * mended and fed back by the same mapping, which knows our columns. What a spreadsheet could take for a formula gets an
 * apostrophe like everything else, and what cannot be seen is shown as its code point; both come off again when the file is read; report.json keeps the fields as they came.
 */
export function renderRejectsCsv(report: Report): Generator<string> {
  return renderRows(listRows(report).filter((row) => !isOfParties(row)));
}

/** `rejects-parties.csv`: the same for rows of related parties, whose sources have headers of their own. */
export function renderPartyRejectsCsv(report: Report): Generator<string> {
  return renderRows(listRows(report).filter(isOfParties));
}

/** Tells whether rows of related parties were rejected, or accepted with values in doubt. */
export function hasPartyRejects(report: Report): boolean {
  return listRows(report).some(isOfParties);
}

/** A row to be mended; `reasons` are one for a rejected row, and one for each value in doubt of an accepted one. */
interface RowToMend extends Pick<RejectedRow, 'line' | 'file' | 'column' | 'valueClass' | 'reference' | 'fields'> {
  reasons: readonly { code: string; words: string }[];
  outcome: 'rejected' | 'accepted';
}

function listRows({ rejects, doubted }: Report): readonly RowToMend[] {
  const rejected = (rejects ?? []).map(
    ({ reason, ...row }): RowToMend => ({ ...row, reasons: [toReason(reason)], outcome: 'rejected' }),
  );
  const accepted = doubted.map(
    ({ doubts, ...row }): RowToMend => ({
      ...row,
      column: doubts.map(({ column }) => column).join('; '),
      valueClass: null,
      reasons: doubts.map(({ why }) => ({ code: why, words: doubtWords[why] })),
      outcome: 'accepted',
    }),
  );
  return [...rejected, ...accepted];
}

const toReason = (code: RejectReason): RowToMend['reasons'][number] => ({ code, words: rejectWords[code] });

const rowOutcomeWords = {
  rejected: 'rejected',
  accepted: 'accepted: the customer is searched for, and the value counts as unknown',
} as const;

const ownCells: Readonly<Record<RejectsColumn, (row: RowToMend) => Cell>> = {
  rejected_line: (row) => row.line,
  rejected_file: (row) => row.file,
  rejected_column: (row) => row.column,
  rejected_reason: (row) => row.reasons.map(({ code }) => code).join('; '),
  rejected_because: (row) => row.reasons.map(({ words }) => words).join('; '),
  rejected_value: (row) => row.valueClass,
  rejected_reference: (row) => row.reference,
  rejected_surplus: (row) => readField(row, surplus),
  rejected_outcome: (row) => rowOutcomeWords[row.outcome],
};
const ownColumns = Object.entries(ownCells).map(([header, cell]): Column<RowToMend> => ({ header, cell }));

function renderRows(rejects: readonly RowToMend[]): Generator<string> {
  return renderCsv([...listHeaders(rejects).map(toFieldColumn), ...ownColumns], rejects);
}

/** In the order of the source; rows of several sources may differ. */
function listHeaders(rejects: readonly RowToMend[]): readonly string[] {
  const headers = new Set<string>();
  for (const row of rejects) for (const header of Object.keys(row.fields)) headers.add(header);
  headers.delete(surplus);
  return [...headers];
}

function toFieldColumn(header: string): Column<RowToMend> {
  return { header: markFormula(markHidden(header)), cell: (row) => readField(row, header) };
}

function readField(row: Pick<RowToMend, 'fields'>, header: string): Cell {
  const text = Object.hasOwn(row.fields, header) ? row.fields[header] : undefined;
  return text === undefined ? null : markFormula(markHidden(text));
}
