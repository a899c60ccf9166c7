import { html } from 'hono/html';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts } from '../roster/doubts.js';
import { countNoun, formatCount } from './format-count.js';
import {
  type Markup,
  nothing,
  section,
  showNone,
  showParty,
  showReference,
  showText,
  showTime,
} from './html-markup.js';
import { showTable, type TableColumn } from './html-table.js';
import type { NotScreenedFacts } from './list-facts.js';
import { describeReason, outcomeWords, rejectWords } from './reason-words.js';
import type { Report } from './report.js';
import { listOwnDoubts } from './report.js';
import { isOfParties } from './run-facts.js';

import { describeDoubtedValues } from './snapshot-words.js';

const notScreenedColumns: readonly TableColumn<NotScreenedFacts>[] = [
  { title: 'Customer', cell: (line) => showParty(line.party) },
  { title: 'Why', cell: (line) => html`${outcomeWords[line.outcome]}: ${showText(describeReason(line.reason))}` },
  {
    title: 'Last screened',
    cell: (line) => (line.lastScreenedAt === null ? html`<strong>never</strong>` : showTime(line.lastScreenedAt)),
  },
];

const rejectColumns: readonly TableColumn<RejectedRow>[] = [
  { title: 'Line', numeric: true, cell: showLine },
  {
    title: 'Customer',
    cell: (row) => (row.reference === null ? showNone() : showReference(row.reference)),
  },
  { title: 'Why', cell: (row) => rejectWords[row.reason] },
  { title: 'Column at fault', cell: showFault },
];

/** Customers in scope without a valid screening, with the reason and the last time they had one. */
export function showNotScreened(report: Report): Markup {
  const { notScreened } = report;
  if (notScreened === null) return nothing;
  const count = report.cut.notScreened?.lines ?? notScreened.length;
  const body =
    notScreened.length === 0
      ? html`<p class="quiet">${report.verdict.level === 'red' ? 'Nobody is on this list, but this run cannot be relied on.' : 'Nobody in scope is left unscreened.'}</p>`
      : showTable(
          `${countNoun(count, 'name')} without a valid screening: a match may exist that nobody has seen`,
          notScreenedColumns,
          notScreened,
          'not-screened.csv',
          { count },
        );
  return section('not-screened', 'Not screened', body);
}

/** Roster rows that were not accepted, with what is wrong with them. */
export function showRejects(report: Report): Markup {
  const { rejects } = report;
  if (rejects === null) return nothing;
  const body =
    rejects.length === 0
      ? html`<p class="quiet">No roster row was rejected.</p>`
      : html`${showTable(`${countNoun(rejects.length, 'roster row')} not accepted, by line of the source`, rejectColumns, rejects, 'rejects.csv')}
<p class="muted">The whole rows are in ${showFiles(rejects)}, to be mended and fed back. A customer that was on the roster before stays in scope with its last accepted record.</p>`;
  return html`${section('rejects', 'Rejected rows', body)}${showDoubts(report)}`;
}

const doubtColumns: readonly TableColumn<ColumnDoubts>[] = [
  { title: 'Column', cell: ({ column }) => showText(column) },
  { title: 'In doubt', numeric: true, cell: ({ doubts }) => formatCount(doubts) },
  { title: 'Read', numeric: true, cell: ({ read }) => formatCount(read) },
  { title: 'The most frequent values', cell: (column) => showText(describeDoubtedValues(column)) },
];

/** Values of accepted rows that cannot be read for certain. */
function showDoubts(report: Report): Markup {
  const columns = listOwnDoubts(report);
  if (columns.length === 0) return nothing;
  const table = showTable(
    'Values that count as unknown: they agree with nothing, contradict nothing and lower no severity',
    doubtColumns,
    columns,
    'report.json',
  );
  const more = `${countNoun(report.doubted.length, 'row')} with such values ${report.doubted.length === 1 ? 'is' : 'are'} in `;
  return section(
    'doubts',
    'Values in doubt',
    html`${table}<p class="muted">The customers are searched for all the same. ${more}${showFiles(report.doubted)}, to be mended and fed back.</p>`,
  );
}

function showFiles(rejects: readonly Pick<RejectedRow, 'file'>[]): Markup {
  const parties = rejects.filter(isOfParties).length;
  if (parties === 0) return html`<code>rejects.csv</code>`;
  if (parties === rejects.length) return html`<code>rejects-parties.csv</code>`;
  return html`<code>rejects.csv</code> and <code>rejects-parties.csv</code>`;
}

function showLine(row: RejectedRow): Markup | string {
  return row.file === null ? String(row.line) : html`${showText(row.file)}: ${row.line}`;
}

function showFault(row: RejectedRow): Markup {
  if (row.column === null) return showNone();
  const value = Object.hasOwn(row.fields, row.column) ? row.fields[row.column] : undefined;
  const content = value === undefined ? nothing : value === '' ? html` is empty` : html`: ${showText(value)}`;
  return html`<code>${showText(row.column)}</code>${content}`;
}
