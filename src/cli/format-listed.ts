import { describeReason, rejectWords } from '../reports/reasons.js';
import { formatCount, toVisibleText } from '../reports/text.js';
import type { RunListed } from '../runs/run-reference.js';
import { formatTable } from './format-table.js';

/** Where each rejected row stands and why; not what it holds, which is personal data. */
function formatRejects({ list, rejects, rejectsInAll }: RunListed, artifacts: string | null): string {
  if (rejects.length === 0) {
    return list === 'rejected'
      ? '\nRejected rows\nnone: this run has read no row that was rejected; those of an import stand with the run that imported\n'
      : '';
  }
  const rows = rejects.map(({ line, file, column, reason, valueClass, reference }) => [
    `${file === null ? '' : `${toVisibleText(file)}, `}line ${line}`,
    toVisibleText(reference ?? '-'),
    column === null ? '-' : `${toVisibleText(column)}${valueClass === null ? '' : `: ${valueClass}`}`,
    rejectWords[reason],
  ]);
  const more = rejectsInAll - rejects.length;
  const rest = more > 0 ? `and ${formatCount(more)} more: --list rejected --limit ${rejectsInAll}\n` : '';
  const files =
    artifacts === null
      ? ''
      : `whole, to be mended and fed back: rejects.csv (of related parties: rejects-parties.csv) in ${artifacts}\n`;
  return `\nRejected rows, by file and line\n${formatTable(rows)}${rest}${files}`;
}

/** The rows and customers that were asked to be listed; `artifacts` is the folder of the run's files, null where none were written. */
export function formatListed(listed: RunListed, artifacts: string | null): string {
  const { list, customers, next } = listed;
  if (list === null || list === 'rejected') return formatRejects(listed, artifacts);
  const rows = customers.map(({ reference, planned, because }) => [
    reference,
    planned === because ? '' : describeReason(planned),
    because === null ? '' : describeReason(because),
  ]);
  const title = `\n${list.slice(0, 1).toUpperCase()}${list.slice(1)} customers\n`;
  const more = next === null ? '' : `there are more: --list ${list} --after ${JSON.stringify(next)}\n`;
  return rows.length === 0 ? `${title}none\n` : `${title}${formatTable(rows)}${more}`;
}
