import { formatCount, toVisibleText } from '../reports/text.js';
import type { AssuranceResult, Recall, StratumRecall } from '../runs/checks/assurance.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

const mostMissed = 50;

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

function describeRecall({ recall }: Recall): string {
  if (recall === null) return 'not known: nothing was answered';
  return `${percent(recall.share)} (95 %: ${percent(recall.low)} to ${percent(recall.high)})`;
}

function listStrata(title: string, strata: readonly StratumRecall[]): string {
  const rows = strata.map(({ stratum, sample, answered, found, withResults, ...part }) => [
    stratum,
    sample,
    answered,
    found,
    withResults,
    describeRecall({ sample, answered, found, withResults, ...part }),
  ]);
  return `\n${formatTable([[title, 'sample', 'answered', 'hit', 'any result', 'recall'], ...rows])}`;
}

function listMissed({ missed }: AssuranceResult): string {
  if (missed.length === 0) return '';
  const rows = missed
    .slice(0, mostMissed)
    .map((item) => [
      toVisibleText(item.listedName),
      item.sentName === item.listedName ? '' : `sent as ${toVisibleText(item.sentName)} (${item.variant})`,
      `${item.type}${item.listedId === null ? '' : ` ${toVisibleText(item.listedId)}`}`,
      `${formatCount(item.results)} results`,
    ]);
  const others = missed.length - rows.length;
  const more = others > 0 ? `and ${formatCount(others)} more (--json lists all)\n` : '';
  return `\nNot found\n${formatTable(rows)}${more}`;
}

/** A measurement of recall as lines for people. */
export const formatAssurance = (result: AssuranceResult): string =>
  formatTable([
    ['run', result.runId],
    ['state', result.state],
    ...result.reasons.map((reason): [string, string] => ['because', reason]),
    ['list', `${result.file}: ${formatCount(result.listed)} entries, SHA-256 ${result.digest}`],
    ['sample', `${formatCount(result.total.sample)} names, ${result.spelling}, seed ${result.seed}`],
    ['recall', describeRecall(result.total)],
    [
      'found',
      `${formatCount(result.total.found)} with a hit, ${formatCount(result.total.withResults)} with any result, of ${formatCount(result.total.answered)} answered`,
    ],
    [
      'not asked',
      `${formatCount(result.total.remaining)} remaining, ${formatCount(result.total.failed)} without a valid answer`,
    ],
    ['calls', formatCount(result.attempts)],
  ]) +
  listStrata('type and script', result.byTypeAndScript) +
  (result.spelling === 'variants' ? listStrata('variant', result.byVariant) : '') +
  listMissed(result);

/** What `assure` says, now or later. */
export const presentAssurance = (result: AssuranceResult): Outcome => ({
  exitCode: result.exitCode,
  document: { schema: 'nightscreen/assurance/1', ...result },
  text: formatAssurance(result),
});
