import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MailError, ReportError, readMessage, usageError } from '../errors.js';
import { makeFolders } from '../files.js';
import { gatherBy } from '../gather-by.js';
import { type ReportToMail, writeArchive } from '../mail/archive.js';
import type { Recipient } from '../mail/settings.js';
import { maskReport } from '../reports/mask-report.js';
import { printPdf } from '../reports/print-pdf.js';
import { type Report, toReport } from '../reports/report.js';
import type { ToReviewFacts } from '../reports/run-facts.js';
import {
  digestFile,
  type MakeRoom,
  publishReport,
  type WrittenFile,
  type WrittenReport,
  writeReport,
} from '../reports/write-report.js';
import type { Database, Queryable } from '../store/database/database.js';
import { ownsTables } from '../store/night/held-runs.js';
import { readReviewOrganisation, readRosterNames } from '../store/organisations.js';
import { readRunFacts } from '../store/reports/facts.js';
import { fixReportRevision, noteManifest, type ReportRevision, readRevisions } from '../store/reports/revisions.js';
import { readSpanFacts, readSpanRuns, type SpanOfRuns } from '../store/reports/span-facts.js';
import { readReportSheet } from '../store/review/waiting.js';
import { findReportableRuns, type RunRow, toRunId } from '../store/runs.js';
import type { RunState } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { listDiscrepancies, toWaitingAlert } from './review/alerts.js';
import { findRun } from './run-reference.js';
import { toExitCode } from './run-summary.js';

/** A report on disk, with its content. */
export interface RunReport extends WrittenReport {
  runId: string;
  runNumber: number;
  revision: number;
  state: RunState;
  report: Report;
}

/** A report on disk. */
export type ReportResult = Omit<RunReport, 'report'> & { exitCode: number };

/** The run of a report, and the options of its files. */
export interface ReportChoice {
  /** Without it, the newest screening of each roster. */
  runId?: string | undefined;
  directory?: string | undefined;
  /** With initials instead of names. */
  mask?: boolean | undefined;
  /** The path of a Chromium that prints the page to a PDF as well. */
  chromium?: string | undefined;
}

/**
 * Writes the report of a run, or of the newest screening of each roster, and calls `afterEach` for each report that is not masked. Throws
 * ConfigError when there is no such run, ReportError when sums do not hold or the files cannot be written.
 */
export async function runReports(
  app: AppContext,
  { runId, directory, mask = false, chromium }: ReportChoice,
  afterEach: (report: RunReport) => Promise<void> = async () => {},
): Promise<readonly ReportResult[]> {
  await requireTableOwner(app.database);
  const { organisation } = app.settings;
  const runs =
    runId === undefined ? await findReportableRuns(app.database, organisation) : [await findReportable(app, runId)];
  if (runs.length === 0) {
    const message =
      'there is no finished screening to report; run `nightscreen rescreen` or `nightscreen onboard` first';
    throw usageError('run', message);
  }
  const results: ReportResult[] = [];
  for (const run of runs) {
    if (mask) {
      results.push(await addPdf(await writeMaskedReport(app, run, directory), chromium));
      continue;
    }
    const written = await writeReportFor(app, run, directory);
    await afterEach(written);
    const { report: _, ...result } = written;
    results.push(await addPdf({ ...result, exitCode: toExitCode(run.state) }, chromium));
  }
  return results;
}

/** Throws ConfigError for a login that may not read all that a report holds. */
export async function requireTableOwner(database: Database): Promise<void> {
  if (await ownsTables(database)) return;
  throw usageError(
    'run',
    'this login does not own the tables, and only their owner writes reports. `nightscreen runs show ID` and `nightscreen review export` show the same facts',
  );
}

async function addPdf(result: ReportResult, chromium: string | undefined): Promise<ReportResult> {
  if (chromium === undefined) return result;
  return { ...result, files: [...result.files, await printPdf(chromium, result.directory)] };
}

/** Throws ConfigError for a run without a roster and without a sweep, with the command that shows its result. */
async function findReportable({ database, settings }: AppContext, text: string): Promise<RunRow> {
  const run = await findRun(database, settings.organisation, text);
  if (run.historyRemovedAt !== null) {
    const message = `the plan and the calls of ${toRunId(run)} are no longer in the database; its packs of evidence hold them`;
    throw usageError('run', message);
  }
  if (run.kind !== 'check' && run.kind !== 'assure') return run;
  const what = run.kind === 'check' ? 'a single check' : 'a measurement of recall';
  const message = `${toRunId(run)} is ${what}; reports exist only for runs of a roster and for sweeps. \`nightscreen runs show ${run.runId}\` shows its result`;
  throw usageError('run', message);
}

