import { html } from 'hono/html';
import type { Severity } from '../changes/change-event.js';
import { severityWords } from './change-words.js';
import { type DetailLookup, listDetailsOf } from './detail-facts.js';
import { countNoun, formatCount } from './format-count.js';
import { showChangeCard } from './html-change-card.js';
import { showChangeList } from './html-change-list.js';
import { showFloods } from './html-floods.js';
import { type Markup, nothing, section } from './html-markup.js';
import { neverCut, shownLines, showRest } from './html-table.js';
import type { ChangeGroup, Report } from './report.js';
import { describeDrift } from './watch-words.js';

const asCards: ReadonlySet<Severity> = new Set(['critical', 'high', 'medium']);

/** The changes by severity: each serious one as a comparison of its own, the others as a list. */
export function showChanges(report: Report): Markup {
  const { changes } = report;
  if (changes === null) return nothing;
  return section(
    'changes',
    'Changes',
    html`${showCarried(report)}${showDrift(report)}${changes.length === 0 ? showQuiet(report) : changes.map((group) => showGroup(group, report.details.lookups, report.run.finishedAt))}`,
  );
}

function showCarried({ carriedFrom }: Report): Markup {
  if (carriedFrom.length === 0) return nothing;
  return html`<p class="muted">Includes what earlier runs found and no report had told: ${carriedFrom
    .map((run) => `${run.runId} (${countNoun(run.changes + run.baseline, 'finding')})`)
    .join(', ')}.</p>`;
}

function showDrift({ watch }: Report): Markup {
  const drift = describeDrift(watch);
  return drift === null ? nothing : html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>`;
}

function showGroup(
  { severity, changes, single, floods }: ChangeGroup,
  lookups: readonly DetailLookup[],
  now: Date,
): Markup {
  const shown = neverCut.has(severity) ? single : single.slice(0, shownLines);
  return html`
<section class="severity ${severity}" aria-label="${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(changes.length, 'change')}</span></h3>
${showFloods(floods)}
${asCards.has(severity) ? shown.map((change) => showChangeCard(change, listDetailsOf(lookups, change.matchId), now)) : showChangeList(shown)}
${neverCut.has(severity) ? nothing : showRest(single.length, 'changes.csv')}
</section>`;
}

function showQuiet(report: Report): Markup {
  const { coverage } = report;
  const counts = coverage?.counts;
  if (counts === undefined) return html`<p>No match changed.</p>`;
  if (counts.screened + counts.reused === 0) {
    return html`<p class="quiet">Nobody was screened in this run: nothing was compared.</p>`;
  }
  return html`<p class="quiet">No match changed.</p>
<p class="muted">Checked: ${countNoun(counts.screened + counts.reused, 'customer')} with ${countNoun(counts.searches, 'search', 'searches')}, ${formatCount(counts.matches)} matches in the answers, ${formatCount(counts.hits)} of them flagged as hits (an answer that serves several customers counts once)${report.run.comparedWith === null ? '' : ', each compared with what was last reported'}.</p>`;
}
