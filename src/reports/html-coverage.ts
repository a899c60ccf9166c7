import { html } from 'hono/html';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import {
  type CurrentDiscrepancies,
  type DiscrepancyFacts,
  discrepancyFacts,
  type ReconciliationFacts,
} from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import { codeWords, toWords } from '../vocabulary/words.js';
import { type CustomerState, severities } from '../vocabulary.js';
import {
  type Markup,
  noMarkup,
  section,
  showCode,
  showDay,
  showNone,
  showParty,
  showReference,
  showTable,
  showText,
  showTime,
  type TableColumn,
} from './html-markup.js';
import type { DossierChangeFacts, DroppedPartyFacts, NotScreenedFacts, SweepFacts } from './list-facts.js';
import { describeDoubtedValues, describeReason } from './reasons.js';
import { type Coverage, listOwnDoubts, type Report, type Sum, type Tally } from './report.js';
import { listFacts, listReferences } from './review-list.js';
import { isOfParties } from './run-facts.js';
import { countNoun, formatCount } from './text.js';
import type { Span } from './verdict.js';

/** The coverage of the run: runs of a span, customers by state, dossiers, reconciliation, customers that are not screened, rejected rows. */
export function showCoverage(report: Report): Markup {
  return html`${showSpan(report)}${showSums(report)}${showDossiers(report)}${showReconciliations(report)}${showNotScreened(report)}${showDroppedParties(report)}${showRejects(report)}`;
}

const toNotScreenedColumns = (run: Report['run']): readonly TableColumn<NotScreenedFacts>[] => [
  { title: 'Customer', cell: (line) => showParty(line.party) },
  { title: 'Why', cell: (line) => html`${codeWords.outcome[line.outcome]}: ${showText(describeReason(line.reason))}` },
  {
    title: 'Last screened',
    cell: (line) => (line.lastScreenedAt === null ? html`<strong>never</strong>` : showTime(line.lastScreenedAt, run)),
  },
];

const rejectColumns: readonly TableColumn<RejectedRow>[] = [
  { title: 'Line', numeric: true, cell: showLine },
  {
    title: 'Customer',
    cell: (row) => (row.reference === null ? showNone() : showReference(row.reference)),
  },
  { title: 'Why', cell: (row) => codeWords.reject[row.reason] },
  { title: 'Column at fault', cell: showFault },
];

function showNotScreened(report: Report): Markup {
  const { notScreened } = report;
  if (notScreened === null) return noMarkup;
  const count = report.cut.notScreened?.lines ?? notScreened.length;
  const body =
    notScreened.length === 0
      ? html`<p class="quiet">${report.verdict.level === 'red' ? 'This list is empty, but do not rely on this run.' : 'All customers in scope are screened.'}</p>`
      : showTable(
          `${countNoun(count, 'customer or related party', 'customers or related parties')} without a valid screening; their matches are not known`,
          toNotScreenedColumns(report.run),
          notScreened,
          'not-screened.csv',
          { count },
        );
  return section('not-screened', 'Not screened', body);
}

function showRejects(report: Report): Markup {
  const { rejects } = report;
  if (rejects === null) return noMarkup;
  const body =
    rejects.length === 0
      ? html`<p class="quiet">${report.coverage?.counts.rows === 0 ? 'This run imported no roster.' : 'No roster row was rejected.'}</p>`
      : html`${showTable(`${countNoun(rejects.length, 'roster row')} not accepted, by line of the source`, rejectColumns, rejects, 'rejects.csv')}
<p class="muted">The whole rows are in ${showFiles(rejects)}; correct and import them again. A known customer stays in scope with its last accepted record.</p>`;
  return html`${section('rejects', 'Rejected rows', body)}${showDoubts(report)}`;
}

const doubtColumns: readonly TableColumn<ColumnDoubts>[] = [
  { title: 'Column', cell: ({ column }) => showText(column) },
  { title: 'In doubt', numeric: true, cell: ({ doubts }) => formatCount(doubts) },
  { title: 'Read', numeric: true, cell: ({ read }) => formatCount(read) },
  { title: 'The most frequent values', cell: (column) => showText(describeDoubtedValues(column)) },
];

