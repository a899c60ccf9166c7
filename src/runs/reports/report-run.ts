import { ConfigError, ReportError } from '../../errors.js';
import { printPdf } from '../../reports/print-pdf.js';
import { type Report, toReport } from '../../reports/report.js';
import type { RunState } from '../../reports/run-facts.js';
import { type WrittenReport, writeReport } from '../../reports/write-report.js';
import type { Database } from '../../store/database/database.js';
import { readRunFacts } from '../../store/report-facts.js';
import { fixReportRevision, noteManifest, readRevisions } from '../../store/report-revisions.js';
import { findReportableRuns, type RunRow, toRunId } from '../../store/runs.js';
import { listDiscrepancies } from '../reviewing/accept-discrepancies.js';
import { readToReview } from '../reviewing/read-to-review.js';
import { findRun } from '../session/list-runs.js';
import { toExitCode } from '../session/run-summary.js';
import type { Workplace } from '../workplace.js';
import { keepFormerReport } from './keep-former-report.js';
import { prepareReportMail } from './prepare-mail.js';
import { writeMasked } from './write-masked.js';

/** A report on disk, with what it says. */
export interface RunReport extends WrittenReport {
  runId: string;
  runNumber: number;
  revision: number;
  state: RunState;
  report: Report;
}

/** A report on disk. */
export type ReportResult = Omit<RunReport, 'report'> & { exitCode: number };

/** Whose report is to be written, and where. */
export interface ReportChoice {
  /** The newest screening of each roster when none is named. */
  runId?: string | undefined;
  directory?: string | undefined;
  /** With references and initials instead of names. */
  mask?: boolean | undefined;
  /** The program that prints the page to a PDF too. */
  chromium?: string | undefined;
}

/**
 * Writes the report of a run, or of the newest screening of each roster when none is named; `afterEach` is waited for while a report is at
 * hand. Throws ConfigError when there is no such run, ReportError when sums do not hold or the files cannot be written.
 */
export async function runReports(
  workplace: Workplace,
  { runId, directory, mask = false, chromium }: ReportChoice,
  afterEach: (report: RunReport) => Promise<void> = async () => {},
): Promise<readonly ReportResult[]> {
  const { database } = workplace;
  const runs = runId === undefined ? await findReportableRuns(database) : [await findReportable(database, runId)];
  if (runs.length === 0) {
    const message =
      'there is no finished screening to report on; run `nightscreen rescreen` or `nightscreen onboard` first';
    throw new ConfigError([{ where: 'run', path: '', message }]);
  }
  const results: ReportResult[] = [];
  for (const run of runs) {
    if (mask) {
      results.push(await addPdf(await writeMaskedReport(workplace, run, directory), chromium));
      continue;
    }
    const written = await writeReportFor(workplace, run, directory);
    await afterEach(written);
    const { report: _, ...result } = written;
    results.push(await addPdf({ ...result, exitCode: toExitCode(run.state) }, chromium));
  }
  return results;
}

/** The same with its page printed to a PDF, where there is a program for that. */
export async function addPdf(result: ReportResult, chromium: string | undefined): Promise<ReportResult> {
  if (chromium === undefined) return result;
  return { ...result, files: [...result.files, await printPdf(chromium, result.directory)] };
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

/** Writes the report of the run of this name, as `writeReportFor` does. */
export async function writeRunReport(workplace: Workplace, runId: string): Promise<RunReport> {
  return writeReportFor(workplace, await findRun(workplace.database, runId));
}

/** Writes and publishes the report of a run; the same run and revision give the same bytes. Throws ReportError. */
export async function writeReportFor(workplace: Workplace, run: RunRow, directory?: string): Promise<RunReport> {
  const { database, settings, tell } = workplace;
  const runId = toRunId(run);
  tell({ kind: 'stage_started', runId, stage: 'report' });
  const { report, revision, revisions } = await buildReport(workplace, run);
  const written = await writeReport(report, directory ?? settings.reports.dir, keepFormerReport(revisions, revision));
  const manifest = written.files.find((file) => file.name === 'manifest.json');
  if (!manifest) throw new ReportError('report_not_written', 'the report has no manifest');
  await noteManifest(database, run.runId, revision, manifest.sha256);
  await prepareReportMail(workplace, report, written, []);
  tell({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  return { ...written, runId, runNumber: run.runId, revision, state: run.state, report };
}

async function writeMaskedReport(workplace: Workplace, run: RunRow, directory?: string): Promise<ReportResult> {
  const { report, revision } = await buildReport(workplace, run);
  const written = await writeMasked(report, directory ?? workplace.settings.reports.dir);
  const { state } = run;
  return { ...written, runId: report.run.runId, runNumber: run.runId, revision, state, exitCode: toExitCode(state) };
}

async function buildReport({ database, clock }: Workplace, run: RunRow) {
  const { facts, toReview, discrepancies, ...revisions } = await database.transaction(async (transaction) => {
    const covered = await fixReportRevision(transaction, run, clock.now());
    const facts = await readRunFacts(transaction, run, covered, database);
    return {
      revision: covered.revision,
      revisions: await readRevisions(transaction, run),
      facts,
      toReview: await readToReview(transaction, run.runId, facts.organisation),
      discrepancies: await listDiscrepancies(transaction, facts.organisation, { runId: run.runId }),
    };
  });
  return { report: toReport(facts, toReview, discrepancies), ...revisions };
}
