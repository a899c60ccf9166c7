import { html } from 'hono/html';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import {
  type Markup,
  noMarkup,
  section,
  showNone,
  showReference,
  showTable,
  showText,
  showTime,
  type TableColumn,
} from './html-markup.js';
import type { CanaryFacts, DossierChangeFacts, SweepFacts } from './list-facts.js';
import { describeReason, describeRounds } from './reasons.js';
import type { Report, SpanRun } from './report.js';
import type { HealthFacts, TrendPoint } from './run-facts.js';
import { countNoun, formatCount, formatSeconds } from './text.js';
import { describeTopic, dossierChangeWords } from './words.js';

interface Measure {
  title: string;
  note?: string;
  read: (point: TrendPoint) => number | null;
  /** The part of it that is drawn stronger. */
  readPart?: (point: TrendPoint) => number;
  write: (figure: number) => string;
}

const measures: readonly Measure[] = [
  { title: 'Not screened', note: 'customers', read: (point) => point.notScreened, write: formatCount },
  { title: 'Hits', note: 'in the answers', read: (point) => point.hits, write: formatCount },
  {
    title: 'Changes',
    note: 'critical and high stronger',
    read: (point) => point.changes,
    readPart: countSerious,
    write: formatCount,
  },
  { title: 'Waiting', note: 'open alerts when the run closed', read: (point) => point.waiting, write: formatCount },
  { title: 'Searches', read: (point) => point.searches, write: formatCount },
  { title: 'Duration', read: (point) => point.seconds, write: formatSeconds },
];

function countSerious({ changesBySeverity }: TrendPoint): number {
  return changesBySeverity === null ? 0 : changesBySeverity.critical + changesBySeverity.high;
}

const trendColumns: readonly TableColumn<TrendPoint>[] = [
  { title: 'Run', cell: ({ runId }) => html`<code>${runId}</code>` },
  { title: 'Ended', cell: ({ finishedAt }) => showTime(finishedAt) },
  ...measures.map((measure): TableColumn<TrendPoint> => {
    return { title: measure.title, numeric: true, cell: (point) => writeFigure(measure, measure.read(point)) };
  }),
];

// Bars stay as wide with few runs as with many.
const slots = 30;

/** Whether there is an earlier run to draw beside this one. */
export const hasTrend = ({ history }: Pick<Report, 'history'>): boolean => history.trend.length > 1;

/** The last runs of the roster as small charts of one scale each, with their figures in a table; nothing for a roster's first run. */
export function showTrend(report: Report): Markup {
  if (!hasTrend(report)) return noMarkup;
  const { trend } = report.history;
  const newestFirst = trend.toReversed();
  return section(
    'trend',
    `Trend of the last ${trend.length} runs`,
    html`<div class="charts">
${measures.map((measure) => showMeasure(measure, trend))}</div>
<details><summary>The figures of these runs</summary>
${showTable('The newest run first; times in UTC', trendColumns, newestFirst, null)}</details>`,
  );
}