/** Writes and publishes the report of a run; the same run and revision give the same bytes. Throws ReportError. */
export async function writeReportFor(
  app: AppContext,
  runOrId: RunRow | string,
  directory?: string,
): Promise<RunReport> {
  const { database, settings, emit } = app;
  const run = typeof runOrId === 'string' ? await findRun(database, settings.organisation, runOrId) : runOrId;
  const runId = toRunId(run);
  emit({ kind: 'stage_started', runId, stage: 'report' });
  const { report, revision, revisions } = await buildReport(app, run);
  const written = await writeReport(report, directory ?? settings.reports.dir, keepFormerReport(revisions, revision));
  const manifest = written.files.find((file) => file.name === 'manifest.json');
  if (!manifest) throw new ReportError('report_not_written', 'the report has no manifest');
  await noteManifest(database, run.runId, revision, manifest.sha256);
  await prepareReportMail(app, report, written, []);
  emit({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  return { ...written, runId, runNumber: run.runId, revision, state: run.state, report };
}

async function writeMaskedReport(app: AppContext, run: RunRow, directory?: string): Promise<ReportResult> {
  const { report, revision } = await buildReport(app, run);
  const written = await writeMasked(report, directory ?? app.settings.reports.dir);
  const { state } = run;
  return { ...written, runId: report.run.runId, runNumber: run.runId, revision, state, exitCode: toExitCode(state) };
}

/** What waited for reviewers when a run closed, with the news of these runs; null for a run without a stored sheet. */
async function readToReview(
  database: Queryable,
  runId: number,
  organisation: string,
  runIds = [runId],
): Promise<ToReviewFacts | null> {
  const sheet = await readReportSheet(database, runId, runIds);
  if (sheet === null) return null;
  const { reviewKey } = await readReviewOrganisation(database, organisation);
  const { sheetId, waiting } = sheet;
  return { sheetId, waiting, alerts: sheet.alerts.map((alert) => toWaitingAlert(alert, { sheetId, reviewKey })) };
}

async function buildReport({ database, clock, nameInCommands }: AppContext, run: RunRow) {
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
  return { report: { ...toReport(facts, toReview, discrepancies), nameInCommands }, ...revisions };
}

/**
 * Writes a report over all runs of each roster in a span. A report of a past span has the same bytes at any later time. Throws ConfigError where
 * there is no run to report, ReportError when sums do not hold or the files cannot be written.
 */
export async function reportSpans(
  app: AppContext,
  request: SpanRequest,
  options: Omit<ReportChoice, 'runId'>,
): Promise<readonly ReportResult[]> {
  const results: ReportResult[] = [];
  for (const span of await findSpans(app, request, app.clock.now())) {
    results.push(await writeSpan(app, span, options));
  }
  return results;
}

async function writeSpan(
  { database, settings, nameInCommands, emit }: AppContext,
  span: SpanOfRuns,
  { directory = settings.reports.dir, mask = false, chromium }: Omit<ReportChoice, 'runId'>,
): Promise<ReportResult> {
  const { name: runId } = span;
  emit({ kind: 'stage_started', runId, stage: 'report' });
  const report = await database.transaction(async (transaction) => {
    const facts = await readSpanFacts(transaction, span, database);
    const { organisation } = facts;
    const { runId } = span.last;
    const runIds = span.runs.map((run) => run.runId);
    const toReview = await readToReview(transaction, runId, organisation, runIds);
    const discrepancies = await listDiscrepancies(transaction, organisation, { runId });
    return { ...toReport(facts, toReview, discrepancies), nameInCommands };
  });
  const written = mask ? await writeMasked(report, directory) : await writeReport(report, directory, keepFormerSpan);
  emit({ kind: 'stage_finished', runId, stage: 'report', counts: { files: written.files.length } });
  const { state } = report.run;
  return addPdf(
    { ...written, runId, runNumber: span.last.runId, revision: 1, state, exitCode: toExitCode(state) },
    chromium,
  );
}

/** The requested span; without `until` it reaches to the present. An edge is a time, or a run. */
export interface SpanRequest {
  since: Date | string;
  until: Date | string | undefined;
  roster: string | undefined;
}

/**
 * The requested spans: one per roster and mode of key with runs that started in it. Throws ConfigError for a wrong edge, and where a roster has no
 * run or no finished screening in the span.
 */
async function findSpans(
  { database, settings }: AppContext,
  { since, until, roster }: SpanRequest,
  now: Date,
): Promise<readonly SpanOfRuns[]> {
  const { organisation } = settings;
  const names = await readRosterNames(database, organisation);
  if (roster !== undefined && ![...names.values()].includes(roster)) {
    throw usageError('roster', `there is no roster ${roster}; there ${describeRosters([...names.values()])}`);
  }
  const first = await findEdge(database, organisation, since);
  const final = until === undefined ? null : await findEdge(database, organisation, until);
  const named = [first, final].flatMap((edge) => {
    const name = names.get(edge?.run?.rosterId ?? 0);
    return edge?.run && name !== undefined ? [{ run: edge.run, name }] : [];
  });
  const chosen = roster ?? named[0]?.name ?? null;
  const other = named.find(({ name }) => name !== chosen);
  if (other) throw usageError('run', `${toRunId(other.run)} belongs to roster ${other.name}, not to ${chosen}`);
  const from = first.at;
  if (from > now) throw usageError('since', 'is in the future; a span must start in the past');
  // A span whose end is in the future ends with its last run: tomorrow it is the same, unless nights are missing by then.
  const end = final !== null && final.run === null && final.at <= now ? final.at : null;
  const asOf = end === null && !final?.run ? now : null;
  const limit = final?.run ? new Date(final.at.getTime() + 1) : (end ?? now);
  if (limit <= from) throw usageError('until', 'is before --since');
  const runs = await readSpanRuns(database, organisation, { from, until: limit, roster: chosen });
  if (runs.length === 0)
    throw usageError(
      'since',
      `there is no run${chosen === null ? '' : ` of roster ${chosen}`} in this span; \`nightscreen runs\` shows them`,
    );
  // The results of a test key do not apply to a live key, so each mode has its own span.
  const groups = gatherBy(runs, ({ rosterId, mode }) => `${rosterId} ${mode}`);
  return [...groups.values()].map((members) => toSpan(members, { from, end, asOf }));
}

/** An edge of a span: a time, or the start of a run. */
export async function findEdge(
  database: Database,
  organisation: string,
  edge: Date | string,
): Promise<{ at: Date; run: RunRow | null }> {
  if (edge instanceof Date) return { at: edge, run: null };
  const run = await findRun(database, organisation, edge);
  return { at: run.startedAt, run };
}

const describeRosters = (names: readonly string[]): string =>
  names.length === 0 ? 'is none' : `are: ${names.join(', ')}`;

/** `end` is null where the span ends with its last run. */
function toSpan(
  runs: readonly RunRow[],
  { from, end, asOf }: { from: Date; end: Date | null; asOf: Date | null },
): SpanOfRuns {
  const [first, ...others] = runs;
  const last = runs.findLast(
    ({ kind, state }) => kind !== 'import' && (state === 'complete' || state === 'incomplete' || state === 'stopped'),
  );
  if (first === undefined || last === undefined) {
    const listed = runs.map((run) => `${toRunId(run)} (${run.state})`).join(', ');
    throw usageError('since', `no screening in this span has finished, so there is no result to report: ${listed}`);
  }
  const newest = others.at(-1) ?? first;
  const until =
    end ?? runs.reduce((at, run) => (run.finishedAt && run.finishedAt > at ? run.finishedAt : at), last.startedAt);
  const [fromDay, untilDay] = [from, until].map((edge) => edge.toISOString().slice(0, 10));
  const name = `${fromDay}-to-${untilDay}-runs-${first.runId}-to-${newest.runId}`;
  return { name, runs: [first, ...others], last, from, until, asOf };
}

type Place = Pick<AppContext, 'secret' | 'emit'> & { settings: Pick<AppContext['settings'], 'reports'> };

const passwordName = 'NIGHTSCREEN_ARCHIVE_PASSWORD';

/**
 * Prepares a written report for mail: publishes it as the settings say, and writes the attachments for these recipients. A repetition gives the
 * same result. A failure is a warning and a note in the mail, which is sent without that part.
 */
export async function prepareReportMail(
  app: Place,
  report: Report,
  written: WrittenReport,
  recipients: readonly Recipient[],
): Promise<ReportToMail> {
  const { runId: name, finishedAt: at } = report.run;
  const writeMask = () => writeMasked(report, dirname(written.directory));
  return prepareMail(app, { name, at, writeMask }, written, recipients);
}

/** The same for any report: `writeMask` writes it without names, and `at` is the time of the entries of its archive. */
export async function prepareMail(
  app: Place,
  { name, at, writeMask }: { name: string; at: Date; writeMask: () => Promise<WrittenReport> },
  written: WrittenReport,
  recipients: readonly Recipient[],
): Promise<ReportToMail> {
  const isAttached = (attach: Recipient['attach']): boolean =>
    recipients.some((recipient) => recipient.attach === attach);
  const notes: string[] = [];
  const attempt = async <Made>(make: () => Promise<Made>, code: string, note: string): Promise<Made | null> => {
    try {
      return await make();
    } catch (error) {
      app.emit({ kind: 'warning', runId: name, code, message: readMessage(error) });
      notes.push(note);
      return null;
    }
  };
  const { publishTo } = app.settings.reports;
  const folder =
    publishTo === undefined
      ? null
      : await attempt(() => publishReport(written, publishTo), 'report_not_published', unpublished);
  const masked = isAttached('masked') ? await attempt(writeMask, 'masked_report_not_written', unmasked) : null;
  const archive = isAttached('archive')
    ? await attempt(() => archiveReport(app, at, written), 'archive_not_written', unarchived)
    : null;
  return {
    ...written,
    notes,
    ...(folder !== null && { folder }),
    ...(masked && { masked }),
    ...(archive && { archive }),
  };
}

const unpublished =
  'The report could not be copied to the folder for readers. It is on the server, and the operator has a warning.';
const unmasked = 'The masked report could not be written and is not attached.';
const unarchived = 'The encrypted archive could not be written and is not attached.';

async function archiveReport({ secret }: Place, at: Date, written: WrittenReport): ReturnType<typeof writeArchive> {
  const password = secret(passwordName);
  if (password === undefined)
    throw new MailError(
      'archive_password_missing',
      `a recipient gets the report as an archive, but ${passwordName} is not set`,
    );
  return writeArchive(written, password, at);
}

/** The SHA-256 (hex) of the manifest of another report in the folder; null where there is none, or it is the same report. */
async function findOtherReport(folder: string, files: readonly WrittenFile[]): Promise<string | null> {
  const existing = await digestFile(join(folder, 'manifest.json'));
  return files.some((file) => file.name === 'manifest.json' && file.sha256 === existing) ? null : existing;
}

/** Moves the files of a folder into a subfolder. */
async function moveFormerFiles(folder: string, name: string): Promise<void> {
  const target = join(folder, name);
  await makeFolders(target);
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name);
  // The manifest last: until then the folder shows which report its files belong to.
  for (const file of [...files.filter((each) => each !== 'manifest.json'), 'manifest.json']) {
    await rename(join(folder, file), join(target, file));
  }
}

/**
 * Makes room for a revision of a run's report: the same report may be written again, and an earlier revision moves into a subfolder. Throws
 * ReportError `report_exists` for any other report in the folder.
 */
function keepFormerReport(revisions: readonly ReportRevision[], revision: number): MakeRoom {
  return async (folder, files) => {
    const existing = await findOtherReport(folder, files);
    if (existing === null) return;
    const earlier = revisions.filter((one) => one.revision < revision);
    // A process that died after writing has not noted the digest: then the last revision without a digest is the one in the folder.
    const former =
      earlier.find((one) => one.manifestSha256 === existing) ?? earlier.findLast((one) => one.manifestSha256 === null);
    if (!former) {
      throw new ReportError(
        'report_exists',
        `${folder} contains a different report, which is kept. Move it away, or choose another folder with --out`,
      );
    }
    await moveFormerFiles(folder, `revision-${former.revision}`);
  };
}

/** Moves a former report of the span into `earlier-1`, `earlier-2` ...; that of a past span differs only where a run was resumed since. */
export const keepFormerSpan: MakeRoom = async (folder, files) => {
  if ((await findOtherReport(folder, files)) === null) return;
  const kept = (await readdir(folder)).filter((name) => /^earlier-\d+$/.test(name));
  await moveFormerFiles(folder, `earlier-${kept.length + 1}`);
};

/** Writes the masked variant to `<directory>/<run id>-masked`; a different one there moves into a subfolder. Throws ReportError. */
const writeMasked = (report: Report, directory: string): Promise<WrittenReport> =>
  writeReport(maskReport(report), directory, keepExisting);

const keepExisting: MakeRoom = async (folder, files) => {
  const existing = await findOtherReport(folder, files);
  if (existing !== null) await moveFormerFiles(folder, `former-${existing.slice(0, 8)}`);
};
