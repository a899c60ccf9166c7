import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ReportError, readErrorCode, readMessage } from '../errors.js';
import { makeFolder, removeRemains, syncFolder, toPassingName } from '../files.js';
import { markFormula } from '../formulas.js';
import type { RejectedRow } from '../roster/customer.js';
import type { RejectsColumn, surplusColumn } from '../roster/rejects.js';
import { codeWords } from '../vocabulary/words.js';
import { renderCsv } from './csv.js';
import { renderHtml } from './html-page.js';
import { renderChangesCsv, renderNotScreenedCsv } from './lists.js';
import type { Report } from './report.js';
import { isOfParties } from './run-facts.js';
import type { Cell, Column } from './section.js';
import { joinBlocks } from './spreadsheet.js';
import { toVisibleLines } from './text.js';
import { renderJson } from './to-report-json.js';
import { renderReportWorkbook } from './workbook-report.js';

const blockLength = 262_144;

/** Reads a written file block by block, without following a symlink. Throws at the end when its digest has changed. */
export async function* readWrittenFile(directory: string, { name, sha256 }: WrittenFile): AsyncGenerator<Uint8Array> {
  const file = await open(join(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  const hash = createHash('sha256');
  for await (const block of file.createReadStream({ highWaterMark: blockLength })) {
    hash.update(block);
    yield block;
  }
  if (hash.digest('hex') !== sha256) throw new Error(`${name} was changed after it was written`);
}

/** A written file; `sha256` in hex. */
export type WrittenFile = z.infer<typeof manifestJsonSchema>['files'][number];

/** The content of a file: text is written as UTF-8. */
type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

async function writeNew(path: string, chunks: Chunks, organisation?: string): Promise<Omit<WrittenFile, 'name'>> {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const file = await open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const block of joinBlocks(chunks, blockLength, organisation)) {
      await file.writeFile(block);
      hash.update(block);
      bytes += block.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

/**
 * Copies a written report into a folder of the same name under `publishTo`, manifest.json last, and gives that folder; a copy that is
 * there already is left alone. Others may read of it what they may read of `publishTo`. Throws ReportError `report_not_published`, with
 * nothing that could pass for this report, when `publishTo` is not there (as when a share is not mounted) or cannot be written to, or when
 * a file is no longer the one that was written.
 */
export async function publishReport(written: WrittenReport, publishTo: string): Promise<string> {
  try {
    return await copyReport(written, publishTo);
  } catch (error) {
    const message = `the report could not be copied to ${publishTo}: ${readMessage(error)}`;
    throw new ReportError('report_not_published', message, { cause: error });
  }
}

async function copyReport({ directory, files }: WrittenReport, publishTo: string): Promise<string> {
  const { mode } = await stat(publishTo);
  const folder = join(publishTo, basename(directory));
  await mkdir(folder, { mode: 0o700 }).catch(ignoreCodes('EEXIST'));
  if (!(await lstat(folder)).isDirectory()) throw new Error('the folder is a symbolic link or not a folder');
  await permit(folder, 0o700 | (mode & 0o2055));
  const manifest = join(folder, 'manifest.json');
  if ((await digestFile(manifest)) === files.find(({ name }) => name === 'manifest.json')?.sha256) return folder;
  await removeRemains(folder);
  const copies = files.map((file) => ({ file, passing: join(folder, toPassingName(file.name)) }));
  try {
    for (const { file, passing } of copies) await writeNew(passing, readWrittenFile(directory, file));
    // No manifest may exist while its files are being replaced.
    await rm(manifest, { force: true });
    await removeStale(folder, files);
    for (const { file, passing } of copies) {
      await permit(passing, 0o600 | (mode & 0o044));
      await rename(passing, join(folder, file.name));
    }
  } catch (error) {
    await Promise.allSettled(copies.map(({ passing }) => rm(passing, { force: true })));
    throw error;
  }
  return folder;
}

/** Removes files of a former report that this one does not have; other files in the folder stay. */
async function removeStale(folder: string, files: readonly WrittenFile[]): Promise<void> {
  const stale = reportFileNames.filter((name) => files.every((file) => file.name !== name));
  for (const name of stale) await rm(join(folder, name), { force: true });
}

/** The SHA-256 (hex) of a file; null where there is none. */
export async function digestFile(path: string): Promise<string | null> {
  const content = await readFile(path).catch(ignoreCodes('ENOENT'));
  return content === undefined ? null : createHash('sha256').update(content).digest('hex');
}

/** Sets the mode where the file system supports modes; some network mounts do not. */
const permit = (path: string, mode: number): Promise<void> =>
  chmod(path, mode).catch(ignoreCodes('EPERM', 'ENOTSUP', 'ENOSYS', 'EINVAL'));

const ignoreCodes =
  (...codes: readonly string[]) =>
  (error: unknown): undefined => {
    if (codes.includes(readErrorCode(error) ?? '')) return undefined;
    throw error;
  };

/** A report on disk: its folder and its files in the order written. SHA256SUMS covers the files before it, manifest.json all others. */
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
  ['report.json', renderJson],
];

const partyRejectsName = 'rejects-parties.csv';

const reportFileNames: readonly string[] = [
  ...formats.map(([name]) => name),
  partyRejectsName,
  'rosters.csv',
  'SHA256SUMS',
  'manifest.json',
];

/** Is called when all temporary files are written and none has its final name. An error stops the writing. */
export type MakeRoom = (folder: string, files: readonly WrittenFile[]) => Promise<void>;

/** What the manifest of a report says besides its files; the folder has the name of the run, span or night. */
type ReportHead = Pick<z.infer<typeof manifestJsonSchema>, 'runId' | 'version' | 'masked'> &
  Pick<Report, 'nameInCommands'>;

/**
 * Writes the report to `<directory>/<run id>` (`<run id>-masked` for a masked one), manifest.json last; the same report gives the same bytes.
 * Throws ReportError (`report_not_written`, or the error of `makeRoom`); then no file of this call has a final name.
 */
export function writeReport(report: Report, directory: string, makeRoom?: MakeRoom): Promise<WrittenReport> {
  const { run, isMasked, nameInCommands } = report;
  const head = { runId: run.runId, ...(isMasked && { masked: isMasked }), version: run.version, nameInCommands };
  const partyRejects = renderPartyRejectsCsv(report);
  const contents = formats.map(([name, render]) => ({ name, chunks: render(report) }));
  if (partyRejects) contents.push({ name: partyRejectsName, chunks: partyRejects });
  return writeReportFiles(head, contents, directory, makeRoom);
}

/** The contents of a file of a report. */
interface ReportFile {
  name: string;
  chunks: Chunks;
}

/** Writes these files as a report, with SHA256SUMS and the manifest, as `writeReport` does. */
export async function writeReportFiles(
  head: ReportHead,
  contents: readonly ReportFile[],
  directory: string,
  makeRoom?: MakeRoom,
): Promise<WrittenReport> {
  const { runId, masked } = head;
  if (!/^\w[\w.-]*$/.test(runId))
    throw new ReportError('report_not_written', 'the run id cannot be used as a folder name');
  const folder = join(directory, masked ? `${runId}-masked` : runId);
  try {
    return { directory: folder, files: await writeFiles(head, contents, folder, makeRoom) };
  } catch (error) {
    if (error instanceof ReportError) throw error;
    const message = `the report could not be written to ${folder}: ${describeFailure(error)}`;
    throw new ReportError('report_not_written', message, { cause: error });
  }
}

const fullDisk: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function describeFailure(error: unknown): string {
  const message = readMessage(error);
  if (!fullDisk.has(readErrorCode(error))) return message;
  return `${message}; no file of the report was left there. Free disk space, or choose another folder with --out, and run \`nightscreen report\` again`;
}

/** All files get their final names together. Throws when the folder is a symbolic link or not a folder. */
async function writeFiles(
  head: ReportHead,
  contents: readonly ReportFile[],
  folder: string,
  makeRoom?: MakeRoom,
): Promise<readonly WrittenFile[]> {
  await makeFolder(folder, 'name another folder');
  if (!(await lstat(folder)).isDirectory()) throw new Error('the folder is a symbolic link or not a folder');
  await chmod(folder, 0o700);
  await removeRemains(folder);
  const written: { passing: string; final: string }[] = [];
  const add = async (name: string, chunks: Chunks): Promise<WrittenFile> => {
    const passing = join(folder, toPassingName(name));
    written.push({ passing, final: join(folder, name) });
    return { name, ...(await writeNew(passing, chunks, head.nameInCommands)) };
  };
  const remains: string[] = [];
  try {
    const files = await addFiles(add, head, contents);
    await makeRoom?.(folder, files);
    for (const { passing, final } of written) {
      await rename(passing, final);
      remains.push(final);
    }
    await syncFolder(folder);
    return files;
  } catch (error) {
    // A part of a report is worse than none. A file that cannot be removed was never written.
    remains.push(...written.map(({ passing }) => passing));
    await Promise.allSettled(remains.map((path) => rm(path, { force: true })));
    throw error;
  }
}

async function addFiles(
  add: (name: string, chunks: Chunks) => Promise<WrittenFile>,
  head: ReportHead,
  contents: readonly ReportFile[],
): Promise<readonly WrittenFile[]> {
  // Side by side: one is rendered while the database reads for another. After a failure all must have ended before the files are removed.
  const written = await Promise.allSettled(contents.map(({ name, chunks }) => add(name, chunks)));
  const files = written.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  const sums = files.map((file) => `${file.sha256}  ${file.name}\n`);
  files.push(await add('SHA256SUMS', sums));
  files.push(await add('manifest.json', [toManifest(head, files)]));
  return files;
}

function toManifest({ runId, masked, version }: ReportHead, files: readonly WrittenFile[]): string {
  const manifest: z.infer<typeof manifestJsonSchema> = {
    schema: 'nightscreen/report-manifest/1',
    runId,
    ...(masked && { masked }),
    version,
    files: [...files],
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** `manifest.json`: the files of a report, each with its size and SHA-256 (hex); written last. */
export const manifestJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/report-manifest/1'),
  runId: z.string(),
  /** Set where names are initials. */
  masked: z.literal(true).optional(),
  /** The version of Nightscreen that made the run. */
  version: z.string(),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.number().int().nonnegative(), sha256: z.string() })),
});

