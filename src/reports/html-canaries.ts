import { html } from 'hono/html';
import { type Markup, nothing, showNone, showText } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';
import type { CanaryFacts } from './run-facts.js';
import { describeTopic } from './topic-words.js';
import { describeRounds } from './watch-words.js';

const columns: readonly TableColumn<CanaryFacts>[] = [
  {
    title: 'Searched',
    cell: (canary) =>
      canary.label === null
        ? showText(canary.name)
        : html`${showText(canary.name)} <span class="muted">(${showText(canary.label)})</span>`,
  },
  { title: 'Type', cell: (canary) => canary.type },
  { title: 'Expected', cell: describeExpected },
  {
    title: 'Verdict',
    cell: (canary) => (canary.verdict === 'passed' ? 'passed' : html`<strong class="alarm">failed</strong>`),
  },
  { title: 'Rounds', cell: describeRounds },
  { title: 'What came instead', cell: (canary) => (canary.found === null ? showNone() : showText(canary.found)) },
];

function describeExpected({ expect, topics }: CanaryFacts): Markup | string {
  if (expect === 'none') return 'no hit';
  return topics.length === 0 ? 'a hit' : html`a hit: ${showText(topics.map(describeTopic).join(' or '))}`;
}

/** The control searches by round, failed ones included in plain words; their absence is said as well. */
export function showCanaries(report: Report): Markup {
  const { canaries } = report;
  if (canaries === null) return nothing;
  const body =
    canaries.length === 0
      ? html`<p class="quiet">No canary is configured: nothing shows that the service would have found a listed party.</p>`
      : showTable('Searches whose answer is known beforehand, made in the same run', columns, canaries, 'report.json');
  return html`<h3 id="canaries">Canaries</h3>
${body}`;
}
