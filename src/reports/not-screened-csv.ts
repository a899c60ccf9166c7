import { partyColumns } from './party-columns.js';
import { describeReason, outcomeWords } from './reason-words.js';
import { type Column, renderCsv } from './render-csv.js';
import type { Report } from './report.js';
import type { NotScreenedFacts } from './run-facts.js';

/** `not-screened.csv`: every customer in scope without a valid screening, why, and when it last had one (ISO 8601, UTC). */
export function renderNotScreenedCsv(report: Report): Generator<string> {
  return renderCsv(columns, report.notScreened ?? []);
}

const columns: readonly Column<NotScreenedFacts>[] = [
  ...partyColumns<NotScreenedFacts>((line) => line.party),
  { header: 'outcome', cell: (line) => line.outcome },
  { header: 'reason', cell: (line) => line.reason },
  { header: 'why', cell: (line) => `${outcomeWords[line.outcome]}: ${describeReason(line.reason)}` },
  { header: 'last_screened_at', cell: (line) => line.lastScreenedAt?.toISOString() ?? null },
];
