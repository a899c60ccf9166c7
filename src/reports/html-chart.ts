import { html } from 'hono/html';
import { type Markup, nothing } from './html-markup.js';

/** One bar of a chart: the whole, and the part of it that is drawn stronger; null where the figure is not known. */
export interface Bar {
  whole: number | null;
  part?: number;
}

const slot = 10;
const width = 7;
const height = 60;

/** Bars side by side, the last one marked, on a scale that begins at zero and with room for `slots` of them; drawn as SVG, `label` says what they show. */
export function showBars(bars: readonly Bar[], slots: number, label: string): Markup {
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
