import { html } from 'hono/html';
import { formatCount } from './format-count.js';
import { formatSeconds } from './format-time.js';
import type { TrendPoint } from './history-facts.js';
import { type Markup, nothing, section, showNone, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report } from './report.js';

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
  if (!hasTrend(report)) return nothing;
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
  if (known.length === 0) return nothing;
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
  return html`${whole === null ? nothing : showBar(x, toHeight(whole), kind)}${part === undefined ? nothing : showBar(x, toHeight(part), 'part')}`;
})}<path class="base" d="M0 ${height + 1}H${slots * slot}"/></svg>`;
}

const showBar = (x: number, barHeight: number, kind: string): Markup =>
  barHeight === 0
    ? nothing
    : html`<rect class="${kind}" x="${x}" y="${height - barHeight}" width="${width}" height="${barHeight}"/>`;
