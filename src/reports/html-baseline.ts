import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import type { ShownGroup } from './choose-shown.js';
import { countNoun, formatCount } from './format-count.js';
import { showStanding } from './html-change-list.js';
import { type FindCode, furtherHitsPlace, toFindCode } from './html-further-hits.js';
import { type Markup, nothing, section, showParty, showText, showTexts } from './html-markup.js';
import { showCountries, showTopics } from './html-match.js';
import { showTable, type TableColumn } from './html-table.js';
import type { MatchChangeFacts } from './list-facts.js';
import type { Report } from './report.js';

const baselineColumns = (findCode: FindCode): readonly TableColumn<MatchChangeFacts>[] => [
  { title: 'Customer', cell: showCustomerName },
  { title: 'Listed party', cell: showListedName },
  { title: 'Listed for', cell: ({ after }) => (after === null ? nothing : showTopics(after, null)) },
  { title: 'Score', cell: ({ after }) => (after === null ? nothing : `${after.score}${after.isHit ? ', hit' : ''}`) },
  { title: 'Alert', cell: (change) => showStanding(change, findCode(change)) },
];

/** Matches of customers screened for the first time, listed by severity, apart from what is new; left out when there are none. */
export function showBaseline(report: Report, shown: readonly ShownGroup[]): Markup {
  const { baseline } = report;
  if (baseline.length === 0) return nothing;
  const total = baseline.reduce((sum, group) => sum + group.count, 0);
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
      (group, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.count)}</b> <i>${severityWords[group.severity].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">Found on customers that were screened for the first time. There is nothing to compare them with, so they are not counted among the changes; they want to be looked at all the same. Each customer and related party counts for itself, also where one answer serves several.</p>
${shown.filter((one) => one.section === 'baseline').map((one) => showGroup(one, toFindCode(report)))}`,
  );
}

function showGroup(shown: ShownGroup, findCode: FindCode): Markup {
  const { severity, count } = shown.group;
  const caption = 'One line per match; score as the service gave it';
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(count, 'match', 'matches')}</span></h3>
${shown.first.length === 0 ? nothing : showTable(caption, baselineColumns(findCode), shown.first, null, { name: 'lines' })}
${furtherHitsPlace(shown)}
</section>`;
}

function showCustomerName({ party }: MatchChangeFacts): Markup {
  const birthDates = party.birthDate === null ? [] : [party.birthDate];
  return html`${showParty(party)} <small>born ${showTexts(birthDates)}, ${showCountries(party.countries)}</small>`;
}

function showListedName({ after }: MatchChangeFacts): Markup {
  if (after === null) return nothing;
  return html`${showText(after.name)} <small>born ${showTexts(after.birthDates)}, ${showCountries(after.countries)}</small>`;
}
