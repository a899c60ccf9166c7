import { createHash } from 'node:crypto';
import type { WrittenReport } from '../reports/write-report.js';
import type { MailKind } from './settings.js';

const summaries: ReadonlySet<string> = new Set(['SHA256SUMS', 'manifest.json']);

/**
 * The Message-ID of a report for a recipient, the same for ever: from the run, the contents of the report's files (not the
 * form of the manifest that lists them), the address, and what the mail shows of the report.
 */
export function toMessageId(
  runId: string,
  written: WrittenReport,
  recipient: string,
  from: string,
  shows: MailKind,
): string {
  const contents = written.files
    .filter((file) => !summaries.has(file.name))
    .map((file) => `${file.name} ${file.sha256}`)
    .sort();
  const parts = [runId, contents, recipient.toLowerCase(), ...(shows === 'report' ? [] : [shows])];
  return digestMessageId(parts, from);
}

/** The Message-ID of whatever is told apart by these parts, the same for ever. */
export function digestMessageId(parts: readonly unknown[], from: string): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const domain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
  return `<nightscreen.${digest.slice(0, 40)}@${domain}>`;
}
