import { basename, dirname } from 'node:path';
import { MailError } from '../../errors.js';
import { writeArchive } from '../../mail/archive.js';
import type { Recipient } from '../../mail/recipients.js';
import type { ReportPlace, ReportToMail } from '../../mail/report-to-mail.js';
import { fillLinkTemplate } from '../../reports/link-template.js';
import { publishReport } from '../../reports/publish-report.js';
import type { Report } from '../../reports/report.js';
import type { WrittenReport } from '../../reports/write-report.js';
import type { Workplace } from '../workplace.js';
import { writeMasked } from './write-masked.js';

/** What it takes to make a report ready. */
type Place = Pick<Workplace, 'secret' | 'tell'> & { settings: Pick<Workplace['settings'], 'reports'> };

/** Where the secret is that opens the archive. */
const passwordName = 'NIGHTSCREEN_ARCHIVE_PASSWORD';

/**
 * Makes a written report ready for mail: publishes it where the settings ask for that, and writes what goes with mail to these recipients.
 * Made again it gives the same. What fails is told as a warning and in the mail, which goes without it.
 */
export async function prepareReportMail(
  workplace: Place,
  report: Report,
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
      const message = error instanceof Error ? error.message : String(error);
      workplace.tell({ kind: 'warning', runId: report.run.runId, code, message });
      notes.push(note);
      return null;
    }
  };
  const { publishTo } = workplace.settings.reports;
  const folder =
    publishTo === undefined
      ? null
      : await attempt(() => publishReport(written, publishTo), 'report_not_published', unpublished);
  const masked = isAttached('masked')
    ? await attempt(() => writeMasked(report, dirname(written.directory)), 'masked_report_not_written', unmasked)
    : null;
  const archive = isAttached('archive')
    ? await attempt(() => archiveReport(workplace, report, written), 'archive_not_written', unarchived)
    : null;
  const isReachable = publishTo === undefined || folder !== null;
  const place = isReachable ? findPlace(workplace, report, written, folder) : null;
  return { ...written, notes, ...(place && { place }), ...(masked && { masked }), ...(archive && { archive }) };
}

const unpublished =
  'The report could not be copied to where it is published; it is on the server, and whoever runs Nightscreen has been told.';
const unmasked = 'The masked report could not be written, so it is not attached to any mail.';
const unarchived = 'The encrypted archive could not be written, so it is not attached to any mail.';

function findPlace(
  { settings }: Place,
  { run }: Report,
  { directory }: WrittenReport,
  folder: string | null,
): ReportPlace | null {
  const { linkTemplate } = settings.reports;
  if (linkTemplate !== undefined) {
    const parts = { runId: basename(directory), file: 'report.html', roster: run.roster ?? 'none' };
    return { kind: 'link', where: fillLinkTemplate(linkTemplate, parts) };
  }
  return folder === null ? null : { kind: 'folder', where: folder };
}

async function archiveReport(
  { secret }: Place,
  { run }: Report,
  written: WrittenReport,
): ReturnType<typeof writeArchive> {
  const password = secret(passwordName);
  if (password === undefined)
    throw new MailError('archive_password_missing', `mail is to carry an archive, but ${passwordName} is not set`);
  return writeArchive(written, password, run.finishedAt);
}
