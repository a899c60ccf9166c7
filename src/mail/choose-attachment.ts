import { join, resolve } from 'node:path';
import { formatSize } from '../reports/format-count.js';
import type { WrittenReport } from '../reports/write-report.js';
import type { MailAttachment } from './mail-message.js';
import type { MessageFact } from './message-lines.js';
import type { ReportToMail } from './report-to-mail.js';
import type { Attach } from './settings.js';

/** The file that goes with a message, by its whole path, for it may be sent from elsewhere, and what is said about one that cannot. */
export interface ChosenAttachment {
  attachments: readonly MailAttachment[];
  facts: readonly MessageFact[];
  /** What is said instead when it turns out that the mail server does not take it. */
  leftBehind: readonly MessageFact[];
  /** What is said instead when it is no longer there by the time it is sent. */
  gone: readonly MessageFact[];
  /** Whether what goes along holds personal data that everybody who gets the message can read. */
  isReadable: boolean;
}

type SizedAttachment = MailAttachment & { bytes: number };

const none: ChosenAttachment = { attachments: [], facts: [], leftBehind: [], gone: [], isReadable: false };
const pageType = 'text/html; charset=utf-8';
/** Headers, both bodies in their longest encoding, and what surrounds the attachment. */
const aroundBytes = 40_000;

/** Chooses what goes with a message of at most `maxBytes`; what is too large is told by size and SHA-256 instead. */
export function chooseAttachment(
  runId: string,
  written: ReportToMail,
  attach: Attach,
  maxBytes: number,
): ChosenAttachment {
  const chosen = findAttachment(runId, written, attach);
  if (attach === 'none') return none;
  if (chosen === null) return { ...none, facts: [['Attachment', 'could not be made, see above']] };
  const { bytes, ...attachment } = chosen;
  const leftBehind = describeMissing(attachment, `because it is too large for mail (${formatSize(bytes)})`);
  if (toEncodedBytes(bytes) + aroundBytes > maxBytes) return { ...none, facts: leftBehind };
  const gone = describeMissing(attachment, 'because it is no longer where it was written');
  return { attachments: [attachment], facts: [], leftBehind, gone, isReadable: attach === 'full' };
}

const describeMissing = ({ name, sha256 }: MailAttachment, because: string): readonly MessageFact[] => [
  ['Not attached', `${name}, ${because}`],
  ['SHA-256', sha256],
];

/** In base64 a line of 76 characters and its end stands for 57 bytes. */
const toEncodedBytes = (bytes: number): number => Math.ceil(bytes / 57) * 78;

function findAttachment(runId: string, written: ReportToMail, attach: Attach): SizedAttachment | null {
  if (attach === 'full') return findPage(written, `${runId}-report.html`);
  if (attach === 'masked') return written.masked ? findPage(written.masked, `${runId}-report-masked.html`) : null;
  if (attach === 'none' || !written.archive) return null;
  const { path, sha256, bytes } = written.archive;
  return { name: `${runId}-report.zip`, path: resolve(path), contentType: 'application/zip', sha256, bytes };
}

function findPage({ directory, files }: WrittenReport, name: string): SizedAttachment | null {
  const page = files.find((file) => file.name === 'report.html');
  if (page === undefined) return null;
  return {
    name,
    path: resolve(join(directory, page.name)),
    contentType: pageType,
    sha256: page.sha256,
    bytes: page.bytes,
  };
}
