import { resolve } from 'node:path';
import { writePrivately } from '../../files.js';
import { renderCsvBatches } from '../../reports/csv.js';
import type { Column } from '../../reports/section.js';
import { countNoun } from '../../reports/text.js';
import { describeStates } from '../../reports/words.js';
import { exportStatus, type StatusExport } from '../../runs/status.js';
import type { CustomerStatus } from '../../store/customers/states.js';
import { customerStates } from '../../vocabulary.js';
import { defineDatabaseCommand, parsed, text, variadic } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { toOutcome } from '../invocation.js';
import { meanings, parseInstant, shared } from '../options.js';
import { describeGap, renderJsonBatches } from '../text.js';

export const command = defineDatabaseCommand({
  usage: 'status',
  description:
    'one row for each customer: state, since when, until when; CSV, or JSON with --json or for a file .json. Exit code 3 unless all are screened',
  options: {
    roster: shared.roster,
    customer: variadic('<reference...>', meanings.customer),
    out: text('<file>', meanings.out),
    state: variadic('<state...>', 'only customers in these states', customerStates),
    changedSince: parsed('<date>', 'only customers whose state has changed since, in ISO 8601', parseInstant),
  },
  examples: ['status --out status.csv', 'status --state open_alert --changed-since 2026-03-01'],
  run: async (
    app,
    { options: { roster, customer: customers, out, state: states, changedSince }, invocation, signal },
  ) => {
    const status = await exportStatus(app, { roster, customers, states, changedSince }, signal);
    const isJson = out === undefined ? invocation.options.json === true : /\.json$/i.test(out);
    const chunks = isJson ? renderStatusJson(status, app.clock.now()) : renderStatusCsv(status);
    for (const message of status.unmappedNames) {
      invocation.notify({ level: 'warn', code: 'unmapped_column', message });
    }
    const file = out === undefined ? null : resolve(invocation.folder, out);
    if (file !== null) await writePrivately(file, chunks);
    else for await (const chunk of chunks) await invocation.terminal.writeData(chunk);
    const { sums, isCovered, unknown } = status.finish();
    for (const id of unknown) {
      const message = `${id} is no customer of ${roster ?? 'any roster'}; \`nightscreen status\` lists them`;
      invocation.notify({ level: 'warn', code: 'nothing_known', message });
    }
    const { neverImported } = status;
    const gap = describeGap(neverImported, sums.inScope);
    const exitCode = gap === null && isCovered ? exitCodes.complete : exitCodes.incomplete;
    if (file === null) {
      if (gap !== null) invocation.notify({ level: 'warn', code: 'nothing_known', message: gap });
      return { exitCode, isWritten: true };
    }
    const counts = sums.inScope === 0 ? '' : `in scope: ${describeStates(sums.states)}\n`;
    const format = isJson ? 'json' : 'csv';
    return toOutcome(
      'nightscreen/status-export/1',
      { file, format, neverImported, ...sums },
      `${countNoun(sums.exported, 'customer')}: ${file}\n${counts}${gap === null ? '' : `${gap}\n`}`,
      exitCode,
    );
  },
});

/**
 * As in docs/status.md: `waiting` counts the alerts that wait, `held` says that later answers are held, `reason` is why the screening is not
 * valid, and `because` why the last attempts failed.
 */
const columns: readonly Column<CustomerStatus>[] = [
  { key: 'roster', cell: ({ roster }) => roster },
  { key: 'customer_id', cell: ({ reference }) => reference },
  { key: 'in_scope', cell: ({ inScope }) => String(inScope) },
  { key: 'state', cell: ({ state }) => state },
  { key: 'worst_topic', cell: ({ worstTopic }) => worstTopic },
  { key: 'waiting', cell: ({ waiting }) => waiting },
  { key: 'held', cell: ({ held }) => String(held) },
  { key: 'reason', cell: ({ reason }) => reason },
  { key: 'because', cell: ({ because }) => because },
  { key: 'last_state', cell: ({ lastState }) => lastState },
  { key: 'as_of', cell: ({ asOf }) => asOf },
  { key: 'never_screened', cell: ({ neverScreened }) => String(neverScreened) },
  { key: 'due_at', cell: ({ dueAt }) => dueAt },
  { key: 'expires_at', cell: ({ expiresAt }) => expiresAt },
  { key: 'risk_tier', cell: ({ riskTier }) => riskTier },
  { key: 'mode', cell: ({ mode }) => mode },
  { key: 'run_id', cell: ({ runId }) => runId },
  { key: 'changed_at', cell: ({ changedAt }) => changedAt },
];

const renderStatusCsv = ({ batches }: StatusExport): AsyncIterable<string> => renderCsvBatches(columns, batches);

/** The document `nightscreen/status/1`: one customer per line, and the sums of the states at its end. */
function renderStatusJson(status: StatusExport, at: Date): AsyncIterable<string> {
  const { rosters, neverImported, batches } = status;
  const head = { schema: 'nightscreen/status/1', at, rosters, neverImported };
  return renderJsonBatches(head, batches, () => status.finish().sums);
}
