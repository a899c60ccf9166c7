import { html } from 'hono/html';
import { describeTopic } from '../vocabulary/words.js';
import { noMarkup, type PageSection, showCode, showFacts, showNone, showTable, showText } from './html-markup.js';
import { describeReason, describeRounds } from './reasons.js';
import type { Report } from './report.js';
import type { ControlFacts, HistoryFacts, TrendPoint } from './run-facts.js';
import type { Column, Fact, Markup } from './section.js';
import { countNoun, describeSpan, formatCount, keep } from './text.js';

/** The decisions, the health of the run, and the runs before it. */
export const listHistorySections = (report: Report): readonly (PageSection | null)[] => [
  toSettledSection(report),
  toHealthSection(report),
  toTrendSection(report),
];

interface Measure {
  title: string;
  note?: string;
  read: (point: TrendPoint) => number | null;
  /** The part with the stronger colour. */
  readPart?: (point: TrendPoint) => number;
  write: (figure: number) => string;
}

const measures: readonly Measure[] = [
  { title: 'Not screened', note: 'customers', read: (point) => point.notScreened, write: formatCount },
  { title: 'Hits', note: 'in the answers', read: (point) => point.hits, write: formatCount },
  {
    title: 'Changes',
    note: 'critical and high in the stronger colour',
    read: (point) => point.changes,
    readPart: ({ changesBySeverity }) => changesBySeverity.critical + changesBySeverity.high,
    write: formatCount,
  },
  { title: 'Open alerts', note: 'when the run closed', read: (point) => point.waiting, write: formatCount },
  { title: 'Searches', read: (point) => point.searches, write: formatCount },
  { title: 'Duration', read: (point) => point.seconds, write: describeSpan },
];

const trendColumns: readonly Column<TrendPoint>[] = [
  { title: 'Run', html: ({ runId }) => showCode(runId) },
  { title: 'Ended', cell: ({ finishedAt }) => finishedAt },
  ...measures.map((measure): Column<TrendPoint> => {
    return { title: measure.title, numeric: true, html: (point) => writeFigure(measure, measure.read(point)) };
  }),
];

function toTrendSection({ history: { trend }, run: { timezone } }: Report): PageSection | null {
  if (trend.length < 2) return null;
  const lines = trend.toReversed();
  const table = showTable({ caption: 'The newest run first', columns: trendColumns, lines, timezone });
  const body = html`<div class="charts">
${measures.map((measure) => showMeasure(measure, trend))}</div>
<details><summary>The figures of these runs</summary>
${table}</details>`;
  return { id: 'trend', title: `Trend of the last ${trend.length} runs`, body };
}

function showMeasure(measure: Measure, trend: readonly TrendPoint[]): Markup {
  const figures = trend.map(measure.read);
  const known = figures.filter((figure) => figure !== null);
  if (known.length === 0) return noMarkup;
  const now = writeFigure(measure, figures.at(-1) ?? null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const range = least === most ? `always ${measure.write(most)}` : `${measure.write(least)} to ${measure.write(most)}`;
  const label = `${measure.title} of the last ${trend.length} runs, oldest first: ${range}. The figures are in the table below.`;
  return html`<figure><figcaption><b>${measure.title}</b> <span class="muted">${measure.note ?? ''}</span></figcaption>
${showBars(measure, trend, label)}
<p><strong>${now}</strong> <span class="muted">this run; ${range}</span></p></figure>
`;
}

const writeFigure = ({ write }: Measure, figure: number | null): Markup | string =>
  figure === null ? showNone() : write(figure);

// Bars have the same width with few and with many runs.
const slots = 30;
const slot = 10;
const width = 7;
const height = 60;

/** A bar chart as SVG: the scale begins at zero, and the last bar is marked. */
function showBars({ read, readPart }: Measure, trend: readonly TrendPoint[], label: string): Markup {
  const most = Math.max(1, ...trend.map((point) => read(point) ?? 0));
  const toHeight = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * height)));
  const left = (slots - trend.length) * slot;
  return html`<svg role="img" viewBox="0 0 ${slots * slot} ${height + 2}" aria-label="${label}">
${trend.map((point, index) => {
  const x = left + index * slot;
  const whole = read(point);
  const kind = index === trend.length - 1 ? 'now' : 'former';
  return html`${whole === null ? noMarkup : showBar(x, toHeight(whole), kind)}${readPart ? showBar(x, toHeight(readPart(point)), 'part') : noMarkup}`;
})}<path class="base" d="M0 ${height + 1}H${slots * slot}"/></svg>`;
}

const showBar = (x: number, barHeight: number, kind: string): Markup =>
  barHeight === 0
    ? noMarkup
    : html`<rect class="${kind}" x="${x}" y="${height - barHeight}" width="${width}" height="${barHeight}"/>`;

