import { ConfigError, ReportError } from '../../errors.js';
import { buildReportMessage } from '../../mail/build-message.js';
import { type DeliveryResult, deliver } from '../../mail/deliver.js';
import { type Report, toReport } from '../../reports/report.js';
import type { RunState } from '../../reports/run-facts.js';
import { type WrittenReport, writeReport } from '../../reports/write-report.js';
import type { Database } from '../../store/database.js';
import { findReportableRuns, findUnsentRuns } from '../../store/find-runs.js';
import { fixReportRevision, noteManifest, noteSent, readRevisions } from '../../store/report-revisions.js';
import { readRunFacts } from '../../store/run-facts.js';
import { toRunId } from '../../store/run-id.js';
import type { RunRow } from '../../store/run-row.js';
import { findRun } from '../session/list-runs.js';
import { toExitCode } from '../session/run-summary.js';
import type { Workplace } from '../workplace.js';
import { keepFormerReport } from './keep-former-report.js';

/** A report on disk, and to whom it went. */
export interface ReportResult extends WrittenReport {
  runId: string;
  revision: number;
  deliveries: readonly DeliveryResult[];
  state: RunState;
  exitCode: number;
}

/** Writes and mails the reports that nobody has been sent yet: of each roster's newest screening and of those it overtook. */
export async function sendUnsentReports(workplace: Workplace): Promise<readonly ReportResult[]> {
  const results: ReportResult[] = [];
  for (const run of await findUnsentRuns(workplace.database)) {
    results.push(await writeAndSend(workplace, run, { send: true }));
  }
  return results;
}

/**
 * Writes the report of a run, or of the newest screening of each roster when none is named, and sends it when asked to. Throws
 * ConfigError when there is no such run or no mail is configured, ReportError when sums do not hold or the files cannot be written.
 */
export async function runReports(
  workplace: Workplace,
  options: { runId?: string | undefined; directory?: string | undefined; send: boolean },
): Promise<readonly ReportResult[]> {
  const { database, settings } = workplace;
  if (options.send && !settings.mail) {
    throw new ConfigError([{ where: 'mail', path: '', message: 'is not configured, so the report cannot be sent' }]);
  }
  const runs =
    options.runId === undefined ? await findReportableRuns(database) : [await findReportable(database, options.runId)];
  if (runs.length === 0) {
    const message =
      'there is no finished screening to report on; run `nightscreen rescreen` or `nightscreen onboard` first';
    throw new ConfigError([{ where: 'run', path: '', message }]);
  }
  const results: ReportResult[] = [];
  for (const run of runs) results.push(await writeAndSend(workplace, run, options));
  return results;
}

/** The run of this name; throws ConfigError for one that asked about no roster, which says where to find what it came to. */
async function findReportable(database: Database, text: string): Promise<RunRow> {
  const run = await findRun(database, text);
  const instead = { check: 'was a single check', assure: 'was a measurement of recall' };
  if (run.kind !== 'check' && run.kind !== 'assure') return run;
  const show = run.kind === 'check' ? 'check --show' : 'assure show';
  const message = `${toRunId(run)} ${instead[run.kind]}, and a report is of a roster or a sweep; \`nightscreen ${show} ${run.runId}\` or \`nightscreen runs show ${run.runId}\` shows what it came to`;
  throw new ConfigError([{ where: 'run', path: '', message }]);
}

/** Writes the report of a run; the same run and revision give the same bytes. */
export async function writeRunReport(workplace: Workplace, runId: string): Promise<RunReport> {
  return writeFor(workplace, await findRun(workplace.database, runId));
}

interface RunReport extends WrittenReport {
  runId: string;
  revision: number;
  state: RunState;
  report: Report;
}

async function writeAndSend(
  workplace: Workplace,
  run: RunRow,
  options: { directory?: string | undefined; send: boolean },
): Promise<ReportResult> {
  const { mail } = workplace.settings;
  const written = await writeFor(workplace, run, options.directory);
  const { report, ...result } = written;
  const deliveries =
    options.send && mail
      ? await deliver(
          mail.to.map((recipient) => buildReportMessage(report, written, recipient, mail)),
          mail,
          workplace.secret('SMTP_URL'),
        )
      : [];
  if (deliveries.length > 0 && deliveries.every((delivery) => delivery.kind === 'accepted')) {
    await noteSent(workplace.database, run.runId, written.revision, workplace.clock.now());
  }
  return { ...result, deliveries, exitCode: toExitCode(result.state) };
}

async function writeFor(workplace: Workplace, run: RunRow, directory?: string): Promise<RunReport> {
  const { database, clock, settings, tell } = workplace;
  const runId = toRunId(run);
  tell({ kind: 'stage_started', runId, stage: 'report' });
  const { facts, revision, revisions } = await database.transaction(async (transaction) => {
    const covered = await fixReportRevision(transaction, run, clock.now());
    return {
      revision: covered.revision,
      revisions: await readRevisions(transaction, run),
      facts: await readRunFacts(transaction, run, covered),
    };
  });
  const report = toReport(facts);
  const written = await writeReport(report, directory ?? settings.reports.dir, keepFormerReport(revisions, revision));
  const manifest = written.files.find((file) => file.name === 'manifest.json');
  if (!manifest) throw new ReportError('report_not_written', 'the report has no manifest');
  await noteManifest(database, run.runId, revision, manifest.sha256);
  tell({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  return { ...written, runId, revision, state: run.state, report };
}
