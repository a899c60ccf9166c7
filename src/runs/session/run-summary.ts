import type { RosterChangeFacts } from '../../reports/accepted-facts.js';
import type { OpenItemsFacts } from '../../reports/item-facts.js';
import type { HaltCode, RunCounts, RunKind, RunState, SnapshotFacts } from '../../reports/run-facts.js';
import type { SweepRow } from '../../store/dossiers.js';

/** What a comparison of rosters with dossiers came to (DESIGN: Command line). */
export interface ReconciliationCounts {
  customers: number;
  withDossier: number;
  withoutDossier: number;
  notExpected: number;
  ambiguous: number;
  dossiers: number;
  opened: number;
  resolved: number;
}

/** The outcome of a run as `--json` prints it (DESIGN: Command line). */
export interface RunSummary {
  schema: 'nightscreen/run-summary/1';
  runId: string;
  /** Null for a sweep. */
  roster: string | null;
  kind: RunKind;
  state: RunState;
  /** Why the state is not `complete`. */
  reasons: readonly string[];
  /** What stopped it early; null where nothing did. */
  haltedBy: HaltCode | null;
  exitCode: number;
  /** What a reader should know of a run that may be complete all the same. */
  remarks?: readonly string[];
  counts: Omit<RunCounts, 'inScope'> | Omit<SweepRow, 'unprovenBecause' | 'details'> | ReconciliationCounts;
  /** What its import made of the roster; absent where it imported nothing. */
  snapshot?: SnapshotFacts;
  /** The first changes of known customers that were accepted with the roster; absent where none were. */
  acceptedChanges?: readonly RosterChangeFacts[];
  /** What waited for reviewers when it closed; absent where no items were made. */
  openItems?: OpenItemsFacts;
  /** The mails of its report and how many were accepted; absent where nothing is mailed. */
  mail?: { queued: number; sent: number };
  /** Folder of the run's files, or null when none were written. */
  artifacts: string | null;
}

/** The exit code of a run that ended in this state (DESIGN: Exit codes). */
export function toExitCode(state: RunState): number {
  switch (state) {
    case 'complete':
      return 0;
    case 'running':
    case 'unbalanced':
      return 1;
    case 'refused':
      return 2;
    case 'incomplete':
    case 'abandoned':
      return 3;
    case 'stopped':
      return 4;
  }
}

/** The summary of a run that has ended, without artifacts. */
export function toRunSummary(
  run: Pick<RunSummary, 'runId' | 'roster' | 'kind' | 'state' | 'reasons' | 'counts'> & {
    haltedBy?: HaltCode | null;
    snapshot?: SnapshotFacts | null;
    openItems?: OpenItemsFacts | null;
    acceptedChanges?: readonly RosterChangeFacts[];
  },
): RunSummary {
  const {
    runId,
    roster,
    kind,
    state,
    reasons,
    haltedBy = null,
    counts,
    snapshot = null,
    openItems = null,
    acceptedChanges = [],
  } = run;
  return {
    schema: 'nightscreen/run-summary/1',
    runId,
    roster,
    kind,
    state,
    reasons,
    haltedBy,
    exitCode: toExitCode(state),
    counts,
    ...(snapshot && { snapshot }),
    ...(acceptedChanges.length > 0 && { acceptedChanges }),
    ...(openItems && { openItems }),
    artifacts: null,
  };
}
