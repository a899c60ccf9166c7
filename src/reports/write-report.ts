import { join } from 'node:path';
import { ReportError } from '../errors.js';
import { renderChangesCsv } from './changes-csv.js';
import { type FileSet, openFileSet, type WrittenFile } from './file-set.js';
import { renderHtml } from './html-report.js';
import { renderNotScreenedCsv } from './not-screened-csv.js';
import { hasPartyRejects, renderPartyRejectsCsv, renderRejectsCsv } from './rejects-csv.js';
import { renderJson } from './render-json.js';
import type { Report } from './report.js';
import { toReportJson } from './to-report-json.js';

/** The folder of a run's report and its files in the order written; SHA256SUMS covers those before it, manifest.json all others. */
export interface WrittenReport {
  directory: string;
  files: readonly WrittenFile[];
}

const formats: readonly [string, (report: Report) => Iterable<string> | AsyncIterable<string>][] = [
  ['report.html', renderHtml],
  ['changes.csv', renderChangesCsv],
  ['not-screened.csv', renderNotScreenedCsv],
  ['rejects.csv', renderRejectsCsv],
  ['report.json', (report) => renderJson(toReportJson(report))],
];

/** Is asked when all files are written under passing names and before the first gets its final one; what it throws stops the writing. */
export type MakeRoom = (folder: string, files: readonly WrittenFile[]) => Promise<void>;

/**
 * Writes the report to `<directory>/<run id>`, manifest.json last; the same report gives the same bytes. Throws ReportError
 * (`report_not_written`, or what `makeRoom` throws), with nothing of this writing left under a final name.
 */
export async function writeReport(report: Report, directory: string, makeRoom?: MakeRoom): Promise<WrittenReport> {
  const { runId } = report.run;
  if (!/^\w[\w.-]*$/.test(runId))
    throw new ReportError('report_not_written', 'the run id is not fit for a folder name');
  const folder = join(directory, runId);
  try {
    return { directory: folder, files: await writeFiles(report, folder, makeRoom) };
  } catch (error) {
    if (error instanceof ReportError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReportError('report_not_written', `the report could not be written to ${folder}: ${reason}`, {
      cause: error,
    });
  }
}

async function writeFiles(report: Report, folder: string, makeRoom?: MakeRoom): Promise<readonly WrittenFile[]> {
  const set = await openFileSet(folder);
  try {
    const files = await addFiles(set, report);
    await makeRoom?.(folder, files);
    await set.commit();
    return files;
  } catch (error) {
    await set.discard();
    throw error;
  }
}

async function addFiles(set: FileSet, report: Report): Promise<readonly WrittenFile[]> {
  const files: WrittenFile[] = [];
  for (const [name, render] of formats) files.push(await set.add(name, render(report)));
  if (hasPartyRejects(report)) files.push(await set.add('rejects-parties.csv', renderPartyRejectsCsv(report)));
  const sums = files.map((file) => `${file.sha256}  ${file.name}\n`);
  files.push(await set.add('SHA256SUMS', sums));
  files.push(await set.add('manifest.json', [toManifest(report, files)]));
  return files;
}

function toManifest(report: Report, files: readonly WrittenFile[]): string {
  const { runId, version } = report.run;
  return `${JSON.stringify({ schema: 'nightscreen/report-manifest/1', runId, version, files }, null, 2)}\n`;
}
