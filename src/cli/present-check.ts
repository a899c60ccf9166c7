import { formatCount, toVisibleText } from '../reports/text.js';
import { type CheckResult, describeControls } from '../runs/checks/check.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

const verdicts: Readonly<Record<CheckResult['verdict'], string>> = {
  clear: 'clear: a valid, complete answer without results',
  below_threshold: 'below threshold: results, and none of them flagged by the service',
  incompletely_seen: 'incompletely seen: the list of results was cut, and no hit is among what was returned',
  open_hit: 'open hit: the service flagged at least one listed party',
  not_screened: 'NOT SCREENED: there is no valid answer, and nothing follows from that',
};

function describeMatches({ answer }: CheckResult): string {
  if (answer === null || answer.matches.length === 0) return '';
  const head = ['rank', 'hit', 'score', 'name', 'kind', 'topics', 'born', 'countries', 'id'];
  const rows = answer.matches.map(({ rank, isHit, score, name, schema, topics, birthDates, countries, id }) => [
    rank,
    isHit ? 'hit' : '-',
    String(score),
    ...[name, schema, topics.join(' '), birthDates.join(' '), countries.join(' '), id].map(toVisibleText),
  ]);
  return `\n${formatTable([head, ...rows])}`;
}

function describeAnswer({ answer, responseDigest }: CheckResult): [string, string][] {
  if (answer === null) return [];
  const hits = answer.matches.filter((match) => match.isHit).length;
  const shown = `${formatCount(answer.matches.length)} of ${formatCount(answer.total)} results, ${formatCount(hits)} hits`;
  return [
    ['answer', shown],
    ['digest', responseDigest ?? '-'],
  ];
}

/** A check as lines for people. */
export const formatCheck = (result: CheckResult): string =>
  formatTable([
    ['verdict', verdicts[result.verdict]],
    ...result.reasons.map((reason): [string, string] => ['because', toVisibleText(reason)]),
    ['asked', `${result.type} ${toVisibleText(result.sentName)}`],
    ['reason', toVisibleText(result.reason)],
    ['by', `${toVisibleText(result.askedBy)}, ${result.askedAt.toISOString()}`],
    ['key', `${result.mode}, ${result.keyFingerprints.join(', ') || 'not known'}`],
    ['controls', describeControls(result.controls)],
    ['calls', formatCount(result.attempts)],
    ...describeAnswer(result),
    ['run', result.runId],
  ]) + describeMatches(result);

/** What `check` says, now or later. */
export const presentCheck = (result: CheckResult, exitCode: number): Outcome => ({
  exitCode,
  document: { schema: 'nightscreen/check/1', exitCode, ...result },
  text: formatCheck(result),
});
