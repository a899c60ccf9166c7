import { html } from 'hono/html';
import {
  type CurrentDiscrepancies,
  type DiscrepancyFacts,
  discrepancyFacts,
  type ReconciliationFacts,
} from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import { listFacts, listReferences } from './discrepancy-list.js';
import {
  type Markup,
  noMarkup,
  section,
  showNone,
  showParty,
  showReference,
  showTable,
  showText,
  showTime,
  type TableColumn,
} from './html-markup.js';
import type { NotScreenedFacts } from './list-facts.js';
import { describeDoubtedValues, describeReason, outcomeWords, rejectWords } from './reasons.js';
import { listOwnDoubts, type Report } from './report.js';
import { type HeldAlertFacts, type HeldFacts, isOfParties } from './run-facts.js';
import { countNoun, formatCount, formatDay } from './text.js';
import { describeTopic, stateOrder, stateWords } from './words.js';

const notScreenedColumns: readonly TableColumn<NotScreenedFacts>[] = [
  { title: 'Customer', cell: (line) => showParty(line.party) },
  { title: 'Why', cell: (line) => html`${outcomeWords[line.outcome]}: ${showText(describeReason(line.reason))}` },
  {
    title: 'Last screened',
    cell: (line) => (line.lastScreenedAt === null ? html`<strong>never</strong>` : showTime(line.lastScreenedAt)),
  },
];

const rejectColumns: readonly TableColumn<RejectedRow>[] = [
  { title: 'Line', numeric: true, cell: showLine },
  {
    title: 'Customer',
    cell: (row) => (row.reference === null ? showNone() : showReference(row.reference)),
  },
  { title: 'Why', cell: (row) => rejectWords[row.reason] },
  { title: 'Column at fault', cell: showFault },
];

/** Customers in scope without a valid screening, with the reason and the last time they had one. */
export function showNotScreened(report: Report): Markup {
  const { notScreened } = report;
  if (notScreened === null) return noMarkup;
  const count = report.cut.notScreened?.lines ?? notScreened.length;
  const body =
    notScreened.length === 0
      ? html`<p class="quiet">${report.verdict.level === 'red' ? 'Nobody is on this list, but this run cannot be relied on.' : 'Nobody in scope is left unscreened.'}</p>`
      : showTable(
          `${countNoun(count, 'name')} without a valid screening: a match may exist that nobody has seen`,
          notScreenedColumns,
          notScreened,
          'not-screened.csv',
          { count },
        );
  return section('not-screened', 'Not screened', body);
}

/** Roster rows that were not accepted, with what is wrong with them. */
export function showRejects(report: Report): Markup {
  const { rejects } = report;
  if (rejects === null) return noMarkup;
  const body =
    rejects.length === 0
      ? html`<p class="quiet">No roster row was rejected.</p>`
      : html`${showTable(`${countNoun(rejects.length, 'roster row')} not accepted, by line of the source`, rejectColumns, rejects, 'rejects.csv')}
<p class="muted">The whole rows are in ${showFiles(rejects)}, to be mended and fed back. A customer that was on the roster before stays in scope with its last accepted record.</p>`;
  return html`${section('rejects', 'Rejected rows', body)}${showDoubts(report)}`;
}

const doubtColumns: readonly TableColumn<ColumnDoubts>[] = [
  { title: 'Column', cell: ({ column }) => showText(column) },
  { title: 'In doubt', numeric: true, cell: ({ doubts }) => formatCount(doubts) },
  { title: 'Read', numeric: true, cell: ({ read }) => formatCount(read) },
  { title: 'The most frequent values', cell: (column) => showText(describeDoubtedValues(column)) },
];

