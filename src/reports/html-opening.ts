import { html } from 'hono/html';
import { codeWords } from '../vocabulary/words.js';
import {
  noMarkup,
  type PageSection,
  showCode,
  showDay,
  showRemark,
  showSentence,
  showTable,
  showText,
  showTime,
} from './html-markup.js';
import { type Report, toTitle } from './report.js';
import { describeRosterChanges } from './roster-changes.js';
import type { RosterAcceptanceFacts, RosterChangeFacts } from './run-facts.js';
import type { Column, Markup } from './section.js';
import { countNoun, formatCount, formatDuration, keep } from './text.js';
import {
  countCritical,
  countDays,
  describeAcceptance,
  describeExpired,
  describeNews,
  describeRecord,
} from './words.js';

/** The top of the page: title, test banner, verdict and contents. */
export function showOpening(report: Report, sections: readonly PageSection[]): Markup {
  const { run, verdict } = report;
  return html`
<header>
<p class="masthead">Nightscreen <span>${run.organisation === 'default' ? '' : showText(run.organisation)}</span></p>
<h1>${showText(toTitle(report))}</h1>
<p class="muted">${showWhat(report)}${showCompared(report)}.${showRosterChanges(report)}<br>Times are in ${run.timezone}.</p>
${run.mode === 'test' ? html`<p class="test" role="note"><strong>TEST: not evidence.</strong> This run used a test key; its answers are not about real customers. The list of a sandbox has invented names and finds no real sanctioned name.</p>` : noMarkup}
${showAccepted(report)}<div class="verdict">
<p class="level">${codeWords.level[verdict.level]}${verdict.waiting === null ? noMarkup : html`<span>${showSentence(verdict.coverage)}</span>`}</p>
<p class="headline">${showSentence(toHeadline(report))}</p>
${showFigures(report)}<p class="news">${showSentence(verdict.news)}</p>
${verdict.remarks.length === 0 ? noMarkup : html`<ul>${verdict.remarks.map((remark) => html`<li>${showRemark(remark)}</li>`)}</ul>`}
</div>
</header>
${showContents(sections)}`;
}

function toHeadline({ run, openAlerts, verdict, history }: Report): string {
  if (openAlerts === null || openAlerts.waiting === 0) return verdict.waiting ?? verdict.coverage;
  const waiting = `${countNoun(openAlerts.waiting, 'open alert')} of ${countNoun(openAlerts.customers, 'customer')}`;
  const news = run.comparedWith !== null && describeNews(openAlerts);
  return keep(news, waiting, describeExpired(history.settled)).join(', ');
}

function showFigures({ openAlerts, run }: Report): Markup {
  if (openAlerts === null || openAlerts.waiting === 0) return noMarkup;
  const { overdue, oldestAt, proposed, absent } = openAlerts;
  const show = (figure: string, name: Markup | string, isUrgent = false): Markup =>
    html`<span class="term${isUrgent ? ' urgent' : ''}"><b>${figure}</b> <i>${name}</i></span> `;
  const critical = countCritical(openAlerts);
  const figures = keep(
    show(formatCount(critical), 'critical', critical > 0),
    show(formatCount(overdue), 'overdue', overdue > 0),
    oldestAt &&
      show(countDays(oldestAt, run.finishedAt), html`age of the oldest, open since ${showDay(oldestAt, run)}`),
    proposed > 0 && show(formatCount(proposed), proposed === 1 ? 'pending approval' : 'pending approvals'),
    absent > 0 && show(formatCount(absent), 'with an absent match, to be confirmed'),
  );
  return html`<p class="figures">${figures}</p>
`;
}

function showWhat({ run, span }: Report): Markup {
  if (span !== null) {
    return html`Span ${showCode(run.runId)}, ${showTime(span.from, run)} to ${showTime(span.until, run)}`;
  }
  return html`Run ${showCode(run.runId)}, ${showTime(run.startedAt, run)}, took ${formatDuration(run.startedAt, run.finishedAt)}`;
}

function showCompared(report: Report): Markup {
  const { run } = report;
  const { comparedWith } = run;
  if (comparedWith === null)
    return report.changes === null ? noMarkup : html`. There is no earlier run to compare with`;
  return html`.<br>Compared with run ${showCode(comparedWith.runId)} of ${showTime(comparedWith.finishedAt, run)}`;
}

const showRosterChanges = ({ rosterChanges }: Report): Markup =>
  rosterChanges === null ? noMarkup : html`<br>Roster changes: ${describeRosterChanges(rosterChanges)}.`;

const columns: readonly Column<RosterChangeFacts>[] = [
  { title: 'Customer', cell: ({ reference }) => reference },
  { title: 'Before', cell: ({ before }) => describeRecord(before) },
  { title: 'After', cell: ({ after }) => describeRecord(after) },
];

/** The changes of settings since the last report, and the rosters accepted although guards held them. */
export function showAccepted({
  accepted,
  run: { timezone },
}: Pick<Report, 'accepted'> & { run: Pick<Report['run'], 'timezone'> }): Markup {
  const { settingsChanges, rosterAcceptances } = accepted;
  const changes = settingsChanges.map(
    (change) => html`<p>${showRemark(describeAcceptance(change, timezone))}</p>
<ul>${change.differences.map((difference) => html`<li>${showText(difference)}</li>`)}</ul>\n`,
  );
  const settings = html`<div class="accepted" role="note"><p><strong>Settings changed since the last report.</strong> Earlier findings keep their earlier severity.</p>
${changes}</div>\n`;
  const rosters = rosterAcceptances.map((acceptance) => showRosterAcceptance(acceptance, timezone));
  return html`${settingsChanges.length === 0 ? noMarkup : settings}${rosters}`;
}

function showRosterAcceptance(acceptance: RosterAcceptanceFacts, timezone: string): Markup {
  const table = showTable({
    caption: 'The first changes of known customers that were accepted',
    columns,
    lines: acceptance.changes,
    timezone,
  });
  return html`<p class="accepted" role="note">${showRemark(describeRosterAcceptance(acceptance, timezone))}</p>
${acceptance.changes.length === 0 ? noMarkup : table}`;
}

const showContents = (sections: readonly PageSection[]): Markup =>
  html`<nav aria-label="Contents"><ul>${sections.map(
    ({ id, title, note }) =>
      html`<li><a href="#${id}">${title}</a>${note === undefined ? '' : html` <span class="muted">${note}</span>`}</li>`,
  )}</ul></nav>`;

/** The acceptance of a roster that guards held, with their findings, on one line. */
export const describeRosterAcceptance = (acceptance: RosterAcceptanceFacts, timezone: string): string =>
  `The roster was accepted although guards held it: ${describeAcceptance(acceptance, timezone)}. Findings: ${acceptance.heldBy
    .map(({ guard, message }) => `${message} [guard ${guard}]`)
    .join('; ')}`;
