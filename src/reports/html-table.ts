import { html } from 'hono/html';
import type { Severity } from '../changes/change-event.js';
import { formatCount } from './format-count.js';
import { type Markup, nothing } from './html-markup.js';

/** A column of a table on the page; the first column names its row. */
export interface TableColumn<Line> {
  title: string;
  numeric?: boolean;
  cell: (line: Line) => Markup | string;
}

/** Severities of which the page shows every line. */
export const neverCut: ReadonlySet<Severity> = new Set(['critical', 'high']);

/** How many lines of a long list the page shows; the files hold all of them. */
export const shownLines = 200;

/** A table with a caption for readers of any kind: the first `shownLines` lines and a note when there are more in `file`, or all without one. */
export function showTable<Line>(
  caption: string,
  columns: readonly TableColumn<Line>[],
  lines: readonly Line[],
  file: string | null,
): Markup {
  const shown = file === null ? lines : lines.slice(0, shownLines);
  return html`<table class="list">
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${toClass(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${shown.map((line) => showRow(columns, line))}</tbody>
</table>
${file === null ? '' : showRest(lines.length, file)}`;
}

/** Says how many lines the page leaves out and which file holds them; nothing when all are shown. */
export function showRest(count: number, file: string): Markup {
  if (count <= shownLines) return nothing;
  return html`<p class="rest">The first ${formatCount(shownLines)} of ${formatCount(count)} are shown; all of them are in <code>${file}</code>.</p>`;
}

function showRow<Line>(columns: readonly TableColumn<Line>[], line: Line): Markup {
  return html`<tr>${columns.map((column, index) =>
    index === 0
      ? html`<th scope="row"${toClass(column)}>${column.cell(line)}</th>`
      : html`<td${toClass(column)}>${column.cell(line)}</td>`,
  )}</tr>
`;
}

const toClass = <Line>(column: TableColumn<Line>): Markup =>
  column.numeric === true ? html` class="number"` : nothing;
