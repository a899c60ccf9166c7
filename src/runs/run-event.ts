import type { ClientEvent } from '../client/client-event.js';
import type { RunKind, RunState } from '../reports/run-facts.js';

/** The stages of a run in the order of the flow. */
export type RunStage = 'import' | 'plan' | 'canaries' | 'screen' | 'sweep' | 'report';

/** What a run tells while it works; no customer data in it. */
export type RunEvent =
  | { kind: 'run_started'; runId: string; runKind: RunKind; roster: string | null; resumed: boolean }
  | { kind: 'stage_started'; runId: string; stage: RunStage }
  | { kind: 'progress'; runId: string; stage: RunStage; done: number; total: number | null }
  | { kind: 'stage_finished'; runId: string; stage: RunStage; counts: Readonly<Record<string, number>> }
  /** What the client met on its way to the service. */
  | { kind: 'service'; event: ClientEvent }
  | { kind: 'warning'; runId: string | null; code: string; message: string }
  | { kind: 'run_finished'; runId: string; runKind: RunKind; state: RunState; reasons: readonly string[] };
