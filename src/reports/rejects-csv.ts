import type { RejectedRow } from '../roster/customer.js';
import type { partyFilePrefix, RejectsColumn, surplusColumn } from '../roster/rejects-columns.js';
import { markFormula } from './neutralise-formula.js';
import { rejectWords } from './reason-words.js';
import { type Cell, type Column, renderCsv } from './render-csv.js';
import type { Report } from './report.js';

const partyPrefix: typeof partyFilePrefix = 'parties: ';
const surplus: typeof surplusColumn = 'rejected_surplus';

/**
 * `rejects.csv`: each rejected row's own fields under the source's headers, in their order, then where it stands and why; to be
 * mended and fed back by the same mapping, which knows our columns. What a spreadsheet could take for a formula gets an
 * apostrophe like everything else, which comes off again when the file is read; report.json keeps the fields as they came.
 */
export function renderRejectsCsv(report: Report): Generator<string> {
  return renderRows((report.rejects ?? []).filter((row) => !isOfParties(row)));
}

/** `rejects-parties.csv`: the same for rows of related parties, whose sources have headers of their own. */
export function renderPartyRejectsCsv(report: Report): Generator<string> {
  return renderRows((report.rejects ?? []).filter(isOfParties));
}

/** Tells whether rows of related parties were rejected. */
export function hasPartyRejects(report: Report): boolean {
  return report.rejects?.some(isOfParties) ?? false;
}

/** Tells whether a rejected row is of a source of related parties. */
export function isOfParties(row: RejectedRow): boolean {
  return row.file?.startsWith(partyPrefix) ?? false;
}

const ownCells: Readonly<Record<RejectsColumn, (row: RejectedRow) => Cell>> = {
  rejected_line: (row) => row.line,
  rejected_file: (row) => row.file,
  rejected_column: (row) => row.column,
  rejected_reason: (row) => row.reason,
  rejected_because: (row) => rejectWords[row.reason],
  rejected_value: (row) => row.valueClass,
  rejected_reference: (row) => row.reference,
  rejected_surplus: (row) => readField(row, surplus),
};
const ownColumns = Object.entries(ownCells).map(([header, cell]): Column<RejectedRow> => ({ header, cell }));

function renderRows(rejects: readonly RejectedRow[]): Generator<string> {
  return renderCsv([...listHeaders(rejects).map(toFieldColumn), ...ownColumns], rejects);
}

/** In the order of the source; rows of several sources may differ. */
function listHeaders(rejects: readonly RejectedRow[]): readonly string[] {
  const headers = new Set<string>();
  for (const row of rejects) for (const header of Object.keys(row.fields)) headers.add(header);
  headers.delete(surplus);
  return [...headers];
}

function toFieldColumn(header: string): Column<RejectedRow> {
  return { header: markFormula(header), cell: (row) => readField(row, header) };
}

function readField(row: RejectedRow, header: string): Cell {
  const text = Object.hasOwn(row.fields, header) ? row.fields[header] : undefined;
  return text === undefined ? null : markFormula(text);
}
