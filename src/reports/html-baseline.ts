import { html, raw } from 'hono/html';
import type { Severity } from '../changes/change-event.js';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { showChangeLines } from './html-change-list.js';
import { type Markup, nothing, section, showParty, showText, showTexts } from './html-markup.js';
import { showCountries, showTopics } from './html-match.js';
import { choose, showRest, showTable, type TableColumn } from './html-table.js';
import type { ChangeGroup, Report } from './report.js';
import type { MatchChangeFacts } from './run-facts.js';

const columns: readonly TableColumn<MatchChangeFacts>[] = [
  { title: 'Customer', cell: showCustomer },
  { title: 'Listed party', cell: showListed },
  { title: 'Listed for', cell: ({ after }) => (after === null ? nothing : showTopics(after, null)) },
  { title: 'Flagged as hit', cell: ({ after }) => (after?.isHit === true ? 'yes' : 'no') },
];

/** Matches of customers screened for the first time, listed by severity, apart from what is new; left out when there are none. */
export async function showBaseline(report: Report): Promise<Markup> {
  const { baseline } = report;
  if (baseline.length === 0) return nothing;
  const total = baseline.reduce((sum, group) => sum + group.count, 0);
  const groups: Markup[] = [];
  for (const group of baseline) groups.push(showGroup(group, await readUnheld(report, group.severity)));
  return section(
    'baseline',
    'First screenings',
    html`<p class="sum"><span class="term whole"><b>${formatCount(total)}</b> <i>${total === 1 ? 'match' : 'matches'}</i></span>${baseline.map(
      (group, index) =>
        html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term"><b>${formatCount(group.count)}</b> <i>${severityWords[group.severity].toLowerCase()}</i></span></span>`,
    )}</p>
<p class="muted">Found on customers that were screened for the first time. There is nothing to compare them with, so they are not counted among the changes; they want to be looked at all the same. Each customer and related party counts for itself, also where one answer serves several.</p>
${groups}`,
  );
}

interface Unheld {
  hits: number;
  lines: readonly Markup[];
}

/** The hits for sanctions beyond what is held, as lines: these take less memory than the facts. */
async function readUnheld({ cut }: Report, severity: Severity): Promise<Unheld> {
  const lines: Markup[] = [];
  if (cut.baseline === null || cut.baseline.unheldSanctionHits[severity] === 0) return { hits: 0, lines };
  let hits = 0;
  for await (const batch of cut.baseline.readSanctionHits(severity)) {
    hits += batch.length;
    lines.push(raw(String(await showChangeLines(batch))));
  }
  return { hits, lines };
}

function showGroup({ severity, count, changes }: ChangeGroup, unheld: Unheld): Markup {
  const { first, others } = choose(changes);
  const caption = 'One line per match; score and rank as the service gave them';
  return html`
<section class="severity ${severity}" aria-label="First screenings, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span> <span class="muted">${countNoun(count, 'match', 'matches')}</span></h3>
${first.length === 0 ? nothing : showTable(caption, columns, first, null)}
${others.length === 0 ? nothing : showChangeLines(others)}${unheld.lines}${showRest(first.length, others.length + unheld.hits, count, 'changes.csv')}
</section>`;
}

function showCustomer({ party }: MatchChangeFacts): Markup {
  const birthDates = party.birthDate === null ? [] : [party.birthDate];
  return html`${showParty(party)}<br><small>born ${showTexts(birthDates)}, ${showCountries(party.countries)}</small>`;
}

function showListed({ after }: MatchChangeFacts): Markup {
  if (after === null) return nothing;
  return html`${showText(after.name)}<br><small>born ${showTexts(after.birthDates)}, ${showCountries(after.countries)}; score ${after.score}, rank ${after.rank}</small>`;
}
