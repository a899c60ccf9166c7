import { html } from 'hono/html';
import { severityWords } from './change-words.js';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing, section, showTime } from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import { describeAges, describeWaiting } from './item-words.js';
import type { Report } from './report.js';
import type { OpenItemsFacts } from './run-facts.js';

type Line = OpenItemsFacts['bySeverity'][number];

const columns: readonly TableColumn<Line>[] = [
  { title: 'Severity', cell: ({ severity }) => severityWords[severity] },
  { title: 'Waiting', numeric: true, cell: ({ waiting }) => formatCount(waiting) },
  { title: 'Overdue', numeric: true, cell: ({ overdue }) => formatCount(overdue) },
];

/** What waits for reviewers, by severity and age, as it was when the run closed; nothing for a run that has not closed. */
export function showOpenItems({ openItems }: Report): Markup {
  if (openItems === null) return nothing;
  const { waiting, bySeverity, oldestAt } = openItems;
  if (waiting === 0)
    return section('open-items', 'Open items', html`<p class="quiet">Nothing waits for a decision.</p>`);
  return section(
    'open-items',
    'Open items',
    html`<p class="quiet">${describeWaiting(openItems)}.</p>
${showTable('When the run closed', columns, bySeverity, null)}
<p class="muted">${describeAges(openItems)}${oldestAt === null ? nothing : html`; the oldest since ${showTime(oldestAt)}`}. ${countNoun(openItems.unassigned, 'is', 'are')} assigned to nobody.</p>`,
  );
}
