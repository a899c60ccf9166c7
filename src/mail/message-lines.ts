import { describeSettingsChanges } from '../reports/accepted-words.js';
import { formatTime } from '../reports/format-time.js';
import type { Report } from '../reports/report.js';
import { toVisibleText } from '../reports/visible-text.js';
import type { WrittenReport } from '../reports/write-report.js';

/** What a message says: a headline, sentences, details one by one, facts by name, a closing. */
export interface MessageLines {
  headline: string;
  sentences: readonly string[];
  details?: readonly string[];
  facts: readonly (readonly [string, string])[];
  closing: string;
}

/** Puts the report's verdict into the lines of a message, without any personal data; `attached` says whether the report's page goes with it. */
export function toMessageLines(report: Report, written: WrittenReport, attached: boolean): MessageLines {
  const { run, verdict } = report;
  const test = run.mode === 'test' ? ['TEST: made with a test key, this is not evidence.'] : [];
  return {
    headline: `${verdict.level.toUpperCase()}: ${verdict.coverage}`,
    sentences: [...describeSettingsChanges(report.accepted), ...test, verdict.news, ...verdict.remarks]
      .filter((sentence) => sentence !== '')
      .map(toVisibleText),
    facts: [
      ['Roster', run.roster ?? 'none'],
      ['Organisation', run.organisation],
      ['Run', `${run.runId} (${run.kind})`],
      ['Finished', formatTime(run.finishedAt)],
      ['Report', written.directory],
    ].map(([name = '', value = '']) => [name, toVisibleText(value)] as const),
    closing: attached
      ? 'The attached report holds personal data: treat it accordingly.'
      : 'This message holds no personal data; who it is about is in the report.',
  };
}
