import { formatDay } from '../reports/format-time.js';
import type { Report } from '../reports/report.js';
import { toVisibleText } from '../reports/visible-text.js';

/** The subject: how the run stands and its counts first, then key mode, roster and day. */
export function toSubject(report: Report): string {
  const { run, verdict } = report;
  const context = [run.mode === 'test' ? 'TEST key' : '', toVisibleText(run.roster ?? ''), formatDay(run.finishedAt)];
  return `[${verdict.level.toUpperCase()}] ${verdict.short} - ${context.filter((word) => word !== '').join(', ')}`;
}
