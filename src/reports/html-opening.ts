import { html } from 'hono/html';
import { formatCount } from './format-count.js';
import { formatDuration } from './format-time.js';
import { showAccepted } from './html-accepted.js';
import { type Markup, nothing, showText, showTime } from './html-markup.js';
import type { Report } from './report.js';
import { toTitle } from './title.js';
import type { VerdictLevel } from './verdict.js';

const levelWords: Readonly<Record<VerdictLevel, string>> = {
  complete: 'Complete',
  partial: 'Partial',
  red: 'Red: do not rely on this run',
};

/** The top of the page: title, test banner, verdict, and where to find what. */
export function showOpening(report: Report): Markup {
  const { run, verdict } = report;
  return html`
<header>
<p class="masthead">Nightscreen <span>${run.organisation === 'default' ? '' : showText(run.organisation)}</span></p>
<h1>${showText(toTitle(report))}</h1>
<p class="muted">Run <code>${run.runId}</code>, ${showTime(run.startedAt)}, took ${formatDuration(run.startedAt, run.finishedAt)}${showCompared(report)}.</p>
${run.mode === 'test' ? html`<p class="test" role="note"><strong>TEST: not evidence.</strong> This run used a test key; its answers say nothing about real customers.</p>` : nothing}
${showAccepted(report)}<div class="verdict">
<p class="level">${levelWords[verdict.level]}</p>
<p class="headline">${verdict.coverage}</p>
<p class="news">${verdict.news}</p>
${verdict.remarks.length === 0 ? nothing : html`<ul>${verdict.remarks.map((remark) => html`<li>${showText(remark)}</li>`)}</ul>`}
</div>
</header>
<nav aria-label="Contents"><ul>${listContents(report).map(showEntry)}</ul></nav>`;
}

function showCompared(report: Report): Markup {
  const { comparedWith } = report.run;
  if (comparedWith === null) return report.changes === null ? nothing : html`. There is no earlier run to compare with`;
  return html`.<br>Compared with run <code>${comparedWith.runId}</code> of ${showTime(comparedWith.finishedAt)}`;
}

interface Entry {
  id: string;
  title: string;
  count: number | null;
}

function listContents(report: Report): readonly Entry[] {
  const changes = report.changes?.reduce((sum, group) => sum + group.changes.length, 0);
  const first = report.baseline.reduce((sum, group) => sum + group.changes.length, 0);
  const entries: (Entry | null)[] = [
    report.coverage && { id: 'coverage', title: 'Coverage', count: null },
    changes === undefined ? null : { id: 'changes', title: 'Changes', count: changes },
    first === 0 ? null : { id: 'baseline', title: 'First screenings', count: first },
    report.dossiers && { id: 'dossiers', title: 'Dossiers', count: report.dossiers.changes.length },
    report.notScreened && { id: 'not-screened', title: 'Not screened', count: report.notScreened.length },
    report.droppedParties.length === 0
      ? null
      : { id: 'dropped', title: 'No longer in the source', count: report.droppedParties.length },
    report.rejects && { id: 'rejects', title: 'Rejected rows', count: report.rejects.length },
    report.canaries && { id: 'canaries', title: 'Canaries', count: report.canaries.length },
    { id: 'evidence', title: 'Evidence', count: null },
  ];
  return entries.filter((entry) => entry !== null);
}

function showEntry({ id, title, count }: Entry): Markup {
  return html`<li><a href="#${id}">${title}</a>${count === null ? '' : html` <span class="muted">${formatCount(count)}</span>`}</li>`;
}
