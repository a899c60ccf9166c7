import { formatDay } from './format-time.js';
import type { Report } from './report.js';
import { toVisibleText } from './visible-text.js';

const titles: Readonly<Record<Report['run']['kind'], string>> = {
  import: 'Roster import',
  screen: 'Screening',
  rescreen: 'Rescreening',
  onboard: 'Onboarding',
  sweep: 'Dossier sweep',
  check: 'Single check',
  assure: 'Measurement of recall',
};

/** The report's title: what was done, to which roster, on which day (UTC). */
export function toTitle(report: Report): string {
  const { kind, roster, finishedAt } = report.run;
  return `${titles[kind]}${roster === null ? '' : ` of ${toVisibleText(roster)}`}, ${formatDay(finishedAt)}`;
}
