import { html } from 'hono/html';
import type { Match } from '../matches/match.js';
import { causeWords, describeChange, fieldWords } from './change-words.js';
import { countNoun } from './format-count.js';
import { type Markup, nothing, showParty, showText } from './html-markup.js';
import type { Flood } from './split-floods.js';

const examples = 3;

/** Changes that touched many customers alike, one line each, with a few of them; nothing where there are none. */
export function showFloods(floods: readonly Flood[]): Markup {
  if (floods.length === 0) return nothing;
  return html`<ul class="floods">
${floods.map(showFlood)}</ul>
`;
}

function showFlood({ name, by, customers, changes }: Flood): Markup {
  const [first] = changes;
  const match = first.after ?? first.before;
  const fields = first.fields.length === 0 ? '' : ` (${first.fields.map((field) => fieldWords[field]).join(', ')})`;
  const shown = changes.slice(0, examples);
  return html`<li><b>${countNoun(customers, 'customer')}</b>: ${describeChange(first)}${fields}${by === 'listed_party' ? showListed(match) : nothing}; ${causeWords[first.cause]}.
<small>Such as ${shown.map((change, index) => html`${index === 0 ? '' : ', '}${showParty(change.party)}`)}. All ${countNoun(changes.length, 'change')}: <code>changes.csv</code>, group <code>${name}</code>.</small></li>
`;
}

const showListed = (match: Match | null): Markup =>
  match === null ? nothing : html`, ${showText(match.name)} <code>${showText(match.id)}</code>`;