function showDoubts(report: Report): Markup {
  const columns = listOwnDoubts(report);
  if (columns.length === 0) return noMarkup;
  const table = showTable(
    'Values that count as unknown: they neither agree nor contradict, and lower no severity',
    doubtColumns,
    columns,
    'report.json',
  );
  const more = `${countNoun(report.doubted.length, 'row')} with such values ${report.doubted.length === 1 ? 'is' : 'are'} in `;
  return section(
    'doubts',
    'Values in doubt',
    html`${table}<p class="muted">The customers are screened. ${more}${showFiles(report.doubted)}; correct and import them again.</p>`,
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

const toDiscrepancyColumns = (run: Report['run']): readonly TableColumn<CurrentDiscrepancies>[] => [
  {
    title: 'Discrepancy',
    cell: ({ kind }) => html`${discrepancyFacts[kind].title}<br><small>${discrepancyFacts[kind].next}</small>`,
  },
  { title: 'Severity', cell: ({ severity }) => codeWords.severity[severity] },
  { title: 'Open', numeric: true, cell: ({ open }) => formatCount(open) },
  { title: 'Over 7 days', numeric: true, cell: ({ overAWeek }) => formatCount(overAWeek) },
  { title: 'Over 30 days', numeric: true, cell: ({ overAMonth }) => formatCount(overAMonth) },
  { title: 'Accepted', numeric: true, cell: ({ accepted }) => formatCount(accepted) },
  { title: 'Oldest', cell: ({ oldestAt }) => showDay(oldestAt, run) },
];

const toNewsColumns = (run: Report['run']): readonly TableColumn<DiscrepancyFacts>[] => [
  {
    title: 'What',
    cell: ({ kind, severity }) =>
      html`${discrepancyFacts[kind].title}<br><small>${codeWords.severity[severity]}</small>`,
  },
  {
    title: 'Now',
    cell: ({ event, openedAt }) =>
      html`${codeWords.discrepancyEvent[event]}${event === 'opened' ? noMarkup : html`<br><small>since ${showDay(openedAt, run)}</small>`}`,
  },
  { title: 'Customer', cell: ({ facts }) => showReferences(facts) },
  { title: 'Dossier', cell: ({ facts }) => showDossier(facts) },
  { title: 'Facts', cell: ({ facts }) => showFacts(facts) },
];

function showReconciliations({ reconciliations, run }: Report): Markup {
  if (reconciliations.length === 0) return noMarkup;
  return section(
    'reconciliation',
    'Reconciliation',
    html`${reconciliations.map((one) => showReconciliation(one, run))}`,
  );
}

function showReconciliation(facts: ReconciliationFacts, run: Report['run']): Markup {
  const { roster, sums, current, news, newsCount, unprovenBecause, sweptAt } = facts;
  const unproven =
    unprovenBecause === null
      ? noMarkup
      : html` <strong>Without proof: ${showText(unprovenBecause)}. Missing dossiers are not reported, and no discrepancy counts as resolved.</strong>`;
  const open = current.reduce((sum, one) => sum + one.open, 0);
  return html`<p>Roster ${showText(roster)} against the dossiers swept ${showTime(sweptAt, run)}.${unproven}</p>
<p>${countNoun(sums.customers, 'customer')} = ${formatCount(sums.withDossier)} with a dossier + ${formatCount(sums.withoutDossier)} without + ${formatCount(sums.notExpected)} not expected to have one + ${formatCount(sums.ambiguousCustomers)} with a shared reference.<br>
${countNoun(sums.dossiers, 'dossier')} = ${formatCount(sums.withCustomer)} with a customer + ${formatCount(sums.withoutCustomer)} without + ${formatCount(sums.ambiguousDossiers)} with a shared reference + ${formatCount(sums.ofOtherRosters)} of other rosters.${sums.notCompared === 0 ? noMarkup : html`<br>Birth date and country were not compared for ${countNoun(sums.notCompared, 'customer')} with a dossier: no record of an applicant was fetched (<code>sweep.details</code>).`}</p>
${current.length === 0 ? html`<p class="quiet">${unprovenBecause === null ? 'Roster, screenings and dossiers agree.' : 'No discrepancy is known.'}</p>` : showTable(`${countNoun(open, 'open discrepancy', 'open discrepancies')}`, toDiscrepancyColumns(run), current.toSorted(bySeverity), null, { name: 'kinds' })}
${current.length === 0 ? noMarkup : html`<p>The sheet Discrepancies of <code>report.xlsx</code> lists each of them. You can accept each of them there until a given day, except critical ones.</p>`}
${showInvitations(facts)}
${newsCount === 0 ? html`<p class="quiet">No discrepancy is new.</p>` : showTable(`${countNoun(newsCount, 'change')} since the last comparison`, toNewsColumns(run), news, 'report.json', { count: newsCount, name: 'compared' })}`;
}

const bySeverity = (a: CurrentDiscrepancies, b: CurrentDiscrepancies): number =>
  severities.indexOf(a.severity) - severities.indexOf(b.severity);

function showInvitations({ invitations }: ReconciliationFacts): Markup {
  if (invitations === null) return noMarkup;
  const list = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${formatCount(count)} ${toWords(name)}`)
      .join(', ') || 'none';
  return html`<p>Invitations of customers without a dossier: ${list(invitations.byStatus)}. Not invited now (the customers must not learn the reasons): ${list(invitations.excluded)}.</p>`;
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

function showSums(report: Report): Markup {
  const { coverage } = report;
  if (coverage === null) return noMarkup;
  return section(
    'coverage',
    'Coverage',
    html`${coverage.states === null ? noMarkup : showStates(coverage.states, coverage.counts.inScope)}
<div class="sums">
${coverage.sums.map(showSum)}
</div>
${showFormerRoster(coverage, report.run)}${showReasons(coverage)}
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
  const { name, meaning } = codeWords.state[code];
  const width = inScope === 0 ? 0 : Math.ceil((count / inScope) * 1000) / 10;
  return html`<tr class="state-${code}${count === 0 ? ' zero' : ''}"><th scope="row">${name}</th><td class="number">${formatCount(count)}</td><td class="number share"><span class="track" aria-hidden="true"><span class="bar" style="width:${width}%"></span></span>${toShare(count, inScope)}</td><td class="meaning">${meaning}</td></tr>
`;
}

/** One decimal; never rounded to 0 % or 100 %. */
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

function showFormerRoster({ formerRosterAt }: Coverage, run: Report['run']): Markup {
  if (formerRosterAt === null) return noMarkup;
  return html`<p>This run imported no roster: its scope comes from the import of ${showTime(formerRosterAt, run)}.</p>
`;
}

function showReasons(coverage: Coverage): Markup {
  const lists = [
    { title: 'Skipped', tallies: coverage.skippedBecause },
    { title: 'Failed', tallies: coverage.failedBecause },
  ].filter((list) => list.tallies.length > 0);
  if (lists.length === 0) return noMarkup;
  return html`<p class="reasons">${lists.map(
    ({ title, tallies }) =>
      html`<span><strong>${title}:</strong> ${tallies.map(({ code, count }) => `${describeReason(code)} (${formatCount(count)})`).join('; ')}.</span> `,
  )}</p>`;
}

const toDroppedColumns = (run: Report['run']): readonly TableColumn<DroppedPartyFacts>[] => [
  { title: 'Customer', cell: ({ party }) => showParty(party) },
  { title: 'What it was', cell: ({ state }) => `${codeWords.state[state].name}: ${codeWords.droppedState[state]}` },
  {
    title: 'Why',
    cell: ({ party }) =>
      party.role === 'conflicting_row'
        ? 'the rows of this id no longer contradict each other, and no row has this name'
        : 'no longer in the source',
  },
  { title: 'Since', cell: ({ droppedAt }) => showTime(droppedAt, run) },
];

function showDroppedParties({ droppedParties, run }: Report): Markup {
  if (droppedParties.length === 0) return noMarkup;
  const title = `${countNoun(droppedParties.length, 'party', 'parties')} that ${droppedParties.length === 1 ? 'is' : 'are'} no longer in the source and not cleared by a disposition`;
  return section(
    'dropped',
    'No longer in the source',
    showTable(title, toDroppedColumns(run), droppedParties, 'report.json'),
  );
}

const showCount = (count: number | null | undefined): Markup | string =>
  count === null || count === undefined ? showNone() : formatCount(count);

const spanColumns: readonly TableColumn<Span['runs'][number]>[] = [
  { title: 'Run', cell: ({ runId }) => showCode(runId) },
  {
    title: 'Result',
    cell: ({ trouble, state }) => (trouble === null ? state : html`<strong>${showText(trouble)}</strong> (${state})`),
  },
  { title: 'In scope', numeric: true, cell: ({ counts }) => showCount(counts?.inScope) },
  { title: 'Planned', numeric: true, cell: ({ counts }) => showCount(counts?.planned) },
  { title: 'Screened', numeric: true, cell: ({ counts }) => showCount(counts && counts.screened + counts.reused) },
  { title: 'Missing', numeric: true, cell: ({ notScreened }) => showCount(notScreened) },
  { title: 'Changes', numeric: true, cell: ({ changes }) => formatCount(changes) },
  { title: 'First screenings', numeric: true, cell: ({ baseline }) => formatCount(baseline) },
];

function showSpan({ span }: Report): Markup {
  if (span === null) return noMarkup;
  const [changes, baseline] = [sumOf(span.runs, 'changes'), sumOf(span.runs, 'baseline')];
  return section(
    'span',
    'Runs of the span',
    html`${showTable('All runs of the roster that started in the span, in order. Missing: customers without a valid screening', spanColumns, span.runs, null)}
<p class="muted">In all ${formatCount(changes)} changes and ${formatCount(baseline)} matches of first screenings, all listed below. Coverage, customers not screened and open alerts are those of the last run.</p>`,
  );
}

const sumOf = (runs: Span['runs'], name: 'changes' | 'baseline'): number =>
  runs.reduce((sum, run) => sum + run[name], 0);

const readers = new Map<string, (dossier: DossierSnapshot) => string | number | boolean | null>([
  ['token', (dossier) => dossier.token],
  ['type', (dossier) => dossier.type],
  ['status', (dossier) => dossier.status],
  ['name', (dossier) => dossier.name],
  ['reference', (dossier) => dossier.reference],
  ['risk_score', (dossier) => dossier.riskScore],
  ['is_test', (dossier) => dossier.isTest],
  ['download_status', (dossier) => dossier.downloadStatus],
  ['documents_count', (dossier) => dossier.documentsCount],
  ['created_at', (dossier) => dossier.createdAt],
  ['completed_at', (dossier) => dossier.completedAt],
]);

const dossierColumns: readonly TableColumn<DossierChangeFacts>[] = [
  { title: 'What', cell: (change) => codeWords.dossierChange[change.kind] },
  { title: 'Dossier', cell: showDossierName },
  { title: 'Customer', cell: showDossierCustomer },
  { title: 'Before and now', cell: showDossierDifferences },
];

function showDossiers(report: Report): Markup {
  const { dossiers } = report;
  if (dossiers === null) return noMarkup;
  const { sweeps, changes } = dossiers;
  return section(
    'dossiers',
    'Dossiers',
    html`${sweeps.map((sweep) => showSweep(sweep, report.run))}
${changes.length === 0 ? html`<p class="quiet">No dossier changed.</p>` : showTable(countNoun(changes.length, 'dossier change'), dossierColumns, changes, 'changes.csv', { name: 'dossiers' })}`,
  );
}

function showSweep(sweep: SweepFacts, run: Report['run']): Markup {
  const proof = sweep.proven
    ? html`The list is proven complete.`
    : html`<strong>Not proven complete: ${showText(sweep.unprovenBecause ?? 'no reason given')}. No dossier is reported as removed.</strong>`;
  return html`<p>Swept ${showTime(sweep.startedAt, run)}: ${countNoun(sweep.dossiers, 'dossier')} on ${countNoun(sweep.pages, 'page')}. ${proof}${sweep.isStart ? html` It is the first sweep of this account, so its dossiers do not count as changes.` : noMarkup}</p>
`;
}

function showDossierName(change: DossierChangeFacts): Markup {
  const name = (change.after ?? change.before)?.name ?? null;
  return html`${name === null ? noMarkup : html`${showText(name)}<br>`}<code>${showText(change.dossierId)}</code>`;
}

function showDossierCustomer(change: DossierChangeFacts): Markup {
  const reference = (change.after ?? change.before)?.reference ?? null;
  if (reference === null) return showNone();
  return html`${showReference(reference)}${change.customerKnown ? noMarkup : html`<br><small>not on the roster</small>`}`;
}

function showDossierDifferences({ before, after, fields }: DossierChangeFacts): Markup {
  if (before === null || after === null)
    return html`<span class="muted">status</span> ${showValue((after ?? before)?.status ?? null)}`;
  return html`${fields.map((field) => {
    const read = readers.get(field);
    if (read === undefined) return html`<div>${showText(toWords(field))} changed</div>`;
    return html`<div><span class="muted">${toWords(field)}</span> ${showValue(read(before))} <span aria-label="became">→</span> <strong>${showValue(read(after))}</strong></div>`;
  })}`;
}

function showValue(value: string | number | boolean | null): Markup {
  if (value === null) return showNone();
  return showText(typeof value === 'string' ? toWords(value) : String(value));
}
