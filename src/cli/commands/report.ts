import type { Command } from 'commander';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import type { DeliveryResult } from '../../mail/deliver.js';
import { formatCount } from '../../reports/format-count.js';
import type { ReportResult } from '../../runs/reports/report-run.js';
import { examples } from '../examples.js';
import { combineExitCodes, exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Act, Outcome } from '../invocation.js';
import { withWorkplace } from '../session.js';

interface ReportOptions {
  run?: string;
  out?: string;
  send?: true;
}

function requireMail({ settings, secret }: Config): void {
  const refuse = (message: string): ConfigError => new ConfigError([{ where: 'flag --send', path: '', message }]);
  if (!settings.mail) throw refuse('no mail is configured: write `mail:` with `from` and `to` into the file');
  if (settings.mail.transport === 'smtp' && secret('SMTP_URL') === undefined) {
    throw refuse('mail.transport is smtp, but SMTP_URL (or SMTP_URL_FILE) is not set');
  }
}

const describeDelivery = (delivery: DeliveryResult): string =>
  delivery.kind === 'failed'
    ? `${delivery.recipient}: failed: ${delivery.reason}`
    : `${delivery.recipient}: ${delivery.file === null ? 'accepted' : `written to ${delivery.file}`}`;

function presentReports(reports: readonly ReportResult[]): Outcome {
  const outcomes = reports.map(presentReport);
  const [first] = outcomes;
  if (first && outcomes.length === 1) return first;
  return {
    exitCode: combineExitCodes(outcomes.map((outcome) => outcome.exitCode)),
    document: { schema: 'nightscreen/report-files-list/1', reports: outcomes.map((outcome) => outcome.document) },
    text: outcomes.map((outcome) => outcome.text).join('\n\n'),
  };
}

function presentReport(report: ReportResult): Outcome {
  const { runId, state, directory, files, deliveries } = report;
  const isSent = deliveries.every((delivery) => delivery.kind === 'accepted');
  return {
    exitCode: combineExitCodes([report.exitCode, ...(isSent ? [] : [exitCodes.incomplete])]),
    document: { schema: 'nightscreen/report-files/1', ...report },
    text: formatTable([
      ['run', `${runId} (${state})`],
      ...files.map((file) => ['file', `${directory}/${file.name} (${formatCount(file.bytes)} bytes)`]),
      ...deliveries.map((delivery) => ['mail', describeDelivery(delivery)]),
    ]),
  };
}

/** Adds `report`. */
export function addReportCommand(program: Command, act: Act): void {
  program
    .command('report')
    .description('write the report of a run, and mail it where asked')
    .option('--run <id>', 'which run (default: the latest of each roster)')
    .option('--out <dir>', 'folder to write to (default: reports.dir)')
    .option('--send', 'mail it to the configured recipients')
    .addHelpText('after', examples(['report', 'report --run 12 --out ./for-review', 'report --send']))
    .action((options: ReportOptions) =>
      act(async (invocation) => {
        const { runReports } = await import('../../runs/reports/report-run.js');
        return withWorkplace(invocation, {
          command: 'report',
          prepare: (config) => {
            if (options.send) requireMail(config);
          },
          work: async (workplace) => {
            const { run: runId, out: directory, send = false } = options;
            return presentReports(await runReports(workplace, { runId, directory, send }));
          },
        });
      }),
    );
}
