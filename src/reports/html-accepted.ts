import { html } from 'hono/html';
import type { RosterChangeFacts } from './accepted-facts.js';
import { describeAcceptance, describeRecord, describeRosterAcceptance } from './accepted-words.js';
import { type Markup, nothing, showText } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';

const columns: readonly TableColumn<RosterChangeFacts>[] = [
  { title: 'Customer', cell: ({ reference }) => showText(reference) },
  { title: 'Before', cell: ({ before }) => showText(describeRecord(before)) },
  { title: 'After', cell: ({ after }) => showText(describeRecord(after)) },
];

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
${acceptance.changes.length === 0 ? nothing : showTable('The first changes of known customers that were accepted', columns, acceptance.changes, null)}`,
  )}`;
}
