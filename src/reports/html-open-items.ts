import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section, showText, showTime } from './html-markup.js';
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
export function showOpenItems({ openItems }: Report): Markup {
  if (openItems === null) return nothing;
  const { waiting, bySeverity, byOwner, oldestAt } = openItems;
  if (waiting === 0)
    return section('open-items', 'Open items', html`<p class="quiet">Nothing waits for a decision.</p>`);
  return section(
    'open-items',
    'Open items',
    html`<p class="quiet">${describeWaiting(openItems)}.</p>
${showTable('When the run closed', columns, bySeverity, null)}
<p class="muted">${describeAges(openItems)}${oldestAt === null ? nothing : html`; the oldest since ${showTime(oldestAt)}`}. ${countNoun(openItems.unassigned, 'is', 'are')} assigned to nobody.</p>
${byOwner.length === 0 ? nothing : showTable('By owner', ownerColumns, byOwner, null)}`,
  );
}
