import { html } from 'hono/html';
import {
  type DiscrepancyFacts,
  discrepancyFacts,
  type ReconciliationFacts,
  type StandingDiscrepancies,
} from '../reconciliation/discrepancy.js';
import { listFacts, listReferences } from './discrepancy-list.js';
import { countNoun, formatCount } from './format-count.js';
import { formatDay } from './format-time.js';
import { type Markup, nothing, section, showReference, showText, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';

const eventWords: Readonly<Record<DiscrepancyFacts['event'], string>> = {
  opened: 'new',
  returned: 'is back',
  changed: 'changed',
  acceptance_ended: 'no longer accepted',
  resolved: 'resolved',
};

const standingColumns: readonly TableColumn<StandingDiscrepancies>[] = [
  {
    title: 'Discrepancy',
    cell: ({ kind }) => html`${discrepancyFacts[kind].title}<br><small>${discrepancyFacts[kind].next}</small>`,
  },
  { title: 'Severity', cell: ({ severity }) => severity },
  { title: 'Open', numeric: true, cell: ({ open }) => formatCount(open) },
  { title: '7 days +', numeric: true, cell: ({ overAWeek }) => formatCount(overAWeek) },
  { title: '30 days +', numeric: true, cell: ({ overAMonth }) => formatCount(overAMonth) },
  { title: 'Accepted', numeric: true, cell: ({ accepted }) => formatCount(accepted) },
  { title: 'Oldest', cell: ({ oldestAt }) => formatDay(oldestAt) },
];

const newsColumns: readonly TableColumn<DiscrepancyFacts>[] = [
  { title: 'What', cell: ({ kind, severity }) => html`${discrepancyFacts[kind].title}<br><small>${severity}</small>` },
  {
    title: 'Now',
    cell: ({ event, openedAt }) =>
      html`${eventWords[event]}${event === 'opened' ? nothing : html`<br><small>since ${formatDay(openedAt)}</small>`}`,
  },
  { title: 'Customer', cell: ({ facts }) => showReferences(facts) },
  { title: 'Dossier', cell: ({ facts }) => showDossier(facts) },
  { title: 'Facts', cell: ({ facts }) => showFacts(facts) },
];

/** Roster, screenings and dossiers against each other: the sums, what stands by age, and what is new. */
export function showReconciliations({ reconciliations }: Report): Markup {
  if (reconciliations.length === 0) return nothing;
  return section('reconciliation', 'Reconciliation', html`${reconciliations.map(showReconciliation)}`);
}

function showReconciliation(facts: ReconciliationFacts): Markup {
  const { roster, sums, standing, news, newsCount, unprovenBecause, sweptAt } = facts;
  const unproven =
    unprovenBecause === null
      ? nothing
      : html` <strong>Without proof: ${showText(unprovenBecause)}. Missing dossiers are not told, and nothing counts as resolved.</strong>`;
  const open = standing.reduce((sum, one) => sum + one.open, 0);
  return html`<p>Roster ${showText(roster)} against the dossiers swept ${showTime(sweptAt)}.${unproven}</p>
<p>${countNoun(sums.customers, 'customer')} = ${formatCount(sums.withDossier)} with a dossier + ${formatCount(sums.withoutDossier)} without + ${formatCount(sums.notExpected)} not expected to have one + ${formatCount(sums.ambiguousCustomers)} with a shared reference.<br>
${countNoun(sums.dossiers, 'dossier')} = ${formatCount(sums.withCustomer)} with a customer + ${formatCount(sums.withoutCustomer)} without + ${formatCount(sums.ambiguousDossiers)} with a shared reference + ${formatCount(sums.ofOtherRosters)} of other rosters.${sums.notCompared === 0 ? nothing : html`<br>Birth date and country were not compared for ${countNoun(sums.notCompared, 'customer')} with a dossier: no record of an applicant was fetched (<code>sweep.details</code>).`}</p>
${standing.length === 0 ? html`<p class="quiet">${unprovenBecause === null ? 'Roster, screenings and dossiers agree.' : 'No discrepancy is known.'}</p>` : showTable(`${countNoun(open, 'open discrepancy', 'open discrepancies')}`, standingColumns, standing, null)}
${standing.length === 0 ? nothing : html`<p>Each of them stands on the sheet Discrepancies of <code>report.xlsx</code>, where all but critical ones can be accepted until a day.</p>`}
${showInvitations(facts)}
${newsCount === 0 ? html`<p class="quiet">Nothing of it is new.</p>` : showTable(`${countNoun(newsCount, 'change')} since the comparison before`, newsColumns, news, 'report.json', { count: newsCount })}`;
}

/** What became of invitations, and why others are not invited: this report is for reviewers. */
function showInvitations({ invitations }: ReconciliationFacts): Markup {
  if (invitations === null) return nothing;
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${formatCount(count)} ${name.replaceAll('_', ' ')}`)
      .join(', ') || 'none';
  return html`<p>Invitations of customers without a dossier: ${list(invitations.byStatus)}. Not invited now, which the customer must not learn: ${list(invitations.excluded)}.</p>`;
}

function showReferences(facts: DiscrepancyFacts['facts']): Markup {
  const { shown, count } = listReferences(facts, 5);
  if (shown.length === 0) return html`<span class="muted">none</span>`;
  const rest = count - shown.length;
  if (count === 1) return html`${shown.map((one) => showReference(one))}`;
  return html`${shown.map((one) => html`${showReference(one)}<br>`)}${rest > 0 ? html`<small>and ${formatCount(rest)} more</small>` : nothing}`;
}

const showDossier = ({ dossier }: DiscrepancyFacts['facts']): Markup =>
  typeof dossier === 'string' ? html`<code>${showText(dossier)}</code>` : html`<span class="muted">none</span>`;

const showFacts = (facts: DiscrepancyFacts['facts']): Markup =>
  html`${listFacts(facts).map(([words, value]) => html`<div><span class="muted">${words}</span> ${showText(value)}</div>`)}`;