function showMeasure(measure: Measure, trend: readonly TrendPoint[]): Markup {
  const figures = trend.map(measure.read);
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return noMarkup;
  const now = writeFigure(measure, figures.at(-1) ?? null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const range = least === most ? `always ${measure.write(most)}` : `${measure.write(least)} to ${measure.write(most)}`;
  const bars = trend.map((point): Bar => {
    const whole = measure.read(point);
    return measure.readPart ? { whole, part: measure.readPart(point) } : { whole };
  });
  const label = `${measure.title} of the last ${trend.length} runs, oldest first: ${range}. The figures are in the table below.`;
  return html`<figure><figcaption><b>${measure.title}</b> <span class="muted">${measure.note ?? ''}</span></figcaption>
${showBars(bars, slots, label)}
<p><strong>${now}</strong> <span class="muted">this run; ${range}</span></p></figure>
`;
}

const writeFigure = ({ write }: Measure, figure: number | null): Markup | string =>
  figure === null ? showNone() : write(figure);

/** One bar of a chart: the whole, and the part of it that is drawn stronger; null where the figure is not known. */
interface Bar {
  whole: number | null;
  part?: number;
}

const slot = 10;
const width = 7;
const height = 60;

/** Bars side by side, the last one marked, on a scale that begins at zero and with room for `slots` of them; drawn as SVG, `label` says what they show. */
function showBars(bars: readonly Bar[], slots: number, label: string): Markup {
  const most = Math.max(1, ...bars.map(({ whole }) => whole ?? 0));
  const toHeight = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * height)));
  const left = (slots - bars.length) * slot;
  return html`<svg role="img" viewBox="0 0 ${slots * slot} ${height + 2}" aria-label="${label}">
${bars.map(({ whole, part }, index) => {
  const x = left + index * slot;
  const kind = index === bars.length - 1 ? 'now' : 'former';
  return html`${whole === null ? noMarkup : showBar(x, toHeight(whole), kind)}${part === undefined ? noMarkup : showBar(x, toHeight(part), 'part')}`;
})}<path class="base" d="M0 ${height + 1}H${slots * slot}"/></svg>`;
}

const showBar = (x: number, barHeight: number, kind: string): Markup =>
  barHeight === 0
    ? noMarkup
    : html`<rect class="${kind}" x="${x}" y="${height - barHeight}" width="${width}" height="${barHeight}"/>`;

/** Whether the page has something to tell of how the run went. */
export const hasHealth = ({ calls, canaries }: Pick<Report, 'calls' | 'canaries'>): boolean =>
  canaries !== null || calls.searches !== null || calls.byOutcome.length > 0;

/** How the run went: its calls, what came of them, what they cost, and its control searches; nothing for a run that makes none. */
export function showHealth(report: Report): Markup {
  if (!hasHealth(report)) return noMarkup;
  return section('health', 'Run health', html`${showCalls(report)}${showCanaries(report)}`);
}

