import { html } from 'hono/html';
import { type Markup, nothing, section, showNone, showText } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';
import type { CanaryFacts } from './run-facts.js';

const columns: readonly TableColumn<CanaryFacts>[] = [
  { title: 'Searched', cell: (canary) => showText(canary.name) },
  { title: 'Type', cell: (canary) => canary.type },
  { title: 'Expected', cell: (canary) => (canary.expect === 'match' ? 'a hit' : 'no hit') },
  {
    title: 'Verdict',
    cell: (canary) => (canary.verdict === 'passed' ? 'passed' : html`<strong class="alarm">failed</strong>`),
  },
  { title: 'What came instead', cell: (canary) => (canary.found === null ? showNone() : showText(canary.found)) },
];

/** The control searches, failed ones included in plain words; their absence is said as well. */
export function showCanaries(report: Report): Markup {
  const { canaries } = report;
  if (canaries === null) return nothing;
  const body =
    canaries.length === 0
      ? html`<p class="quiet">No canary is configured: nothing shows that the service would have found a listed party.</p>`
      : showTable('Searches whose answer is known beforehand, made in the same run', columns, canaries, 'report.json');
  return section('canaries', 'Canaries', body);
}
