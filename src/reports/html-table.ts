import { html, raw } from 'hono/html';
import { countNoun, formatCount } from './format-count.js';
import { type Markup, nothing } from './html-markup.js';

/** A column of a table on the page; the first column names its row. */
export interface TableColumn<Line> {
  title: string;
  numeric?: boolean;
  cell: (line: Line) => Markup | string;
}

/** How many lines of a long list the page shows in full; the files hold all of them. */
export const shownLines = 200;

/**
 * A table with a caption for readers of any kind: the first `shownLines` lines, or all without `file`, and a note when `count`, which is
 * how many there are in all, is more than that; `toAttributes` gives attributes of a line's row, `name` is one more class of the table.
 */
export function showTable<Line>(
  caption: string,
  columns: readonly TableColumn<Line>[],
  lines: readonly Line[],
  file: string | null,
  {
    count = lines.length,
    toAttributes = () => nothing,
    name = '',
  }: { count?: number; toAttributes?: (line: Line) => Markup; name?: string } = {},
): Markup {
  const shown = file === null ? lines : lines.slice(0, shownLines);
  return html`<table class="list${name === '' ? '' : ` ${name}`}">
<caption>${caption}</caption>
<thead><tr>${columns.map((column) => html`<th scope="col"${toClass(column)}>${column.title}</th>`)}</tr></thead>
<tbody>
${shown.map((line) => showRow(columns, line, toAttributes(line)))}</tbody>
</table>
${file === null ? nothing : showRest(shown.length, 0, count, file)}`;
}

/** Says how many of `count` lines the page leaves out when it shows the first ones and so many hits for sanctions beside; nothing when all are shown. */
export function showRest(first: number, sanctionHits: number, count: number, file: string): Markup {
  if (first + sanctionHits === count) return nothing;
  if (first + sanctionHits === 0) return html`<p class="rest">All of them are in <code>${file}</code>.</p>`;
  const beside = sanctionHits === 0 ? '' : ` and ${countNoun(sanctionHits, 'further sanction hit')}`;
  return html`<p class="rest">The first ${formatCount(first)} of ${formatCount(count)}${beside} are shown; all of them are in <code>${file}</code>.</p>`;
}

function showRow<Line>(columns: readonly TableColumn<Line>[], line: Line, attributes: Markup): Markup {
  return html`<tr${attributes}>${columns.map((column, index) =>
    index === 0
      ? html`<th scope="row"${toClass(column)}>${column.cell(line)}</th>`
      : html`<td${toClass(column)}>${column.cell(line)}</td>`,
  )}</tr>
`;
}

const toClass = <Line>(column: TableColumn<Line>): Markup =>
  column.numeric === true ? raw(' class="number"') : nothing;
