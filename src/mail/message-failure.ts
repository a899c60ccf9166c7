import { countNoun, formatCount } from '../reports/format-count.js';
import { describeReason } from '../reports/reason-words.js';
import type { Report, Tally } from '../reports/report.js';
import { describeMode, type ReportWords } from './message-lines.js';

/** What operators are told about a run that did not go as it should: what failed, why, and what to type. */
export function toFailureWords({ run, verdict, coverage, calls, canaries, dossiers }: Report): ReportWords {
  const failedCanaries = (canaries ?? []).filter((canary) => canary.verdict === 'failed').length;
  return {
    sentences: [...describeMode(run.mode), ...verdict.remarks],
    details: [
      ...(failedCanaries > 0 ? [`${countNoun(failedCanaries, 'control search', 'control searches')} failed`] : []),
      ...describeTallies('Not screened after all repeats', coverage?.failedBecause ?? []),
      ...((coverage?.counts.remaining ?? 0) > 0
        ? [`Not reached: ${formatCount(coverage?.counts.remaining ?? 0)}`]
        : []),
      ...describeTallies('Calls', calls.byOutcome),
      ...(dossiers?.sweeps.flatMap(({ unprovenBecause }) =>
        unprovenBecause === null ? [] : [`Sweep unproven: ${unprovenBecause}`],
      ) ?? []),
    ],
    actions: [
      ...(run.state === 'stopped' ? [`Go on with it: nightscreen runs resume ${run.runId}`] : []),
      `See what happened: nightscreen runs show ${run.runId}`,
      'Check settings, key and service: nightscreen doctor',
    ],
  };
}

function describeTallies(title: string, tallies: readonly Tally[]): readonly string[] {
  if (tallies.length === 0) return [];
  return [`${title}: ${tallies.map(({ code, count }) => `${formatCount(count)} ${describeReason(code)}`).join(', ')}`];
}