/** Values of accepted rows that cannot be read for certain. */
function showDoubts(report: Report): Markup {
  const columns = listOwnDoubts(report);
  if (columns.length === 0) return noMarkup;
  const table = showTable(
    'Values that count as unknown: they agree with nothing, contradict nothing and lower no severity',
    doubtColumns,
    columns,
    'report.json',
  );
  const more = `${countNoun(report.doubted.length, 'row')} with such values ${report.doubted.length === 1 ? 'is' : 'are'} in `;
  return section(
    'doubts',
    'Values in doubt',
    html`${table}<p class="muted">The customers are searched for all the same. ${more}${showFiles(report.doubted)}, to be mended and fed back.</p>`,
  );
}

function showFiles(rejects: readonly Pick<RejectedRow, 'file'>[]): Markup {
  const parties = rejects.filter(isOfParties).length;
  if (parties === 0) return html`<code>rejects.csv</code>`;
  if (parties === rejects.length) return html`<code>rejects-parties.csv</code>`;
  return html`<code>rejects.csv</code> and <code>rejects-parties.csv</code>`;
}

function showLine(row: RejectedRow): Markup | string {
  return row.file === null ? String(row.line) : html`${showText(row.file)}: ${row.line}`;
}

function showFault(row: RejectedRow): Markup {
  if (row.column === null) return showNone();
  const value = Object.hasOwn(row.fields, row.column) ? row.fields[row.column] : undefined;
  const content = value === undefined ? noMarkup : value === '' ? html` is empty` : html`: ${showText(value)}`;
  return html`<code>${showText(row.column)}</code>${content}`;
}

const alertColumns: readonly TableColumn<HeldAlertFacts>[] = [
  { title: 'Customer', cell: ({ party }) => showParty(party) },
  { title: 'Severity', cell: ({ severity }) => severity },
  { title: 'Listed party', cell: ({ listedName }) => showText(listedName) },
  { title: 'Topics', cell: ({ topics }) => showText(topics.map(describeTopic).join(', ')) },
  { title: 'Alert', cell: ({ alertId }) => String(alertId) },
];

/** What of the run is held: why, the states meanwhile, and what was opened all the same. Nothing for a run that counts. */
export function showHeld({ held, run }: Report): Markup {
  if (held.length === 0) return noMarkup;
  return section('held', 'Held', html`${held.map((one) => showOne(one, run.runId))}`);
}

function showOne(
  { kind, reasons, customers, states, alerts, openedAlerts, accepted }: HeldFacts,
  runId: string,
): Markup {
  const what =
    kind === 'answers'
      ? `The answers of this run for ${countNoun(customers, 'customer')} are held: no state improves, and nothing that releases a customer is sent.`
      : 'What webhooks would be sent of this run waits. States and alerts are as this report shows them.';
  const known = stateOrder.flatMap((code) => {
    const customers = states[code] ?? 0;
    return customers === 0 ? [] : [`${formatCount(customers)} ${stateWords[code].name.toLowerCase()}`];
  });
  return html`<p><strong>${accepted === null ? what : `Held at first, and accepted by ${accepted.by} since.`}</strong></p>
<ul>${reasons.map((reason) => html`<li>${showText(reason)}</li>`)}</ul>
${
  accepted === null
    ? html`<p>To accept it: <code>nightscreen runs accept ${runId} --by NAME --reason TEXT</code></p>
`
    : html`<p>${showText(accepted.by)}${accepted.isAttested ? ' (attested)' : ''}, ${showTime(accepted.at)}: ${showText(accepted.reason)}</p>
`
}${
  known.length === 0
    ? noMarkup
    : html`<p>States of the roster's customers when it was held, each by its last answer that counts and its alerts: ${known.join(', ')}.</p>
`
}${
  openedAlerts === 0
    ? noMarkup
    : showTable(
        `${countNoun(openedAlerts, 'alert')} new or worse by these answers: provisional, and waiting all the same`,
        alertColumns,
        alerts,
        'report.xlsx',
        { count: openedAlerts },
      )
}`;
}

