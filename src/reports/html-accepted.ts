import { html } from 'hono/html';
import { describeAcceptance, describeRosterAcceptance } from './accepted-words.js';
import { type Markup, nothing, showText } from './html-markup.js';
import type { Report } from './report.js';

/** Settings that changed since the last report, and rosters taken against their guards: above all that was judged by them. */
export function showAccepted({ accepted }: Pick<Report, 'accepted'>): Markup {
  const { settingsChanges, rosterAcceptances } = accepted;
  return html`${
    settingsChanges.length === 0
      ? nothing
      : html`<div class="accepted" role="note"><p><strong>Settings changed since the last report.</strong> What was found before stays as it was judged then.</p>
${settingsChanges.map(
  (change) => html`<p>${showText(describeAcceptance(change))}</p>
<ul>${change.differences.map((difference) => html`<li>${showText(difference)}</li>`)}</ul>
`,
)}</div>
`
  }${rosterAcceptances.map(
    (acceptance) => html`<p class="accepted" role="note">${showText(describeRosterAcceptance(acceptance))}</p>
`,
  )}`;
}
