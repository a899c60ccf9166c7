import { join } from 'node:path';
import { ConfigError, ReportError } from '../errors.js';
import { buildReportMessage } from '../mail/build-message.js';
import { type DeliveryResult, deliver } from '../mail/deliver.js';
import { type Report, toReport } from '../reports/report.js';
import type { RunState } from '../reports/run-facts.js';
import { type WrittenReport, writeReport } from '../reports/write-report.js';
import { fixReportRevision, noteManifest } from '../store/report-revisions.js';
import { readRunFacts } from '../store/run-facts.js';
import { toRunId } from '../store/run-id.js';
import { findReportableRun, type RunRow } from '../store/runs.js';
import { findRun } from './list-runs.js';
import { toExitCode } from './run-summary.js';
import type { Workplace } from './workplace.js';

/** A report on disk, and to whom it went. */
export interface ReportResult extends WrittenReport {
  runId: string;
  revision: number;
  deliveries: readonly DeliveryResult[];
  state: RunState;
  exitCode: number;
}

/**
 * Writes the report of a run, of the newest screening when none is named, and sends it when asked to. Throws ConfigError when there
 * is no such run or no mail is configured, ReportError when sums do not hold or the files cannot be written.
 */
export async function runReport(
  workplace: Workplace,
  options: { runId?: string | undefined; directory?: string | undefined; send: boolean },
): Promise<ReportResult> {
  const { mail } = workplace.settings;
  if (options.send && !mail) {
    throw new ConfigError([{ where: 'mail', path: '', message: 'is not configured, so the report cannot be sent' }]);
  }
  const written = await writeRunReport(workplace, options);
  const { report, ...result } = written;
  const deliveries =
    options.send && mail
      ? await deliver(
          mail.to.map((recipient) => buildReportMessage(report, written, recipient, mail)),
          mail,
          workplace.secret('SMTP_URL'),
        )
      : [];
  return { ...result, deliveries, exitCode: toExitCode(result.state) };
}

/** Writes the report of a run; the same run and revision give the same bytes. */
export async function writeRunReport(
  workplace: Workplace,
  options: { runId?: string | undefined; directory?: string | undefined },
): Promise<WrittenReport & { runId: string; revision: number; state: RunState; report: Report }> {
  const { database, clock, settings, tell } = workplace;
  const run = options.runId === undefined ? await findNewest(workplace) : await findRun(database, options.runId);
  const runId = toRunId(run);
  tell({ kind: 'stage_started', runId, stage: 'report' });
  const { facts, revision } = await database.transaction(async (transaction) => {
    const revision = await fixReportRevision(transaction, run, clock.now());
    return { revision: revision.revision, facts: await readRunFacts(transaction, run, revision.sweepRunIds) };
  });
  const report = toReport(facts);
  const directory = options.directory ?? settings.reports.dir;
  const written = await writeReport(report, revision === 1 ? directory : join(directory, `revision-${revision}`));
  const manifest = written.files.find((file) => file.name === 'manifest.json');
  if (!manifest) throw new ReportError('report_not_written', 'the report has no manifest');
  await noteManifest(database, run.runId, revision, manifest.sha256);
  tell({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  return { ...written, runId, revision, state: run.state, report };
}

async function findNewest(workplace: Workplace): Promise<RunRow> {
  const run = await findReportableRun(workplace.database);
  if (run) return run;
  const message =
    'there is no finished screening to report on; run `nightscreen rescreen` or `nightscreen onboard` first';
  throw new ConfigError([{ where: 'run', path: '', message }]);
}
