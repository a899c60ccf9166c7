import type { RejectedRow } from '../roster/customer.js';
import { rejectWords } from './reason-words.js';
import { type Column, renderCsv } from './render-csv.js';
import type { Report } from './report.js';

/**
 * `rejects.csv`: where each rejected row stands and why, then its own fields under the source's headers, to be mended and
 * fed back. Fields that a spreadsheet could take for a formula get an apostrophe like everything else; report.json keeps
 * them as they came.
 */
export function renderRejectsCsv(report: Report): Generator<string> {
  const rejects = report.rejects ?? [];
  return renderCsv([...ownColumns, ...listHeaders(rejects).map(toFieldColumn)], rejects);
}

const ownColumns: readonly Column<RejectedRow>[] = [
  { header: 'rejected_line', cell: (row) => row.line },
  { header: 'rejected_column', cell: (row) => row.column },
  { header: 'rejected_reason', cell: (row) => row.reason },
  { header: 'rejected_because', cell: (row) => rejectWords[row.reason] },
  { header: 'rejected_reference', cell: (row) => row.reference },
];

/** In the order of the source; rows may differ where the number of fields is what is wrong with them. */
function listHeaders(rejects: readonly RejectedRow[]): readonly string[] {
  const headers = new Set<string>();
  for (const row of rejects) for (const header of Object.keys(row.fields)) headers.add(header);
  return [...headers];
}

function toFieldColumn(header: string): Column<RejectedRow> {
  return { header, cell: (row) => (Object.hasOwn(row.fields, header) ? (row.fields[header] ?? null) : null) };
}
