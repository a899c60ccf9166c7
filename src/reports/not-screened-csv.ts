import { readWhole } from './cut-list.js';
import type { NotScreenedFacts } from './list-facts.js';
import { partyColumns } from './party-columns.js';
import { describeReason, outcomeWords } from './reason-words.js';
import { type Column, renderCsvBatches } from './render-csv.js';
import type { Report } from './report.js';

/** `not-screened.csv`: every customer in scope without a valid screening, why, and when it last had one (ISO 8601, UTC). */
export function renderNotScreenedCsv({ notScreened, cut }: Report): AsyncGenerator<string> {
  return renderCsvBatches(notScreenedColumns, readWhole('not screened', notScreened ?? [], cut.notScreened));
}

/** Everything that is said of a customer who is not screened. */
export const notScreenedColumns: readonly Column<NotScreenedFacts>[] = [
  ...partyColumns<NotScreenedFacts>((line) => line.party),
  { header: 'outcome', cell: (line) => line.outcome },
  { header: 'reason', cell: (line) => line.reason },
  { header: 'why', cell: (line) => `${outcomeWords[line.outcome]}: ${describeReason(line.reason)}` },
  { header: 'last_screened_at', cell: (line) => line.lastScreenedAt?.toISOString() ?? null },
];