const eventWords: Readonly<Record<DiscrepancyFacts['event'], string>> = {
  opened: 'new',
  returned: 'is back',
  changed: 'changed',
  acceptance_ended: 'no longer accepted',
  resolved: 'resolved',
};

const discrepancyColumns: readonly TableColumn<CurrentDiscrepancies>[] = [
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
      html`${eventWords[event]}${event === 'opened' ? noMarkup : html`<br><small>since ${formatDay(openedAt)}</small>`}`,
  },
  { title: 'Customer', cell: ({ facts }) => showReferences(facts) },
  { title: 'Dossier', cell: ({ facts }) => showDossier(facts) },
  { title: 'Facts', cell: ({ facts }) => showFacts(facts) },
];

/** Roster, screenings and dossiers against each other: the sums, what stands by age, and what is new. */
export function showReconciliations({ reconciliations }: Report): Markup {
  if (reconciliations.length === 0) return noMarkup;
  return section('reconciliation', 'Reconciliation', html`${reconciliations.map(showReconciliation)}`);
}

function showReconciliation(facts: ReconciliationFacts): Markup {
  const { roster, sums, current, news, newsCount, unprovenBecause, sweptAt } = facts;
  const unproven =
    unprovenBecause === null
      ? noMarkup
      : html` <strong>Without proof: ${showText(unprovenBecause)}. Missing dossiers are not told, and nothing counts as resolved.</strong>`;
  const open = current.reduce((sum, one) => sum + one.open, 0);
  return html`<p>Roster ${showText(roster)} against the dossiers swept ${showTime(sweptAt)}.${unproven}</p>
<p>${countNoun(sums.customers, 'customer')} = ${formatCount(sums.withDossier)} with a dossier + ${formatCount(sums.withoutDossier)} without + ${formatCount(sums.notExpected)} not expected to have one + ${formatCount(sums.ambiguousCustomers)} with a shared reference.<br>
${countNoun(sums.dossiers, 'dossier')} = ${formatCount(sums.withCustomer)} with a customer + ${formatCount(sums.withoutCustomer)} without + ${formatCount(sums.ambiguousDossiers)} with a shared reference + ${formatCount(sums.ofOtherRosters)} of other rosters.${sums.notCompared === 0 ? noMarkup : html`<br>Birth date and country were not compared for ${countNoun(sums.notCompared, 'customer')} with a dossier: no record of an applicant was fetched (<code>sweep.details</code>).`}</p>
${current.length === 0 ? html`<p class="quiet">${unprovenBecause === null ? 'Roster, screenings and dossiers agree.' : 'No discrepancy is known.'}</p>` : showTable(`${countNoun(open, 'open discrepancy', 'open discrepancies')}`, discrepancyColumns, current, null)}
${current.length === 0 ? noMarkup : html`<p>Each of them stands on the sheet Discrepancies of <code>report.xlsx</code>, where all but critical ones can be accepted until a day.</p>`}
${showInvitations(facts)}
${newsCount === 0 ? html`<p class="quiet">Nothing of it is new.</p>` : showTable(`${countNoun(newsCount, 'change')} since the comparison before`, newsColumns, news, 'report.json', { count: newsCount })}`;
}

/** What became of invitations, and why others are not invited: this report is for reviewers. */
function showInvitations({ invitations }: ReconciliationFacts): Markup {
  if (invitations === null) return noMarkup;
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
  return html`${shown.map((one) => html`${showReference(one)}<br>`)}${rest > 0 ? html`<small>and ${formatCount(rest)} more</small>` : noMarkup}`;
}

const showDossier = ({ dossier }: DiscrepancyFacts['facts']): Markup =>
  typeof dossier === 'string' ? html`<code>${showText(dossier)}</code>` : html`<span class="muted">none</span>`;

const showFacts = (facts: DiscrepancyFacts['facts']): Markup =>
  html`${listFacts(facts).map(([words, value]) => html`<div><span class="muted">${words}</span> ${showText(value)}</div>`)}`;