function toHealthSection(report: Report): PageSection | null {
  const { controls, calls } = report;
  const facts = listCallFacts(report);
  if (controls === null && calls.searches === null && calls.byOutcome.length === 0) return null;
  const body = html`${facts.length === 0 ? noMarkup : showFacts(facts)}${showControls(report)}`;
  return { id: 'health', title: 'Run health', body };
}

function listCallFacts({ calls, history }: Report): readonly Fact[] {
  const { searches, byOutcome, possiblyBilledTwice } = calls;
  const attempts = byOutcome.reduce((sum, tally) => sum + tally.count, 0);
  if (searches === null && attempts === 0) return [];
  const outcomes = byOutcome.map(({ code, count }) => `${formatCount(count)} ${describeReason(code)}`).join(', ');
  const twice = `${countNoun(possiblyBilledTwice, 'search', 'searches')} repeated because the first outcome is unknown`;
  return keep<Fact>(
    searches !== null && [
      'Searches',
      `${formatCount(searches)} different ${searches === 1 ? 'request' : 'requests'}, control searches not included`,
    ],
    ['Attempts', attempts === 0 ? '0' : `${formatCount(attempts)}: ${outcomes}`],
    ...(history.health === null ? [] : listHealthFacts(history.health)),
    ['Possibly billed twice', possiblyBilledTwice === 0 ? 'none' : twice],
  );
}

function listHealthFacts(health: NonNullable<HistoryFacts['health']>): readonly Fact[] {
  const { perSecond, limitPerSecond, repeated, breaks, billable, cost } = health;
  const rate =
    perSecond === null
      ? `unknown with so few calls; the limit is ${limitPerSecond} a second`
      : `${perSecond} calls a second while searching; the limit is ${limitPerSecond}`;
  const out =
    breaks.count === 0
      ? 'none'
      : `${countNoun(breaks.count, 'break')} of more than a minute without a call, ${describeSpan(breaks.seconds)} in all; the longest took ${describeSpan(breaks.longestSeconds)}`;
  const price = cost === null ? ', no price is configured' : `: ${cost.amount.toFixed(2)} ${cost.currency}`;
  return [
    ['Rate', rate],
    ['Retries', repeated === 0 ? 'none' : `${countNoun(repeated, 'call')} repeated after a call without an answer`],
    ['Outages and pauses', out],
    ['Cost', `${countNoun(billable, 'call')} that may be billed${price}`],
  ];
}

const controlColumns: readonly Column<ControlFacts>[] = [
  {
    title: 'Searched',
    html: ({ name, label }) => {
      const known = label === null ? noMarkup : html` <span class="muted">(${showText(label)})</span>`;
      return html`${showText(name)}${known}`;
    },
  },
  { title: 'Type', html: ({ type }) => type },
  { title: 'Expected', html: describeExpected },
  {
    title: 'Verdict',
    html: ({ verdict }) => (verdict === 'passed' ? 'passed' : html`<strong class="alarm">failed</strong>`),
  },
  { title: 'Rounds', html: describeRounds },
  { title: 'Actual answer', cell: ({ found }) => found },
];

function describeExpected({ expect, topics }: ControlFacts): Markup | string {
  if (expect === 'none') return 'no hit';
  return topics.length === 0 ? 'a hit' : html`a hit: ${showText(topics.map(describeTopic).join(' or '))}`;
}

function showControls(report: Report): Markup {
  const { controls, run } = report;
  if (controls === null) return noMarkup;
  const body =
    controls.length === 0
      ? html`<p class="quiet">No control search is configured: it is not proven that the service finds listed parties.</p>`
      : showTable({
          caption: 'Searches with a known answer, made in the same run',
          columns: controlColumns,
          lines: controls,
          file: 'report.json',
          timezone: run.timezone,
        });
  return html`<h3 id="controls">Control searches</h3>
${body}`;
}

function toSettledSection({ history: { settled } }: Report): PageSection | null {
  if (settled === null) return null;
  const { falsePositive, trueMatch, inconclusive, carried, reopened, expired, gone } = settled;
  const hasAny = falsePositive + trueMatch + inconclusive + reopened + expired + gone > 0;
  const again = `${formatCount(reopened)} because of a material change or a returned match, ${formatCount(expired)} because the disposition expired`;
  const facts: readonly Fact[] = [
    [
      'In force',
      `${countNoun(falsePositive, 'false positive')}, ${countNoun(trueMatch, 'true match', 'true matches')}`,
    ],
    ['Inconclusive', inconclusive === 0 ? 'none' : `${formatCount(inconclusive)}, still open`],
    [
      'Carried over by this run',
      carried === 0
        ? 'none'
        : `${countNoun(carried, 'disposition')}, still in force because the compared facts have not changed`,
    ],
    ['Re-opened', reopened + expired === 0 ? 'none' : again],
    ['No longer matched', gone === 0 ? 'none' : `${countNoun(gone, 'alert')} closed`],
  ];
  const body = hasAny ? showFacts(facts) : html`<p class="quiet">No alert has a disposition yet.</p>`;
  return { id: 'settled', title: 'Dispositions', body };
}
