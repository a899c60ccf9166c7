import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange, fieldWords } from './change-words.js';
import { countNoun } from './format-count.js';
import { type Markup, nothing, showParty, showText } from './html-markup.js';
import { shownLines, showRest } from './html-table.js';
import type { MatchChangeFacts } from './run-facts.js';
import type { Flood } from './split-floods.js';

/** Changes that touched many customers alike, one line each, with a few of them, the biggest first; nothing where there are none. */
export async function showFloods(floods: readonly Flood[]): Promise<Markup> {
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
