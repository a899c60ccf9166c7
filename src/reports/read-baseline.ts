import { readWhole } from './cut-list.js';
import type { Report } from './report.js';
import type { MatchChangeFacts } from './run-facts.js';

/** All matches of first screenings in batches, in the report's order; throws ReportError `unbalanced` when these are not as many as were counted. */
export function readBaseline({ baseline, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> {
  const held = baseline.flatMap((group) => group.changes);
  return readWhole('first-time matches', held, cut.baseline);
}
