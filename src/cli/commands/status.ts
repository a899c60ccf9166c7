import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import { renderCsvBatches } from '../../reports/csv.js';
import type { Column } from '../../reports/section.js';
import { countNoun } from '../../reports/text.js';
import type { StatusExport } from '../../runs/status.js';
import type { CustomerStatus } from '../../store/webhooks.js';
import { type CustomerState, customerStates } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act } from '../invocation.js';
import { examples, parseInstant, shared } from '../options.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { describeCounts, describeGap, describeStates } from '../text.js';

interface ExportOptions {
  roster?: string;
  format?: 'csv' | 'json';
  out?: string;
  state?: CustomerState[];
  changedSince?: Date;
}

/** The format by the flag, else by the ending of the file, else by `--json`. Throws ConfigError. */
function chooseFormat({ format, out }: ExportOptions, isJson: boolean): 'csv' | 'json' {
  if (out === undefined && isJson && format === 'csv') {
    throw flagError('--format', 'csv and --json cannot both go to standard output; name a file with --out');
  }
  if (format !== undefined) return format;
  if (out === undefined) return isJson ? 'json' : 'csv';
  return /\.json$/i.test(out) ? 'json' : 'csv';
}

function addExport(status: Command, act: Act): void {
  status
    .command('export')
    .description('one row for each customer: state, since when, until when; exit code 3 unless all are screened')
    .addOption(shared('roster', '<name>'))
    .addOption(new Option('--format <format>', 'the format (default: csv)').choices(['csv', 'json']))
    .addOption(shared('out', '<file>'))
    .addOption(new Option('--state <state...>', 'only customers in these states').choices(customerStates))
    .option('--changed-since <date>', 'only customers whose state has changed since, in ISO 8601', parseInstant)
    .addHelpText(
      'after',
      examples(['status export --out status.csv', 'status export --state open_alert --changed-since 2026-03-01']),
    )
    .action((options: ExportOptions) =>
      act(async (invocation) => {
        const { exportStatus } = await import('../../runs/status.js');
        const config = loadInvocationConfig(invocation);
        const format = chooseFormat(options, invocation.options.json === true);
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
          const { roster, state: states, changedSince } = options;
          const status = await exportStatus(app, { roster, states, changedSince }, invocation.signal);
          const chunks = format === 'csv' ? renderStatusCsv(status) : renderStatusJson(status, app.clock.now());
          const { sums, neverImported } = status;
          for (const message of status.unmappedNames) {
            invocation.notify({ level: 'warn', code: 'unmapped_column', message });
          }
          // The sums are complete after the last row is read.
          const assess = (): { exitCode: number; gap: string | null } => {
            const gap = describeGap(neverImported, sums.inScope);
            const isWhole = gap === null && status.isCovered();
            return { exitCode: isWhole ? exitCodes.complete : exitCodes.incomplete, gap };
          };
          if (options.out === undefined) {
            for await (const chunk of chunks) await invocation.terminal.writeData(chunk);
            const { exitCode, gap } = assess();
            if (gap !== null) invocation.notify({ level: 'warn', code: 'nothing_known', message: gap });
            return { exitCode, isWritten: true };
          }
          const file = resolve(invocation.folder, options.out);
          await writePrivately(file, chunks);
          const { exitCode, gap } = assess();
          const counts = sums.inScope === 0 ? '' : `in scope: ${describeStates(sums.states)}\n`;
          return {
            exitCode,
            document: { schema: 'nightscreen/status-export/1', file, format, neverImported, ...sums },
            text: `${countNoun(sums.exported, 'customer')}: ${file}\n${counts}${gap === null ? '' : `${gap}\n`}`,
          };
        });
      }),
    );
}

function addSend(status: Command, act: Act): void {
  status
    .command('send')
    .description('send queued changes of state to webhooks; exit code 3 when some stay queued')
    .addHelpText('after', examples(['status send', 'status send --json']))
    .action(() =>
      act(async (invocation) => {
        const { notifyStates, readWebhookKeys } = await import('../../runs/status.js');
        const config = loadInvocationConfig(invocation);
        readWebhookKeys(config);
        return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
          const pass = await notifyStates(app, { signal: invocation.signal });
          const isDone = pass.waiting === 0 && pass.refused === 0;
          return {
            exitCode: isDone ? exitCodes.complete : exitCodes.incomplete,
            document: { schema: 'nightscreen/status-send/1', ...pass },
            text: `${describeCounts({ ...pass })}\n`,
          };
        });
      }),
    );
}

/** Adds `status`. */
export function addStatusCommand(program: Command, act: Act): void {
  const status = program
    .command('status')
    .summary('export the state of each customer')
    .description('the state of each customer, for the systems that block accounts');
  status.addHelpText('after', examples(['status export --out status.csv', 'status send']));
  addExport(status, act);
  addSend(status, act);
}

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
  { key: 'is_provisional', cell: ({ isProvisional }) => String(isProvisional) },
  { key: 'risk_tier', cell: ({ riskTier }) => riskTier },
  { key: 'mode', cell: ({ mode }) => mode },
  { key: 'run_id', cell: ({ runId }) => runId },
  { key: 'changed_at', cell: ({ changedAt }) => changedAt },
];

/** One line for each customer, times in ISO 8601 and UTC. */
const renderStatusCsv = ({ batches }: StatusExport): AsyncIterable<string> => renderCsvBatches(columns, batches);

/** The document `nightscreen/status/1`: one customer per line, and the sums of the states at its end. */
async function* renderStatusJson(status: StatusExport, at: Date): AsyncGenerator<string> {
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
