import type { RejectReason } from './customer.js';

/** The columns that `rejects.csv` adds to those of the source. */
const rejectsColumns = [
  'rejected_line',
  'rejected_file',
  'rejected_column',
  'rejected_reason',
  'rejected_because',
  'rejected_value',
  'rejected_reference',
  'rejected_surplus',
  'rejected_outcome',
] as const;
export type RejectsColumn = (typeof rejectsColumns)[number];

/** Where a rejected row keeps the fields for which the source has no column. */
export const surplusColumn = 'rejected_surplus' satisfies RejectsColumn;

/** Where `rejects.csv` says why; of a reason that only a person can lift, until the cell is emptied. */
export const reasonColumn = 'rejected_reason' satisfies RejectsColumn;

/** Where `rejects.csv` says in which file a row stood. */
export const fileColumn = 'rejected_file' satisfies RejectsColumn;

const ours: ReadonlySet<string> = new Set(rejectsColumns);

/** What is wrong with the record itself, so that its fields alone cannot show whether it has been mended. */
export const structuralReasons: readonly RejectReason[] = ['malformed_csv', 'wrong_column_count'];

/** Tells whether a header is one of those that `rejects.csv` adds. */
export function isRejectsColumn(header: string): boolean {
  return ours.has(header);
}

/** Tells whether headers are those of a `rejects.csv`, of which somebody may have deleted columns. */
export function isRejectsHeader(headers: readonly string[]): boolean {
  return headers.filter(isRejectsColumn).length >= 2;
}

/** What the file of a related party begins with, beside its source: such rows are never rows of the roster itself. */
export const partyFilePrefix = 'parties: ';
