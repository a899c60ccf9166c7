import { html } from 'hono/html';
import type { CurrentDiscrepancies, DiscrepancyFacts, ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import { discrepancyWords } from '../vocabulary/discrepancies.js';
import { codeWords, toWords } from '../vocabulary/words.js';
import { type CustomerState, severities } from '../vocabulary.js';
import {
  noMarkup,
  type PageSection,
  showCode,
  showDay,
  showNone,
  showParty,
  showReference,
  showTable,
  showText,
  showTime,
} from './html-markup.js';
import { toDossierSection, toNotScreenedSection } from './lists.js';
import { describeDoubtedValues, describeReason } from './reasons.js';
import { type Coverage, listOwnDoubts, type Report, type Sum, type Tally } from './report.js';
import { listFacts, listReferences } from './review-list.js';
import { type DroppedPartyFacts, isOfParties, type SweepFacts } from './run-facts.js';
import type { Column, Markup, Section } from './section.js';
import { countNoun, formatCount } from './text.js';
import type { Span } from './verdict.js';

/** The coverage of the run: runs of a span, customers by state, dossiers, reconciliation, customers that are not screened, rejected rows. */
export const listCoverageSections = (report: Report): readonly (PageSection | null)[] => [
  toSpanSection(report),
  toSumsSection(report),
  toDossiersSection(report),
  toReconciliationSection(report),
  toMissingSection(report),
  toDroppedSection(report),
  toRejectsSection(report),
  toDoubtsSection(report),
];

const rejectColumns: readonly Column<RejectedRow>[] = [
  { title: 'Line', numeric: true, html: showLine },
  { title: 'Customer', html: ({ reference }) => (reference === null ? showNone() : showReference(reference)) },
  { title: 'Why', cell: ({ reason }) => codeWords.reject[reason] },
  { title: 'Column at fault', html: showFault },
];

/** A section of one list, or of one sentence where the list is empty. */
function toListSection<Line>(list: Section<Line>, timezone: string, above: Markup = noMarkup, name = ''): PageSection {
  const { id, title, quiet, lines, count } = list;
  const body = lines.length === 0 ? html`<p class="quiet">${quiet}</p>` : showTable({ ...list, timezone, name });
  return { id, title, body: html`${above}${body}`, note: formatCount(count) };
}

function toMissingSection(report: Report): PageSection | null {
  const list = toNotScreenedSection(report);
  return list && toListSection(list, report.run.timezone);
}

function toRejectsSection({ rejects, coverage, run }: Report): PageSection | null {
  if (rejects === null) return null;
  const section = { id: 'rejects', title: 'Rejected rows', note: formatCount(rejects.length) };
  const quiet = coverage?.counts.rows === 0 ? 'This run imported no roster.' : 'No roster row was rejected.';
  if (rejects.length === 0) return { ...section, body: html`<p class="quiet">${quiet}</p>` };
  const table = showTable({
    caption: `${countNoun(rejects.length, 'roster row')} not accepted, by line of the source`,
    columns: rejectColumns,
    lines: rejects,
    file: 'rejects.csv',
    timezone: run.timezone,
  });
  const body = html`${table}
<p class="muted">The whole rows are in ${showFiles(rejects)}; correct and import them again. A known customer stays in scope with its last accepted record.</p>`;
  return { ...section, body };
}

const doubtColumns: readonly Column<ColumnDoubts>[] = [
  { title: 'Column', cell: ({ column }) => column },
  { title: 'In doubt', numeric: true, cell: ({ doubts }) => doubts },
  { title: 'Read', numeric: true, cell: ({ read }) => read },
  { title: 'The most frequent values', cell: (column) => describeDoubtedValues(column) },
];

function toDoubtsSection(report: Report): PageSection | null {
  const columns = listOwnDoubts(report);
  if (columns.length === 0) return null;
  const table = showTable({
    caption: 'Values that count as unknown: they neither agree nor contradict, and lower no severity',
    columns: doubtColumns,
    lines: columns,
    file: 'report.json',
    timezone: report.run.timezone,
  });
  const more = `${countNoun(report.doubted.length, 'row')} with such values ${report.doubted.length === 1 ? 'is' : 'are'} in `;
  const body = html`${table}<p class="muted">The customers are screened. ${more}${showFiles(report.doubted)}; correct and import them again.</p>`;
  return { id: 'doubts', title: 'Values in doubt', body };
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

const discrepancyColumns: readonly Column<CurrentDiscrepancies>[] = [
  {
    title: 'Discrepancy',
    share: 44,
    html: ({ kind }) => html`${discrepancyWords[kind].title}<br><small>${discrepancyWords[kind].next}</small>`,
  },
  { title: 'Severity', share: 12, cell: ({ severity }) => codeWords.severity[severity] },
  { title: 'Open', numeric: true, cell: ({ open }) => open },
  { title: 'Over 7 days', numeric: true, cell: ({ overAWeek }) => overAWeek },
  { title: 'Over 30 days', numeric: true, cell: ({ overAMonth }) => overAMonth },
  { title: 'Accepted', numeric: true, cell: ({ accepted }) => accepted },
  { title: 'Oldest', html: ({ oldestAt }, timezone) => showDay(oldestAt, { timezone }) },
];

const newsColumns: readonly Column<DiscrepancyFacts>[] = [
  {
    title: 'What',
    html: ({ kind, severity }) =>
      html`${discrepancyWords[kind].title}<br><small>${codeWords.severity[severity]}</small>`,
  },
  {
    title: 'Now',
    share: 13,
    html: ({ event, openedAt }, timezone) => {
      const since = html`<br><small>since ${showDay(openedAt, { timezone })}</small>`;
      return html`${codeWords.discrepancyEvent[event]}${event === 'opened' ? noMarkup : since}`;
    },
  },
  { title: 'Customer', share: 13, html: ({ facts }) => showReferences(facts) },
  { title: 'Dossier', share: 28, html: ({ facts }) => showDossier(facts) },
  { title: 'Facts', html: ({ facts }) => showFacts(facts) },
];

function toReconciliationSection({ reconciliations, run }: Report): PageSection | null {
  if (reconciliations.length === 0) return null;
  const open = reconciliations.flatMap(({ standing }) => standing).reduce((sum, one) => sum + one.open, 0);
  const body = html`${reconciliations.map((one) => showReconciliation(one, run))}`;
  return { id: 'reconciliation', title: 'Reconciliation', body, note: formatCount(open) };
}

function showReconciliation(facts: ReconciliationFacts, run: Report['run']): Markup {
  const { roster, unprovenBecause, sweptAt } = facts;
  const unproven = html` <strong>Without proof: ${showText(unprovenBecause ?? '')}. Missing dossiers are not reported, and no discrepancy counts as resolved.</strong>`;
  return html`<p>Roster ${showText(roster)} against the dossiers swept ${showTime(sweptAt, run)}.${unprovenBecause === null ? noMarkup : unproven}</p>
${showBothSides(facts)}
${showCurrent(facts, run)}
${showInvitations(facts)}
${showNews(facts, run)}`;
}

function showBothSides({ sums }: ReconciliationFacts): Markup {
  const count = formatCount;
  const notCompared = html`<br>Birth date and country were not compared for ${countNoun(sums.notCompared, 'customer')} with a dossier: no record of an applicant was fetched (<code>sweep.details</code>).`;
  return html`<p>${countNoun(sums.customers, 'customer')} = ${count(sums.withDossier)} with a dossier + ${count(sums.withoutDossier)} without + ${count(sums.notExpected)} not expected to have one + ${count(sums.ambiguousCustomers)} with a shared reference.<br>
${countNoun(sums.dossiers, 'dossier')} = ${count(sums.withCustomer)} with a customer + ${count(sums.withoutCustomer)} without + ${count(sums.ambiguousDossiers)} with a shared reference + ${count(sums.ofOtherRosters)} of other rosters.${sums.notCompared === 0 ? noMarkup : notCompared}</p>`;
}

function showCurrent({ standing: current, unprovenBecause }: ReconciliationFacts, { timezone }: Report['run']): Markup {
  if (current.length === 0) {
    const quiet = unprovenBecause === null ? 'Roster, screenings and dossiers agree.' : 'No discrepancy is known.';
    return html`<p class="quiet">${quiet}</p>`;
  }
  const open = current.reduce((sum, one) => sum + one.open, 0);
  const table = showTable({
    caption: countNoun(open, 'open discrepancy', 'open discrepancies'),
    columns: discrepancyColumns,
    lines: current.toSorted(bySeverity),
    timezone,
  });
  return html`${table}
<p>The sheet Discrepancies of <code>report.xlsx</code> lists each of them. You can accept each of them there until a given day, except critical ones.</p>`;
}

function showNews({ news, newsCount }: ReconciliationFacts, { timezone }: Report['run']): Markup {
  if (newsCount === 0) return html`<p class="quiet">No discrepancy is new.</p>`;
  return showTable({
    caption: `${countNoun(newsCount, 'change')} since the last comparison`,
    columns: newsColumns,
    lines: news,
    count: newsCount,
    file: 'report.json',
    name: 'compared',
    timezone,
  });
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

function toSumsSection({ coverage, run }: Report): PageSection | null {
  if (coverage === null) return null;
  const { states, counts, sums } = coverage;
  const body = html`${states === null ? noMarkup : showStates(states, counts.inScope)}
<div class="sums">
${sums.map(showSum)}
</div>
${showFormerRoster(coverage, run)}${showReasons(coverage)}
<p class="muted">Every sum on this page holds; a report whose sums do not hold is not written.</p>`;
  return { id: 'coverage', title: 'Coverage', body };
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

const droppedColumns: readonly Column<DroppedPartyFacts>[] = [
  { title: 'Customer', html: ({ party }) => showParty(party) },
  { title: 'What it was', html: ({ state }) => `${codeWords.state[state].name}: ${codeWords.droppedState[state]}` },
  {
    title: 'Why',
    html: ({ party }) =>
      party.role === 'conflicting_row'
        ? 'the rows of this id no longer contradict each other, and no row has this name'
        : 'no longer in the source',
  },
  { title: 'Since', cell: ({ droppedAt }) => droppedAt },
];

function toDroppedSection({ droppedParties, run }: Report): PageSection | null {
  if (droppedParties.length === 0) return null;
  const body = showTable({
    caption: `${countNoun(droppedParties.length, 'party', 'parties')} that ${droppedParties.length === 1 ? 'is' : 'are'} no longer in the source and not cleared by a disposition`,
    columns: droppedColumns,
    lines: droppedParties,
    file: 'report.json',
    timezone: run.timezone,
  });
  return { id: 'dropped', title: 'No longer in the source', body, note: formatCount(droppedParties.length) };
}

const spanColumns: readonly Column<Span['runs'][number]>[] = [
  { title: 'Run', html: ({ runId }) => showCode(runId) },
  {
    title: 'Result',
    html: ({ trouble, state }) => (trouble === null ? state : html`<strong>${showText(trouble)}</strong> (${state})`),
  },
  { title: 'In scope', numeric: true, cell: ({ counts }) => counts?.inScope ?? null },
  { title: 'Planned', numeric: true, cell: ({ counts }) => counts?.planned ?? null },
  { title: 'Screened', numeric: true, cell: ({ counts }) => counts && counts.screened + counts.reused },
  { title: 'Missing', numeric: true, cell: ({ notScreened }) => notScreened },
  { title: 'Changes', numeric: true, cell: ({ changes }) => changes },
  { title: 'First screenings', numeric: true, cell: ({ baseline }) => baseline },
];

function toSpanSection({ span, run }: Report): PageSection | null {
  if (span === null) return null;
  const [changes, baseline] = [sumOf(span.runs, 'changes'), sumOf(span.runs, 'baseline')];
  const table = showTable({
    caption: 'All runs of the roster that started in the span, in order. Missing: customers without a valid screening',
    columns: spanColumns,
    lines: span.runs,
    timezone: run.timezone,
  });
  const body = html`${table}
<p class="muted">In all ${formatCount(changes)} changes and ${formatCount(baseline)} matches of first screenings, all listed below. Coverage, customers not screened and open alerts are those of the last run.</p>`;
  return { id: 'span', title: 'Runs of the span', body };
}

const sumOf = (runs: Span['runs'], name: 'changes' | 'baseline'): number =>
  runs.reduce((sum, run) => sum + run[name], 0);

function toDossiersSection(report: Report): PageSection | null {
  const list = toDossierSection(report);
  if (list === null) return null;
  const sweeps = html`${report.dossiers?.sweeps.map((sweep) => showSweep(sweep, report.run))}\n`;
  return toListSection(list, report.run.timezone, sweeps, 'dossiers');
}

function showSweep(sweep: SweepFacts, run: Report['run']): Markup {
  const proof = sweep.proven
    ? html`The list is proven complete.`
    : html`<strong>Not proven complete: ${showText(sweep.unprovenBecause ?? 'no reason given')}. No dossier is reported as removed.</strong>`;
  return html`<p>Swept ${showTime(sweep.startedAt, run)}: ${countNoun(sweep.dossiers, 'dossier')} on ${countNoun(sweep.pages, 'page')}. ${proof}${sweep.isStart ? html` It is the first sweep of this account, so its dossiers do not count as changes.` : noMarkup}</p>
`;
}
