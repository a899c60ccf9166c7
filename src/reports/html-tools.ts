import { html } from 'hono/html';
import { changeCauses, severities } from '../changes/change-event.js';
import { causeWords, severityWords } from './change-words.js';
import { type Markup, nothing } from './html-markup.js';

// Fewer than these are seen at a glance.
const worthFiltering = 4;

/** Fields to filter and sort so many changes, hidden until the page's script shows them; nothing for a few changes. */
export function showTools(changes: number): Markup {
  if (changes < worthFiltering) return nothing;
  return html`<div class="tools" role="group" aria-label="Filter and sort the changes" hidden>
<label>Find <input type="search" data-tool="text" autocomplete="off" spellcheck="false" placeholder="customer, name, topic"></label>
<label>Severity <select data-tool="severity"><option value="">all</option>${severities.map((severity) => html`<option value="${severity}">${severityWords[severity]}</option>`)}</select></label>
<label>Cause <select data-tool="cause"><option value="">all</option>${changeCauses.map((cause) => html`<option value="${cause}">${causeWords[cause]}</option>`)}</select></label>
<label>Order <select data-tool="sort"><option value="listed">as listed</option><option value="customer">by customer</option><option value="score">highest score first</option><option value="since">waiting longest first</option></select></label>
<output data-tool="told" aria-live="polite"></output>
</div>
`;
}
