import { markFormula } from '../../../reports/neutralise-formula.js';
import { type Column, renderCsv } from '../../../reports/render-csv.js';
import { gatherBy } from '../../replaying/gather-by.js';
import type { Unmatched } from './find-legacy-item.js';
import type { JudgedRow, LegacyRefusal } from './judge-legacy-rows.js';
import { type LegacyRow, legacyColumns } from './read-legacy-rows.js';

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

/** A row that is not taken, or not on every account where its match is. */
export interface UntakenRow {
  row: LegacyRow;
  reason: Unmatched | LegacyRefusal;
  /** The same in words, and on which account where it is not all. */
  problem: string;
}

/** The rows that are not taken, each once and in their order. */
export function findUntaken(rows: readonly JudgedRow[]): readonly UntakenRow[] {
  const untaken = rows.flatMap((row) => (row.kind === 'unmatched' || row.kind === 'refused' ? [row] : []));
  return [...gatherBy(untaken, ({ row }) => row.line).values()].flatMap((judged) => {
    const [first] = judged;
    if (first === undefined) return [];
    const problems = judged.map((one) => {
      const problem = one.kind === 'refused' && one.problem !== null ? one.problem : words[one.reason];
      return one.mode === null ? problem : `${one.mode} account: ${problem}`;
    });
    return { row: first.row, reason: first.reason, problem: problems.join('; ') };
  });
}

const columns: readonly Column<UntakenRow>[] = [
  { header: 'line', cell: ({ row }) => row.line },
  { header: 'problem', cell: ({ problem }) => problem },
  ...legacyColumns.map((header): Column<UntakenRow> => ({ header, cell: ({ row }) => markFormula(row.cells[header]) })),
];

/** The rows that are not taken as CSV, with why, to be mended and given in again. */
export const renderUntaken = (rows: readonly UntakenRow[]): string => [...renderCsv(columns, rows)].join('');
