import type { Severity } from '../changes/change-event.js';
import { ReportError } from '../errors.js';
import type { MatchChangeFacts, NotScreenedFacts, RunFacts } from './run-facts.js';

/** A list too long to hold, of which the facts hold the first lines: how many it has, and all of them in batches, in the report's order. */
export interface CutList<Line> {
  lines: number;
  read: () => AsyncIterable<readonly Line[]>;
}

/** Who is not screened, where that is cut; with the customers on it, each under the worst outcome of its parties. */
export interface CutNotScreened extends CutList<NotScreenedFacts> {
  customers: Readonly<Record<NotScreenedFacts['outcome'], number>>;
}

/** The matches of first screenings, where these are cut; with how many there are of each severity, and the hits for sanctions among those not held. */
export interface CutBaseline extends CutList<MatchChangeFacts> {
  bySeverity: Readonly<Record<Severity, number>>;
  /** How many hits for sanctions of each severity the facts do not hold. */
  unheldSanctionHits: Readonly<Record<Severity, number>>;
  /** Those, in batches. */
  readSanctionHits: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** What of a run's lists is cut; null where a list is held whole. */
export interface CutLists {
  notScreened: CutNotScreened | null;
  baseline: CutBaseline | null;
}

/** How many matches of first screenings the facts tell of. */
export const countBaseline = ({ baselineChanges, cut }: Pick<RunFacts, 'baselineChanges' | 'cut'>): number =>
  cut.baseline?.lines ?? baselineChanges.length;

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
