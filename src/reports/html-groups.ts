import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange, fieldWords, severityWords } from './change-words.js';
import { countNoun } from './format-count.js';
import { type Markup, nothing, section, showParty, showText } from './html-markup.js';
import { shownLines, showRest } from './html-table.js';
import type { MatchChangeFacts } from './list-facts.js';
import type { Report } from './report.js';

import type { Flood } from './split-floods.js';
import { describeDrift, describeWatch } from './watch-words.js';

/** How many changes are told together, many to a line. */
const countGrouped = ({ changes }: Pick<Report, 'changes'>): number =>
  (changes ?? []).reduce((sum, { count, singleCount }) => sum + count - singleCount, 0);

/** Whether the page has something to tell of groups and drift. */
export const hasGroups = (report: Pick<Report, 'changes' | 'watch'>): boolean =>
  countGrouped(report) > 0 || (report.watch !== null && describeWatch(report.watch).length > 0);

/** Changes that touched many customers alike, and how what was found compares with what is usual; nothing where there is neither. */
export async function showGroups(report: Report): Promise<Markup> {
  if (!hasGroups(report)) return nothing;
  const { changes, watch } = report;
  const drift = describeDrift(watch);
  const groups: Markup[] = [];
  for (const { severity, floods } of changes ?? []) {
    if (floods.length === 0) continue;
    groups.push(html`<section class="severity ${severity}" aria-label="Groups, ${severityWords[severity]}">
<h3><span class="label">${severityWords[severity]}</span></h3>
${await showFloods(floods)}</section>
`);
  }
  return section(
    'groups',
    'Groups and drift',
    html`${
      drift === null
        ? nothing
        : html`<p class="drift" role="note"><strong>Unusual volume:</strong> ${drift}.</p>
`
    }${groups}${watch === null ? nothing : html`<ul class="plain">${describeWatch(watch).map((line) => html`<li>${line}</li>`)}</ul>`}`,
  );
}

/** Changes that touched many customers alike, one line each, with a few of them, the biggest first; nothing where there are none. */
async function showFloods(floods: readonly Flood[]): Promise<Markup> {
  if (floods.length === 0) return nothing;
  const shown: Markup[] = [];
  for (const flood of floods.slice(0, shownLines)) shown.push(showFlood(flood, await flood.readExamples()));
  return html`<ul class="floods">
${shown}</ul>
${showRest(shown.length, 0, floods.length, 'report.json')}`;
}

function showFlood({ name, by, customers, changes }: Flood, examples: readonly MatchChangeFacts[]): Markup {
  const [first] = examples;
  if (first === undefined) return nothing;
  const match = first.after ?? first.before;
  const fields = first.fields.length === 0 ? '' : ` (${first.fields.map((field) => fieldWords[field]).join(', ')})`;
  return html`<li><b>${countNoun(customers, 'customer')}</b>: ${describeChange(first)}${fields}${by === 'listed_party' ? showListed(match) : nothing}; ${causeWords[first.cause]}.
<small>Such as ${examples.map((change, index) => html`${index === 0 ? '' : ', '}${showParty(change.party)}`)}. All ${countNoun(changes, 'change')}: <code>changes.csv</code>, group <code>${name}</code>.</small></li>
`;
}

const showListed = (match: Match | null): Markup =>
  match === null ? nothing : html`, ${showText(match.name)} <code>${showText(match.id)}</code>`;
