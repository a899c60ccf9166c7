import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, showText, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { OpenItemsFacts } from './item-facts.js';
import { describeAges, describeOwner, describeWaiting } from './item-words.js';
import type { Report } from './report.js';

type Line = OpenItemsFacts['bySeverity'][number];

const columns: readonly TableColumn<Line>[] = [
  { title: 'Severity', cell: ({ severity }) => severityWords[severity] },
  { title: 'Waiting', numeric: true, cell: ({ waiting }) => formatCount(waiting) },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => formatCount(overdue) },
];

type Owner = OpenItemsFacts['byOwner'][number];

const ownerColumns: readonly TableColumn<Owner>[] = [
  { title: 'Assigned to', cell: (owner) => showText(describeOwner(owner)) },
  { title: 'Waiting', numeric: true, cell: ({ waiting }) => formatCount(waiting) },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => formatCount(overdue) },
];

/** What waits for reviewers, by severity, age and owner, as it was when the run closed; nothing for a run that has not closed. */
export function showOpenItems({ openItems, toReview }: Report): Markup {
  if (openItems === null) return nothing;
  const { waiting, bySeverity, byOwner, oldestAt } = openItems;
  if (waiting === 0) return html`<p class="quiet">Nothing waits for a decision.</p>`;
  return html`<p class="quiet">${describeWaiting(openItems)}, as it stood when the run closed.</p>
<p class="muted">${describeAges(openItems)}${oldestAt === null ? nothing : html`; the oldest since ${showTime(oldestAt)}`}. ${countNoun(openItems.unassigned, 'is', 'are')} assigned to nobody.</p>
<div class="pair">${showTable('By severity', columns, bySeverity, null)}
${byOwner.length === 0 ? nothing : showTable('By owner', ownerColumns, byOwner, null)}</div>
${
  toReview === null
    ? nothing
    : html`<p class="muted">Also those that did not change are on the sheet To review of <code>report.xlsx</code>${toReview.items.length < toReview.waiting ? html`, which holds the ${formatCount(toReview.items.length)} most urgent` : nothing}; below is what changed.</p>
`
}`;
}
