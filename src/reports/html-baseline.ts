import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { showChangeList } from './html-change-list.js';
import { type Markup, nothing, section } from './html-markup.js';
import { neverCut, shownLines, showRest } from './html-table.js';
import type { ChangeGroup, Report } from './report.js';

/** Matches of customers screened for the first time, listed by severity, apart from what is new; left out when there are none. */
export function showBaseline(report: Report): Markup {
  const { baseline } = report;
  if (baseline.length === 0) return nothing;
  const total = baseline.reduce((sum, group) => sum + group.changes.length, 0);
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
      (group, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.changes.length)}</b> <i>${severityWords[group.severity].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">Found on customers that were screened for the first time. There is nothing to compare them with, so they are not counted among the changes; they want to be looked at all the same.</p>
${baseline.map(showGroup)}`,
  );
}

function showGroup({ severity, changes }: ChangeGroup): Markup {
  const shown = neverCut.has(severity) ? changes : changes.slice(0, shownLines);
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(changes.length, 'match', 'matches')}</span></h3>
${showChangeList(shown)}
${neverCut.has(severity) ? nothing : showRest(changes.length, 'changes.csv')}
</section>`;
}
