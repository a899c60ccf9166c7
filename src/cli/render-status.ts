import { type Column, renderCsvBatches } from '../reports/csv.js';
import type { StatusExport } from '../runs/status.js';
import type { CustomerStatus } from '../store/webhooks.js';

const toTime = (date: Date | null): string | null => date?.toISOString() ?? null;

const columns: readonly Column<CustomerStatus>[] = [
  { header: 'roster', cell: ({ roster }) => roster },
  { header: 'customer_id', cell: ({ reference }) => reference },
  { header: 'in_scope', cell: ({ inScope }) => String(inScope) },
  { header: 'state', cell: ({ state }) => state },
  { header: 'worst_topic', cell: ({ worstTopic }) => worstTopic },
  { header: 'waiting', cell: ({ waiting }) => waiting },
  { header: 'held', cell: ({ held }) => String(held) },
  { header: 'reason', cell: ({ reason }) => reason },
  { header: 'because', cell: ({ because }) => because },
  { header: 'last_state', cell: ({ lastState }) => lastState },
  { header: 'as_of', cell: ({ asOf }) => toTime(asOf) },
  { header: 'never_screened', cell: ({ neverScreened }) => String(neverScreened) },
  { header: 'due_at', cell: ({ dueAt }) => toTime(dueAt) },
  { header: 'expires_at', cell: ({ expiresAt }) => toTime(expiresAt) },
  { header: 'is_provisional', cell: ({ isProvisional }) => String(isProvisional) },
  { header: 'risk_tier', cell: ({ riskTier }) => riskTier },
  { header: 'mode', cell: ({ mode }) => mode },
  { header: 'run_id', cell: ({ runId }) => runId },
  { header: 'changed_at', cell: ({ changedAt }) => toTime(changedAt) },
];

/** One line for each customer, times in ISO 8601 and UTC. */
export const renderStatusCsv = ({ batches }: StatusExport): AsyncIterable<string> => renderCsvBatches(columns, batches);

/** The document `nightscreen/status/1`: one customer a line, and the states of everybody in scope at its end. */
export async function* renderStatusJson(status: StatusExport, at: Date): AsyncGenerator<string> {
  const { rosters, neverImported, batches, sums } = status;
  yield `${JSON.stringify({ schema: 'nightscreen/status/1', at, rosters, neverImported }).slice(0, -1)},"customers":[`;
  let separator = '\n';
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield separator + batch.map((status) => JSON.stringify(status)).join(',\n');
    separator = ',\n';
  }
  yield `\n],${JSON.stringify(sums).slice(1)}\n`;
}
