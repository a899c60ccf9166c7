import { countNoun, formatCount } from '../reports/format-count.js';
import type { Coverage, Report } from '../reports/report.js';
import { stateWords } from '../reports/state-words.js';
import { describeWatch } from '../reports/watch-words.js';
import { describeMode, describeOpenItems, type ReportWords } from './message-lines.js';

/** What managers are told: coverage, counts, how it compares with before; no lists, and nothing about anybody. */
export function toSummaryWords(report: Report): ReportWords {
  const { run, verdict, coverage, watch } = report;
  return {
    sentences: [...describeMode(run.mode), verdict.waiting ?? '', verdict.news].filter((sentence) => sentence !== ''),
    details: [
      ...(coverage === null ? [] : describeCoverage(coverage)),
      ...describeOpenItems(report),
      ...(watch === null ? [] : describeWatch(watch)),
    ],
    actions: [
      verdict.level === 'complete'
        ? 'Nothing: reviewers decide about what waits.'
        : 'See that it is followed up: the report says what is missing and why.',
    ],
  };
}

function describeCoverage({ counts, states }: Coverage): readonly string[] {
  if (states === null)
    return [`${countNoun(counts.customers, 'customer')} on the roster, ${countNoun(counts.rejected, 'rejected row')}`];
  const missing = states.find(({ code }) => code === 'not_screened')?.count ?? 0;
  const valid = counts.inScope - missing;
  const share = counts.inScope === 0 ? '' : ` (${toPercent(valid / counts.inScope)})`;
  return [
    `${formatCount(valid)} of ${countNoun(counts.inScope, 'customer')} in scope ${valid === 1 ? 'has' : 'have'} a valid screening${share}`,
    states
      .filter(({ count }) => count > 0)
      .map(({ code, count }) => `${formatCount(count)} ${stateWords[code].name.toLowerCase()}`)
      .join(', '),
    ...(counts.rejected > 0 ? [countNoun(counts.rejected, 'rejected row')] : []),
  ].filter((line) => line !== '');
}

/** Never rounded up to all of them. */
const toPercent = (share: number): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`;
