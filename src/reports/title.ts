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
  reconcile: 'Reconciliation',
};

/** The report's title: what was done, to which roster, on which day or days (UTC), and whether names are masked. */
export function toTitle(report: Report): string {
  const { kind, roster, finishedAt } = report.run;
  const what = report.span ? 'Screenings' : titles[kind];
  const begin = report.span ? `${formatDay(report.span.from)} to ` : '';
  const masked = report.isMasked ? ' - MASKED' : '';
  return `${what}${roster === null ? '' : ` of ${toVisibleText(roster)}`}, ${begin}${formatDay(finishedAt)}${masked}`;
}