function showCalls({ calls, history }: Report): Markup {
  const { searches, byOutcome, possiblyBilledTwice } = calls;
  const attempts = byOutcome.reduce((sum, tally) => sum + tally.count, 0);
  if (searches === null && attempts === 0) return noMarkup;
  const twice =
    possiblyBilledTwice === 0
      ? 'none'
      : `${countNoun(possiblyBilledTwice, 'search', 'searches')} repeated because the first outcome was lost`;
  return html`<dl>
${
  searches === null
    ? noMarkup
    : html`<dt>Searches</dt><dd>${formatCount(searches)} different ${searches === 1 ? 'request' : 'requests'}, control searches not included</dd>
`
}<dt>Attempts</dt><dd>${formatCount(attempts)}${attempts === 0 ? noMarkup : html`: ${byOutcome.map((tally) => `${formatCount(tally.count)} ${describeReason(tally.code)}`).join(', ')}`}</dd>
${history.health === null ? noMarkup : listHealth(history.health)}<dt>Possibly billed twice</dt><dd>${twice}</dd>
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
  if (canaries === null) return noMarkup;
  const body =
    canaries.length === 0
      ? html`<p class="quiet">No canary is configured: nothing shows that the service would have found a listed party.</p>`
      : showTable(
          'Searches whose answer is known beforehand, made in the same run',
          canaryColumns,
          canaries,
          'report.json',
        );
  return html`<h3 id="canaries">Canaries</h3>
${body}`;
}

const showCount = (count: number | null | undefined): Markup | string =>
  count === null || count === undefined ? showNone() : formatCount(count);
const spanColumns: readonly TableColumn<SpanRun>[] = [
  { title: 'Run', cell: ({ runId }) => html`<code>${runId}</code>` },
  {
    title: 'Came to',
    cell: ({ trouble, state }) => (trouble === null ? state : html`<strong>${showText(trouble)}</strong> (${state})`),
  },
  { title: 'In scope', numeric: true, cell: ({ counts }) => showCount(counts?.inScope) },
  { title: 'Planned', numeric: true, cell: ({ counts }) => showCount(counts?.planned) },
  { title: 'Screened', numeric: true, cell: ({ counts }) => showCount(counts && counts.screened + counts.reused) },
  { title: 'Missing', numeric: true, cell: ({ notScreened }) => showCount(notScreened) },
  { title: 'Changes', numeric: true, cell: ({ changes }) => formatCount(changes) },
  { title: 'First-time', numeric: true, cell: ({ baseline }) => formatCount(baseline) },
];

/** The runs of a span, each with what it came to; left out of the report of one run. */
export function showSpan({ span }: Report): Markup {
  if (span === null) return noMarkup;
  const [changes, baseline] = [sumOf(span.runs, 'changes'), sumOf(span.runs, 'baseline')];
  return section(
    'span',
    'Runs of the span',
    html`${showTable('All runs about the roster that were begun in the span, in order; missing are customers without a valid screening', spanColumns, span.runs, null)}
<p class="muted">Together ${formatCount(changes)} changes and ${formatCount(baseline)} first-time matches, all told below. Coverage, customers not screened and open alerts are as the last run left them.</p>`,
  );
}

const sumOf = (runs: readonly SpanRun[], name: 'changes' | 'baseline'): number =>
  runs.reduce((sum, run) => sum + run[name], 0);

type Reader = (dossier: DossierSnapshot) => string | number | boolean | null;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
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
  { title: 'What', cell: (change) => dossierChangeWords[change.kind] },
  { title: 'Dossier', cell: showDossier },
  { title: 'Customer', cell: showDossierCustomer },
  { title: 'Before and now', cell: showDifferences },
];

/** The sweeps with their proof of completeness, then every dossier that changed. */
export function showDossiers(report: Report): Markup {
  const { dossiers } = report;
  if (dossiers === null) return noMarkup;
  const { sweeps, changes } = dossiers;
  return section(
    'dossiers',
    'Dossiers',
    html`${sweeps.map(showSweep)}
${changes.length === 0 ? html`<p class="quiet">No dossier changed.</p>` : showTable(countNoun(changes.length, 'dossier change'), dossierColumns, changes, 'changes.csv')}`,
  );
}

function showSweep(sweep: SweepFacts): Markup {
  const proof = sweep.proven
    ? html`The list is proven complete.`
    : html`<strong>Not proven complete: ${showText(sweep.unprovenBecause ?? 'no reason given')}. Nothing is reported as gone.</strong>`;
  return html`<p>Swept ${showTime(sweep.startedAt)}: ${countNoun(sweep.dossiers, 'dossier')} on ${countNoun(sweep.pages, 'page')}. ${proof}${sweep.isStart ? html` It is the first sweep of this account: what it saw for the first time is the starting point and counts as no change.` : noMarkup}</p>
`;
}

function showDossier(change: DossierChangeFacts): Markup {
  const name = (change.after ?? change.before)?.name ?? null;
  return html`${name === null ? noMarkup : html`${showText(name)}<br>`}<code>${showText(change.dossierId)}</code>`;
}

function showDossierCustomer(change: DossierChangeFacts): Markup {
  const reference = (change.after ?? change.before)?.reference ?? null;
  if (reference === null) return showNone();
  return html`${showReference(reference)}${change.customerKnown ? noMarkup : html`<br><small>not on the roster</small>`}`;
}

function showDifferences({ before, after, fields }: DossierChangeFacts): Markup {
  if (before === null || after === null)
    return html`<span class="muted">status</span> ${showValue((after ?? before)?.status ?? null)}`;
  return html`${fields.map((field) => {
    const read = readers.get(field);
    if (read === undefined) return html`<div>${showText(field.replaceAll('_', ' '))} changed</div>`;
    return html`<div><span class="muted">${field.replaceAll('_', ' ')}</span> ${showValue(read(before))} <span aria-label="became">→</span> <strong>${showValue(read(after))}</strong></div>`;
  })}`;
}

function showValue(value: string | number | boolean | null): Markup {
  if (value === null) return showNone();
  return showText(typeof value === 'string' ? value.replaceAll('_', ' ') : String(value));
}
