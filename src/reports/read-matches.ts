import type { ChangeGroup } from './change-groups.js';
import { type CutList, readWhole } from './cut-list.js';
import type { Report } from './report.js';
import type { MatchChangeFacts } from './run-facts.js';

/** All changes in batches, in the report's order; throws ReportError `unbalanced` when these are not as many as were counted. */
export const readChanges = ({ changes, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readGroups('changes', changes ?? [], cut.changes);

/** All matches of first screenings in the same way. */
export const readBaseline = ({ baseline, cut }: Report): AsyncIterable<readonly MatchChangeFacts[]> =>
  readGroups('first-time matches', baseline, cut.baseline);

const batchLines = 1_000;

async function* readGroups(name: string, groups: readonly ChangeGroup[], cut: CutList<MatchChangeFacts> | null) {
  const held = groups.flatMap(({ changes }) => changes);
  for await (const batch of readWhole(name, held, cut)) {
    // Few at a time: all that are held as text would take as much memory again.
    for (let start = 0; start < batch.length; start += batchLines) yield batch.slice(start, start + batchLines);
  }
}