const surplus: typeof surplusColumn = 'rejected_surplus';

/**
 * `rejects.csv`: each row that was rejected, or accepted with values in doubt: the fields of the source in their order, then line, reason and
 * outcome. A corrected file is imported with the same mapping. Formulas and hidden characters are marked as in other files; the import
 * removes the marks.
 */
export function renderRejectsCsv(report: Report): Generator<string> {
  return renderRejects(listRows(report).filter((row) => !isOfParties(row)));
}

/** `rejects-parties.csv`: the same for rows of related parties, whose sources have other headers; null where there are none. */
export function renderPartyRejectsCsv(report: Report): Generator<string> | null {
  const rows = listRows(report).filter(isOfParties);
  return rows.length === 0 ? null : renderRejects(rows);
}

/** A row to correct; `reasons`: one for a rejected row, one per value in doubt for an accepted row. */
interface RowToCorrect extends Pick<RejectedRow, 'line' | 'file' | 'column' | 'valueClass' | 'reference' | 'fields'> {
  reasons: readonly { code: string; words: string }[];
  outcome: 'rejected' | 'accepted';
}

function listRows({ rejects, doubted }: Report): readonly RowToCorrect[] {
  const rejected = (rejects ?? []).map(
    ({ reason, ...row }): RowToCorrect => ({
      ...row,
      reasons: [{ code: reason, words: codeWords.reject[reason] }],
      outcome: 'rejected',
    }),
  );
  const accepted = doubted.map(
    ({ doubts, ...row }): RowToCorrect => ({
      ...row,
      column: doubts.map(({ column }) => column).join('; '),
      valueClass: null,
      reasons: doubts.map(({ why }) => ({ code: why, words: codeWords.doubt[why] })),
      outcome: 'accepted',
    }),
  );
  return [...rejected, ...accepted];
}

