import type { ChangeGroup } from './change-groups.js';
import type { CutMatches } from './cut-list.js';
import { shownLines } from './html-table.js';
import type { MatchChangeFacts } from './list-facts.js';
import type { Report } from './report.js';

/** What the page shows of the changes of one severity, or of its matches of first screenings. */
export interface ShownGroup {
  section: 'changes' | 'baseline';
  group: ChangeGroup;
  /** The first of those that stand one by one: these in full. */
  first: readonly MatchChangeFacts[];
  /** How many hits for sanctions there are beyond them. */
  furtherHits: number;
  /** Those, in batches. */
  readFurtherHits: () => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** What the page shows of each group, read where it is not held. */
export async function chooseShown({ changes, baseline, cut }: Report): Promise<readonly ShownGroup[]> {
  const shown: ShownGroup[] = [];
  for (const group of changes ?? []) shown.push(await chooseLines('changes', group, cut.changes));
  for (const group of baseline) shown.push(await chooseLines('baseline', group, cut.baseline));
  return shown;
}

async function chooseLines(
  section: ShownGroup['section'],
  group: ChangeGroup,
  cut: CutMatches | null,
): Promise<ShownGroup> {
  const { severity, single, singleCount, sanctionHits, changes } = group;
  const wanted = Math.min(shownLines, singleCount);
  const first =
    cut === null || single.length >= wanted ? single.slice(0, wanted) : await readFirst(cut.readOf(severity), wanted);
  const inFull = new Set(first.map(({ changeId }) => changeId));
  const isFurther = ({ changeId, isSanctionHit }: MatchChangeFacts): boolean => isSanctionHit && !inFull.has(changeId);
  const readFurtherHits = async function* () {
    yield changes.filter(isFurther);
    if (cut !== null) for await (const batch of cut.readSanctionHits(severity)) yield batch.filter(isFurther);
  };
  const furtherHits = sanctionHits - first.filter(({ isSanctionHit }) => isSanctionHit).length;
  return { section, group, first, furtherHits, readFurtherHits };
}

/** The first of those that stand one by one. */
async function readFirst(
  batches: AsyncIterable<readonly MatchChangeFacts[]>,
  wanted: number,
): Promise<readonly MatchChangeFacts[]> {
  const found: MatchChangeFacts[] = [];
  if (wanted === 0) return found;
  for await (const batch of batches) {
    found.push(...batch.filter(({ flood }) => flood === undefined));
    if (found.length >= wanted) break;
  }
  return found.slice(0, wanted);
}
