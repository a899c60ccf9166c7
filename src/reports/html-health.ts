import { html } from 'hono/html';
import { countNoun, formatCount } from './format-count.js';
import { formatSeconds } from './format-time.js';
import type { HealthFacts } from './history-facts.js';
import { type Markup, nothing, section, showNone, showText } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { CanaryFacts } from './list-facts.js';
import { describeReason } from './reason-words.js';
import type { Report } from './report.js';

import { describeTopic } from './topic-words.js';
import { describeRounds } from './watch-words.js';

/** Whether the page has something to tell of how the run went. */
export const hasHealth = ({ calls, canaries }: Pick<Report, 'calls' | 'canaries'>): boolean =>
  canaries !== null || calls.searches !== null || calls.byOutcome.length > 0;

/** How the run went: its calls, what came of them, what they cost, and its control searches; nothing for a run that makes none. */
export function showHealth(report: Report): Markup {
  if (!hasHealth(report)) return nothing;
  return section('health', 'Run health', html`${showCalls(report)}${showCanaries(report)}`);
}

function showCalls({ calls, history }: Report): Markup {
  const { searches, byOutcome, possiblyBilledTwice } = calls;
  const attempts = byOutcome.reduce((sum, tally) => sum + tally.count, 0);
  if (searches === null && attempts === 0) return nothing;
  const twice =
    possiblyBilledTwice === 0
      ? 'none'
      : `${countNoun(possiblyBilledTwice, 'search', 'searches')} repeated because the first outcome was lost`;
  return html`<dl>
${
  searches === null
    ? nothing
    : html`<dt>Searches</dt><dd>${formatCount(searches)} different ${searches === 1 ? 'request' : 'requests'}, control searches not included</dd>
`
}<dt>Attempts</dt><dd>${formatCount(attempts)}${attempts === 0 ? nothing : html`: ${byOutcome.map((tally) => `${formatCount(tally.count)} ${describeReason(tally.code)}`).join(', ')}`}</dd>
${history.health === null ? nothing : listHealth(history.health)}<dt>Possibly billed twice</dt><dd>${twice}</dd>
</dl>
`;
}

function listHealth({ perSecond, limitPerSecond, repeated, breaks, billable, cost }: HealthFacts): Markup {
  const rate =
    perSecond === null
      ? `too few calls to tell; at most ${limitPerSecond} a second are allowed`
      : `${perSecond} calls a second while searching, at most ${limitPerSecond} are allowed`;
  const out =
    breaks.count === 0
      ? 'none'
      : `${countNoun(breaks.count, 'break')} of more than a minute without a call, ${formatSeconds(breaks.seconds)} in all, the longest ${formatSeconds(breaks.longestSeconds)}`;
  return html`<dt>Rate</dt><dd>${rate}</dd>
<dt>Retries</dt><dd>${repeated === 0 ? 'none' : `${countNoun(repeated, 'call')} made again after one that brought no answer`}</dd>
<dt>Outages and pauses</dt><dd>${out}</dd>
<dt>Cost</dt><dd>${countNoun(billable, 'call')} that may be billed${cost === null ? ', no price is configured' : `: ${cost.amount.toFixed(2)} ${cost.currency}`}</dd>
`;
}

const canaryColumns: readonly TableColumn<CanaryFacts>[] = [
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
function showCanaries(report: Report): Markup {
  const { canaries } = report;
  if (canaries === null) return nothing;
  const body =
    canaries.length === 0
      ? html`<p class="quiet">No canary is configured: nothing shows that the service would have found a listed party.</p>`
      : showTable('Searches whose answer is known beforehand, made in the same run', canaryColumns, canaries, 'report.json');
  return html`<h3 id="canaries">Canaries</h3>
${body}`;
}
