import { formatCount } from '../reports/format-count.js';
import type { RunSummary } from '../runs/run-summary.js';
import { describeCounts } from './describe-counts.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

function describeSums(counts: RunSummary['counts']): [string, string][] {
  if ('pages' in counts) {
    const { proven, ...others } = counts;
    return [['dossiers', `${describeCounts(others)}${proven ? '; proven complete' : '; not proven complete'}`]];
  }
  const count = formatCount;
  return [
    [
      'roster',
      `${count(counts.rows)} rows = ${count(counts.customers)} customers + ${count(counts.rejected)} rejected + ${count(counts.duplicates)} duplicates`,
    ],
    [
      'screening',
      `${count(counts.planned)} planned = ${count(counts.screened)} screened + ${count(counts.reused)} reused + ${count(counts.failed)} failed + ${count(counts.remaining)} remaining; ${count(counts.skipped)} skipped`,
    ],
    ['searches', `${count(counts.searches)} in ${count(counts.attempts)} calls`],
    ['found', describeCounts({ matches: counts.matches, hits: counts.hits, changes: counts.changes })],
  ];
}

/** A run's summary as lines for people; what comes next is said where something is left to do. */
export function formatRun(summary: RunSummary): string {
  const rows: [string, string][] = [
    ['run', `${summary.runId} (${summary.kind})`],
    ['state', summary.state],
    ...summary.reasons.map((reason): [string, string] => ['because', reason]),
    ...describeSums(summary.counts),
    ...(summary.artifacts === null ? [] : [['files', summary.artifacts] satisfies [string, string]]),
    ...(summary.state === 'stopped'
      ? [['next', `nightscreen runs resume ${summary.runId}`] satisfies [string, string]]
      : []),
  ];
  return formatTable(rows);
}

/** What a command says that made one run. */
export const presentRun = (summary: RunSummary): Outcome => ({
  exitCode: summary.exitCode,
  document: { ...summary },
  text: formatRun(summary),
});
