import { html } from 'hono/html';
import { formatDuration } from './format-time.js';
import { showAccepted } from './html-accepted.js';
import { showContents } from './html-contents.js';
import { type Markup, nothing, showText, showTime } from './html-markup.js';
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
<p class="level">${levelWords[verdict.level]}</p>
<p class="headline">${verdict.coverage}</p>
<p class="news">${verdict.news}</p>
${verdict.remarks.length === 0 ? nothing : html`<ul>${verdict.remarks.map((remark) => html`<li>${showText(remark)}</li>`)}</ul>`}
</div>
</header>
${showContents(report)}`;
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