const rowOutcomeWords = {
  rejected: 'rejected',
  accepted:
    'accepted: the customer is screened; the value counts as unknown, and a name in doubt is searched as written',
} as const;

const ownCells: Readonly<Record<RejectsColumn, (row: RowToCorrect) => Cell>> = {
  rejected_line: (row) => row.line,
  rejected_file: (row) => row.file,
  rejected_column: (row) => row.column,
  rejected_reason: (row) => row.reasons.map(({ code }) => code).join('; '),
  rejected_because: (row) => row.reasons.map(({ words }) => words).join('; '),
  rejected_value: (row) => row.valueClass,
  rejected_reference: (row) => row.reference,
  rejected_surplus: (row) => readField(row, surplus),
  rejected_outcome: (row) => rowOutcomeWords[row.outcome],
};

const ownColumns = Object.entries(ownCells).map(([key, cell]): Column<RowToCorrect> => ({ key, cell }));

/** The headers are in the order of the source; rows of several sources may have different ones. */
function renderRejects(rejects: readonly RowToCorrect[]): Generator<string> {
  const headers = new Set<string>();
  for (const { fields } of rejects) for (const header of Object.keys(fields)) headers.add(header);
  headers.delete(surplus);
  return renderCsv([...[...headers].map(toFieldColumn), ...ownColumns], rejects);
}

/** Visible text that `restoreHidden` (src/roster) reverses: a code point spelled in the text itself gets an escaped bracket. */
export const markHidden = (text: string): string =>
  toVisibleLines(text.replace(/\[(?=U\+[0-9A-F]{4,6}\])/g, '[U+005B]'));

function toFieldColumn(header: string): Column<RowToCorrect> {
  return { key: markFormula(markHidden(header)), cell: (row) => readField(row, header) };
}

function readField(row: Pick<RowToCorrect, 'fields'>, header: string): Cell {
  const text = Object.hasOwn(row.fields, header) ? row.fields[header] : undefined;
  return text === undefined ? null : markFormula(markHidden(text));
}
