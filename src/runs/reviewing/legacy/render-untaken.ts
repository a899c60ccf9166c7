import { markFormula } from '../../../reports/neutralise-formula.js';
import { type Column, renderCsv } from '../../../reports/render-csv.js';
import type { JudgedRow } from './judge-legacy-rows.js';
import { legacyColumns } from './read-legacy-rows.js';

const words = {
  unknown_customer: 'no such customer, or none of that roster',
  several_rosters: 'the customer is in several rosters: name one in the column roster',
  not_listed: 'nobody of that match id or name is listed for the customer today',
  ambiguous: 'more than one match of the customer fits',
  name_differs: 'the match id is that of somebody with another name today',
  birth_date_differs: 'who is listed has another birth date, or none to compare',
  unreadable: 'the row cannot be read',
  decided_here: 'somebody has decided about it here',
  taken_otherwise: 'another decision about it was taken over before',
  contradicted: 'another row about the same match says otherwise',
} as const;

/** A row that is not taken. */
export type UntakenRow = Extract<JudgedRow, { kind: 'unmatched' | 'refused' }>;

/** The rows that are not taken, in their order. */
export const findUntaken = (rows: readonly JudgedRow[]): readonly UntakenRow[] =>
  rows.flatMap((row) => (row.kind === 'unmatched' || row.kind === 'refused' ? [row] : []));

/** Why a row is not taken, in words. */
export const describeUntaken = (row: UntakenRow): string =>
  row.kind === 'refused' && row.problem !== null ? row.problem : words[row.reason];

const columns: readonly Column<UntakenRow>[] = [
  { header: 'line', cell: ({ row }) => row.line },
  { header: 'problem', cell: describeUntaken },
  ...legacyColumns.map((header): Column<UntakenRow> => ({ header, cell: ({ row }) => markFormula(row.cells[header]) })),
];

/** The rows that are not taken as CSV, with why, to be mended and given in again. */
export const renderUntaken = (rows: readonly UntakenRow[]): string => [...renderCsv(columns, rows)].join('');
