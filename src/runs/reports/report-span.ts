import { toReport } from '../../reports/report.js';
import { writeReport } from '../../reports/write-report.js';
import { readSpanFacts, type SpanOfRuns } from '../../store/span-facts.js';
import { listDiscrepancies } from '../reviewing/accept-discrepancies.js';
import { readToReview } from '../reviewing/read-to-review.js';
import { toExitCode } from '../session/run-summary.js';
import type { Workplace } from '../workplace.js';
import { findSpans, type SpanRequest } from './find-spans.js';
import { keepFormerSpan } from './keep-former-report.js';
import { addPdf, type ReportChoice, type ReportResult } from './report-run.js';
import { writeMasked } from './write-masked.js';

/**
 * Writes a report over all runs of each roster in a span, from stored facts: once the span is over the same at any later time. Throws
 * ConfigError where there is nothing to report on, ReportError when sums do not hold or the files cannot be written.
 */
export async function reportSpans(
  workplace: Workplace,
  request: SpanRequest,
  options: Omit<ReportChoice, 'runId'>,
): Promise<readonly ReportResult[]> {
  const results: ReportResult[] = [];
  for (const span of await findSpans(workplace.database, request, workplace.clock.now())) {
    results.push(await writeSpan(workplace, span, options));
  }
  return results;
}

async function writeSpan(
  { database, settings, tell }: Workplace,
  span: SpanOfRuns,
  { directory = settings.reports.dir, mask = false, chromium }: Omit<ReportChoice, 'runId'>,
): Promise<ReportResult> {
  const { name: runId } = span;
  tell({ kind: 'stage_started', runId, stage: 'report' });
  const report = await database.transaction(async (transaction) => {
    const facts = await readSpanFacts(transaction, span, database);
    const { organisation } = facts;
    const { runId } = span.last;
    const toReview = await readToReview(transaction, runId, organisation);
    return toReport(facts, toReview, await listDiscrepancies(transaction, organisation, { runId }));
  });
  const written = mask ? await writeMasked(report, directory) : await writeReport(report, directory, keepFormerSpan);
  tell({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  const { state } = report.run;
  return addPdf(
    { ...written, runId, runNumber: span.last.runId, revision: 1, state, exitCode: toExitCode(state) },
    chromium,
  );
}
