import { join } from 'node:path';
import { z } from 'zod';
import { ReportError } from '../errors.js';
import { renderChangesCsv } from './changes-csv.js';
import { type Chunks, type FileSet, openFileSet, type WrittenFile } from './file-set.js';
import { renderHtml } from './html-report.js';
import { renderNotScreenedCsv } from './not-screened-csv.js';
import { hasPartyRejects, renderPartyRejectsCsv, renderRejectsCsv } from './rejects-csv.js';
import type { Report } from './report.js';
import { renderReportWorkbook } from './report-workbook/render-report-workbook.js';
import { toJsonDocument } from './to-report-json.js';

/**
 * An object as JSON in chunks: one key per line, and one line per entry of an array or of a list that comes in batches, so that two
 * reports can be compared by line.
 */
export async function* renderJson(document: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let opening = '{\n';
  for (const [key, value] of Object.entries(document)) {
    yield `${opening}${JSON.stringify(key)}: `;
    if (Array.isArray(value)) yield* renderEntries([value]);
    else if (isInBatches(value)) yield* renderEntries(value);
    else yield JSON.stringify(value);
    opening = ',\n';
  }
  yield opening === '{\n' ? '{}\n' : '\n}\n';
}

const isInBatches = (value: unknown): value is AsyncIterable<readonly unknown[]> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

async function* renderEntries(
  batches: Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>,
): AsyncGenerator<string> {
  let opening = '[\n';
  for await (const entries of batches) {
    for (const entry of entries) {
      yield `${opening}${JSON.stringify(entry)}`;
      opening = ',\n';
    }
  }
  yield opening === '[\n' ? '[]' : '\n]';
}

/** The folder of a run's report and its files in the order written; SHA256SUMS covers those before it, manifest.json all others. */
export interface WrittenReport {
  directory: string;
  files: readonly WrittenFile[];
}

const formats: readonly [string, (report: Report) => Chunks][] = [
  ['report.html', renderHtml],
  ['report.xlsx', renderReportWorkbook],
  ['changes.csv', renderChangesCsv],
  ['not-screened.csv', renderNotScreenedCsv],
  ['rejects.csv', renderRejectsCsv],
  ['report.json', (report) => renderJson(toJsonDocument(report))],
];

const partyRejectsName = 'rejects-parties.csv';

/** Every name that a file of a report can have. */
export const reportFileNames: readonly string[] = [
  ...formats.map(([name]) => name),
  partyRejectsName,
  'SHA256SUMS',
  'manifest.json',
];

/** Is asked when all files are written under passing names and before the first gets its final one; what it throws stops the writing. */
export type MakeRoom = (folder: string, files: readonly WrittenFile[]) => Promise<void>;

/**
 * Writes the report to `<directory>/<run id>` (`<run id>-masked` for a masked one), manifest.json last; the same report gives the same bytes. Throws ReportError
 * (`report_not_written`, or what `makeRoom` throws), with nothing of this writing left under a final name.
 */
export async function writeReport(report: Report, directory: string, makeRoom?: MakeRoom): Promise<WrittenReport> {
  const { runId } = report.run;
  if (!/^\w[\w.-]*$/.test(runId))
    throw new ReportError('report_not_written', 'the run id is not fit for a folder name');
  const folder = join(directory, report.isMasked ? `${runId}-masked` : runId);
  try {
    return { directory: folder, files: await writeFiles(report, folder, makeRoom) };
  } catch (error) {
    if (error instanceof ReportError) throw error;
    const reason = describeFailure(error);
    throw new ReportError('report_not_written', `the report could not be written to ${folder}: ${reason}`, {
      cause: error,
    });
  }
}

const fullDisk: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('code' in error) || !fullDisk.has(error.code)) return error.message;
  return `${error.message}; make room there, or write elsewhere with --out, and make it again with \`nightscreen report\`: nothing of it was left behind`;
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
  if (hasPartyRejects(report)) files.push(await set.add(partyRejectsName, renderPartyRejectsCsv(report)));
  const sums = files.map((file) => `${file.sha256}  ${file.name}\n`);
  files.push(await set.add('SHA256SUMS', sums));
  files.push(await set.add('manifest.json', [toManifest(report, files)]));
  return files;
}

function toManifest(report: Report, files: readonly WrittenFile[]): string {
  const { runId, version } = report.run;
  const manifest: ManifestJson = {
    schema: 'nightscreen/report-manifest/1',
    runId,
    ...(report.isMasked && { masked: report.isMasked }),
    version,
    files: [...files],
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `manifest.json`: which files belong to a report, each with its size and SHA-256 (hex); written last. */
export const manifestJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/report-manifest/1'),
  runId: z.string(),
  /** Set where names are initials. */
  masked: z.literal(true).optional(),
  /** Of Nightscreen, when the run was made. */
  version: z.string(),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.number().int().nonnegative(), sha256: z.string() })),
});
type ManifestJson = z.infer<typeof manifestJsonSchema>;
