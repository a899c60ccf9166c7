import { html } from 'hono/html';
import { countNoun, formatCount } from './format-count.js';
import { formatDay, formatDuration } from './format-time.js';
import { showAccepted } from './html-accepted.js';
import { showContents } from './html-contents.js';
import { type Markup, nothing, showText, showTime } from './html-markup.js';
import { countCritical, countDays } from './item-words.js';
import { levelWords } from './level-words.js';
import type { Report } from './report.js';
import { toTitle } from './title.js';

/** The top of the page: title, test banner, verdict, and where to find what. */
export function showOpening(report: Report): Markup {
  const { run, verdict } = report;
  return html`
<header>
<p class="masthead">Nightscreen <span>${run.organisation === 'default' ? '' : showText(run.organisation)}</span></p>
<h1>${showText(toTitle(report))}</h1>
<p class="muted">${showWhat(report)}${showCompared(report)}.</p>
${run.mode === 'test' ? html`<p class="test" role="note"><strong>TEST: not evidence.</strong> This run used a test key; its answers say nothing about real customers.</p>` : nothing}
${showAccepted(report)}<div class="verdict">
<p class="level">${levelWords[verdict.level]}${verdict.waiting === null ? nothing : html`<span>${verdict.coverage}</span>`}</p>
<p class="headline">${toHeadline(report)}</p>
${showFigures(report)}<p class="news">${verdict.news}</p>
${verdict.remarks.length === 0 ? nothing : html`<ul>${verdict.remarks.map((remark) => html`<li>${showText(remark)}</li>`)}</ul>`}
</div>
</header>
${showContents(report)}`;
}

/** How many wait; the figures say how urgent they are. */
function toHeadline({ openItems, verdict }: Report): string {
  if (openItems === null || openItems.waiting === 0) return verdict.waiting ?? verdict.coverage;
  const { waiting, customers } = openItems;
  const whose = customers === null ? '' : ` of ${countNoun(customers, 'customer')}`;
  return `${countNoun(waiting, 'alert')}${whose} ${waiting === 1 ? 'waits' : 'wait'} for a decision`;
}

/** What is urgent of what waits, as figures to be read at a glance. */
function showFigures({ openItems, run }: Report): Markup {
  if (openItems === null || openItems.waiting === 0) return nothing;
  const { overdue, oldestAt, proposed, absent } = openItems;
  const show = (figure: string, name: string, isUrgent = false): Markup =>
    html`<span class="term${isUrgent ? ' urgent' : ''}"><b>${figure}</b> <i>${name}</i></span> `;
  const critical = countCritical(openItems);
  return html`<p class="figures">${show(formatCount(critical), 'critical', critical > 0)}${show(formatCount(overdue), 'overdue', overdue > 0)}${oldestAt === null ? nothing : show(countDays(oldestAt, run.finishedAt), `the oldest, since ${formatDay(oldestAt)}`)}${proposed === 0 ? nothing : show(formatCount(proposed), 'for a second person')}${absent === null || absent === 0 ? nothing : show(formatCount(absent), 'no longer matched, to be confirmed')}</p>
`;
}

function showWhat({ run, span }: Report): Markup {
  if (span !== null) {
    return html`Span <code>${run.runId}</code>, ${showTime(span.from)} to ${showTime(span.until)}`;
  }
  return html`Run <code>${run.runId}</code>, ${showTime(run.startedAt)}, took ${formatDuration(run.startedAt, run.finishedAt)}`;
}

function showCompared(report: Report): Markup {
  const { comparedWith } = report.run;
  if (comparedWith === null) return report.changes === null ? nothing : html`. There is no earlier run to compare with`;
  return html`.<br>Compared with run <code>${comparedWith.runId}</code> of ${showTime(comparedWith.finishedAt)}`;
}
