import type { OpenAlertsFacts, RosterChangeFacts, RunCounts } from '../reports/list-facts.js';
import type { SnapshotFacts } from '../reports/run-facts.js';
import { countNoun } from '../reports/text.js';
import type { Sweep } from '../store/dossiers/dossiers.js';
import type { HaltCode, RunKind, RunState } from '../vocabulary.js';

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
  /** The code of the early stop; null without one. */
  haltedBy: HaltCode | null;
  exitCode: number;
  /** Remarks on a run, which may still be complete. */
  remarks?: readonly string[];
  counts:
    | Omit<RunCounts, 'inScope'>
    | Omit<Sweep, 'unprovenBecause' | 'details'>
    /** Of a reconciliation. */
    | Record<
        | 'customers'
        | 'withDossier'
        | 'withoutDossier'
        | 'notExpected'
        | 'ambiguous'
        | 'dossiers'
        | 'opened'
        | 'resolved',
        number
      >;
  /** The result of its import; absent without one. */
  snapshot?: SnapshotFacts;
  /** The first accepted changes of known customers; absent without any. */
  acceptedChanges?: readonly RosterChangeFacts[];
  /** The alerts that waited when it closed; absent when no alerts were made. */
  openAlerts?: OpenAlertsFacts;
  /** The mails of its report, how many were accepted, and how many of any kind are not tried again; absent without mail. */
  mail?: { queued: number; sent: number; lost: number };
  /** The folder of the run's files; null without files. */
  artifacts: string | null;
}

/** Mails that are not tried again, in words; empty for none. */
export const describeLostMails = (lost: number): string =>
  lost === 0 ? '' : `${countNoun(lost, 'mail')} not sent for good: nightscreen outbox`;

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
export function toRunSummary({
  counts,
  haltedBy = null,
  snapshot,
  openAlerts,
  acceptedChanges = [],
  ...run
}: Pick<RunSummary, 'runId' | 'roster' | 'kind' | 'state' | 'reasons' | 'counts'> & {
  haltedBy?: HaltCode | null;
  snapshot?: SnapshotFacts | null;
  openAlerts?: OpenAlertsFacts | null;
  acceptedChanges?: readonly RosterChangeFacts[];
}): RunSummary {
  return {
    schema: 'nightscreen/run-summary/1',
    ...run,
    haltedBy,
    exitCode: toExitCode(run.state),
    counts,
    ...(snapshot && { snapshot }),
    ...(acceptedChanges.length > 0 && { acceptedChanges }),
    ...(openAlerts && { openAlerts }),
    artifacts: null,
  };
}
