import { html } from 'hono/html';
import { formatCount } from './format-count.js';
import { type Markup, nothing, section, showNone, showText } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { Report, SpanRun } from './report.js';

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
  if (span === null) return nothing;
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
