import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import type { ShownGroup } from './choose-shown.js';
import { type DetailLookup, listDetailsOf } from './detail-facts.js';
import { countNoun, formatCount } from './format-count.js';
import { showChangeCard } from './html-change-card.js';
import { showChangeList } from './html-change-list.js';
import { type FindCode, furtherHitsPlace, toFindCode } from './html-further-hits.js';
import { type Markup, nothing, section, showTime } from './html-markup.js';
import { showTools } from './html-tools.js';
import type { Report } from './report.js';

const asCards: ReadonlySet<string> = new Set(['critical', 'high']);

/** So many changes of a severity are compared in full; further ones have a line each, like all of lesser severities. */
const cardsInFull = 20;

/** What changed, by severity: the first serious ones as comparisons, all others one line each. */
export function showChanges(report: Report, shown: readonly ShownGroup[]): Markup {
  const { changes } = report;
  if (changes === null) return nothing;
  const findCode = toFindCode(report);
  const single = changes.reduce((sum, group) => sum + group.singleCount, 0);
  return section(
    'changes',
    'What changed',
    html`${showTotal(changes, report)}${showCarried(report)}${changes.length === 0 ? showQuiet(report) : nothing}${showTools(single)}${shown
      .filter((one) => one.section === 'changes')
      .map((one) => showGroup(one, report.details.lookups, { now: report.run.finishedAt, findCode }))}`,
  );
}

function showTotal(changes: NonNullable<Report['changes']>, { run }: Report): Markup {
  const total = changes.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return nothing;
  const since = run.comparedWith === null ? nothing : html` since ${showTime(run.comparedWith.finishedAt)}`;
  return html`<p class="quiet">${countNoun(total, 'change')}${since}. What of it is to be decided is among what waits.</p>
`;
}

function showCarried({ carriedFrom }: Report): Markup {
  if (carriedFrom.length === 0) return nothing;
  return html`<p class="muted">Includes what earlier runs found and no report had told: ${carriedFrom
    .map((run) => `${run.runId} (${countNoun(run.changes + run.baseline, 'finding')})`)
    .join(', ')}.</p>`;
}

function showGroup(
  shown: ShownGroup,
  lookups: readonly DetailLookup[],
  { now, findCode }: { now: Date; findCode: FindCode },
): Markup {
  const cards = asCards.has(shown.group.severity) ? shown.first.slice(0, cardsInFull) : [];
  const lines = shown.first.slice(cards.length);
  const { group } = shown;
  const { severity, count, singleCount } = group;
  const grouped = count - singleCount;
  return html`
<section class="severity ${severity}" aria-label="${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(count, 'change')}${grouped === 0 ? '' : `, ${formatCount(grouped)} of them told under Groups and drift`}</span></h3>
${cards.length === 0 ? nothing : html`<div class="cards">${cards.map((change) => showChangeCard(change, listDetailsOf(lookups, change.matchId), { now, code: findCode(change) }))}</div>`}${lines.length === 0 ? nothing : showChangeList(lines, findCode)}
${furtherHitsPlace(shown)}
</section>`;
}

function showQuiet(report: Report): Markup {
  const { coverage } = report;
  const counts = coverage?.counts;
  if (counts === undefined) return html`<p>No match changed.</p>`;
  if (counts.screened + counts.reused === 0) {
    return html`<p class="quiet">Nobody was screened in this run: nothing was compared.</p>`;
  }
  const missing = coverage?.states?.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const rest = missing === 0 ? '' : `; of the ${countNoun(missing, 'customer')} not screened nothing is known`;
  return html`<p class="quiet">${missing === 0 ? 'No match changed' : 'Among those screened no match changed'}${rest}.</p>
<p class="muted">Checked: ${countNoun(counts.screened + counts.reused, 'customer')} with ${countNoun(counts.searches, 'search', 'searches')}, ${formatCount(counts.matches)} matches in the answers, ${formatCount(counts.hits)} of them flagged as hits (an answer that serves several customers counts once)${report.run.comparedWith === null ? '' : ', each compared with what was last reported'}.</p>`;
}
