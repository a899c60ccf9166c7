import { html } from 'hono/html';
import type { CustomerState } from '../matches/customer-state.js';
import { formatCount } from './format-count.js';
import { type Markup, nothing, section, showTime } from './html-markup.js';
import type { Sum } from './list-sums.js';
import { describeReason } from './reason-words.js';
import type { Coverage, Report, Tally } from './report.js';
import { stateWords } from './state-words.js';

/** Coverage: each customer in exactly one state, and the sums that prove that nobody was lost. */
export function showCoverage(report: Report): Markup {
  const { coverage } = report;
  if (coverage === null) return nothing;
  return section(
    'coverage',
    'Coverage',
    html`${coverage.states === null ? nothing : showStates(coverage.states, coverage.counts.inScope)}
<div class="sums">
${coverage.sums.map(showSum)}
</div>
${showFormerRoster(coverage)}${showReasons(coverage)}
<p class="muted">Every sum on this page holds; a report whose sums do not hold is not written.</p>`,
  );
}

function showStates(states: readonly Tally<CustomerState>[], inScope: number): Markup {
  return html`<table class="states">
<caption>Each of the ${formatCount(inScope)} customers in scope is in exactly one state</caption>
<thead><tr><th scope="col">State</th><th scope="col" class="number">Customers</th><th scope="col" class="number">Share</th><th scope="col" class="meaning">What it means</th></tr></thead>
<tbody>
${states.map((state) => showState(state, inScope))}</tbody>
<tfoot><tr><th scope="row">In scope</th><td class="number">${formatCount(inScope)}</td><td class="number">${toShare(inScope, inScope)}</td><td></td></tr></tfoot>
</table>`;
}

function showState({ code, count }: Tally<CustomerState>, inScope: number): Markup {
  const { name, meaning } = stateWords[code];
  const width = inScope === 0 ? 0 : Math.ceil((count / inScope) * 1000) / 10;
  return html`<tr class="state-${code}${count === 0 ? ' zero' : ''}"><th scope="row">${name}</th><td class="number">${formatCount(count)}</td><td class="number share"><span class="track" aria-hidden="true"><span class="bar" style="width:${width}%"></span></span>${toShare(count, inScope)}</td><td class="meaning">${meaning}</td></tr>
`;
}

/** One decimal, and never rounded to all or to nothing when it is not. */
function toShare(count: number, whole: number): string {
  if (count === 0 || whole === 0) return '0 %';
  if (count === whole) return '100 %';
  const share = (count / whole) * 100;
  if (share < 0.1) return '< 0.1 %';
  return share > 99.9 ? '> 99.9 %' : `${share.toFixed(1)} %`;
}

function showSum(sum: Sum): Markup {
  return html`<p class="sum"><span class="term whole"><b>${formatCount(sum.whole.count)}</b> <i>${sum.whole.name}</i></span>${sum.parts.map(
    (part, index) =>
      html` <span class="step"><span class="sign">${index === 0 ? '=' : '+'}</span> <span class="term${part.count === 0 ? ' zero' : ''}"><b>${formatCount(part.count)}</b> <i>${part.name}</i></span></span>`,
  )}</p>
`;
}

function showFormerRoster({ formerRosterAt }: Coverage): Markup {
  if (formerRosterAt === null) return nothing;
  return html`<p>This run read no roster: whom it answers for comes from the import of ${showTime(formerRosterAt)}.</p>
`;
}

function showReasons(coverage: Coverage): Markup {
  const lists = [
    { title: 'Skipped', tallies: coverage.skippedBecause },
    { title: 'Failed', tallies: coverage.failedBecause },
  ].filter((list) => list.tallies.length > 0);
  if (lists.length === 0) return nothing;
  return html`<p class="reasons">${lists.map(
    ({ title, tallies }) =>
      html`<span><strong>${title}:</strong> ${tallies.map((tally) => `${formatCount(tally.count)} ${describeReason(tally.code)}`).join(', ')}.</span> `,
  )}</p>`;
}
