import type { Severity } from '../changes/change-event.js';
import { ReportError } from '../errors.js';
import type { MatchChangeFacts, NotScreenedFacts } from './list-facts.js';
import type { RunFacts } from './run-facts.js';
import type { CountedFlood } from './split-floods.js';

/** A list too long to hold, of which the facts hold the first lines: how many it has, and all of them in batches, in the report's order. */
export interface CutList<Line> {
  lines: number;
  read: () => AsyncIterable<readonly Line[]>;
}

/** Who is not screened, where that is cut; with the customers on it, each under the worst outcome of its parties. */
export interface CutNotScreened extends CutList<NotScreenedFacts> {
  customers: Readonly<Record<NotScreenedFacts['outcome'], number>>;
}

/** How many changes, or matches of first screenings, there are of a severity. */
export interface SeverityCount {
  count: number;
  /** Of them those that are, or were, hits for a sanction. */
  sanctionHits: number;
  /** Of these those that are hits now. */
  standingHits: number;
}

/** Changes or matches of first screenings, where these are cut, most severe first and then by customer reference. */
export interface CutMatches extends CutList<MatchChangeFacts> {
  bySeverity: Readonly<Record<Severity, SeverityCount>>;
  /** All of one severity, in batches. */
  readOf: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
  /** The hits for sanctions of a severity that the facts do not hold, in batches. */
  readSanctionHits: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** Changes, where these are cut. */
export interface CutChanges extends CutMatches {
  floods: readonly CountedFlood[];
  /** Until when the first of their items that wait and are not overdue is to be decided. */
  nextDueAt: Date | null;
}

/** What of a run's lists is cut; null where a list is held whole. */
export interface CutLists {
  notScreened: CutNotScreened | null;
  baseline: CutMatches | null;
  changes: CutChanges | null;
}

/** How many matches of first screenings the facts tell of. */
export const countBaseline = ({ baselineChanges, cut }: Pick<RunFacts, 'baselineChanges' | 'cut'>): number =>
  cut.baseline?.lines ?? baselineChanges.length;

/** How many changes the facts tell of. */
export const countChanges = ({ changes, cut }: Pick<RunFacts, 'changes' | 'cut'>): number =>
  cut.changes?.lines ?? changes.length;

/** All lines in batches: those held, or where they are cut those that are read; throws ReportError `unbalanced` when these are not as many as were counted. */
export async function* readWhole<Line>(
  name: string,
  held: readonly Line[],
  cut: CutList<Line> | null,
): AsyncGenerator<readonly Line[]> {
  if (cut === null) {
    yield held;
    return;
  }
  let lines = 0;
  for await (const batch of cut.read()) {
    lines += batch.length;
    yield batch;
  }
  if (lines === cut.lines) return;
  throw new ReportError(
    'unbalanced',
    `sums do not hold: ${name}: ${lines} lines were written and ${cut.lines} counted`,
  );
}
