import type { ClientEvent } from '../client/client-event.js';
import type { RunKind, RunState } from '../reports/run-facts.js';
import type { CanaryOccasion } from '../store/canaries.js';

/** The stages of a run in the order of the flow. */
export type RunStage =
  | 'import'
  | 'compare'
  | 'plan'
  | 'canaries'
  | 'screen'
  | 'details'
  | 'sweep'
  | 'reconcile'
  | 'report';

/** Matches that answers held, and those of them that are hits. */
export interface Found {
  matches: number;
  hits: number;
}

/** What a run tells while it works; no customer data in it. */
export type RunEvent =
  /** `found` is what a run that goes on had found before. */
  | { kind: 'run_started'; runId: string; runKind: RunKind; roster: string | null; resumed: boolean; found?: Found }
  | { kind: 'stage_started'; runId: string; stage: RunStage }
  /** Of searches also the calls and what they found, since this start. */
  | {
      kind: 'progress';
      runId: string;
      stage: RunStage;
      done: number;
      total: number | null;
      calls?: number;
      found?: Found;
      /** Of an import: how fast it reads rows and, where the size of the source is known, how much is read and how long the rest takes. */
      reading?: { perSecond: number; doneBytes: number | null; totalBytes: number | null; leftMs: number | null };
    }
  /** A transaction has taken longer than two seconds, or all such have come to their end. */
  | { kind: 'database_wait'; isWaiting: boolean }
  /** Of control searches also when they were asked. */
  | {
      kind: 'stage_finished';
      runId: string;
      stage: RunStage;
      counts: Readonly<Record<string, number>>;
      occasion?: CanaryOccasion;
    }
  /** What the client met on its way to the service. */
  | { kind: 'service'; event: ClientEvent }
  /** `roster` is given of a run that has not started here. */
  | { kind: 'warning'; runId: string | null; roster?: string | null; code: string; message: string }
  /** A roster of a night has no summary; of an unexpected error `message` has only the kind. */
  | { kind: 'roster_failed'; roster: string; runId: string | null; code: string; message: string }
  | { kind: 'run_finished'; runId: string; runKind: RunKind; state: RunState; reasons: readonly string[] };
