import type { Reachability } from './circuit.js';

/** What an attempt taught about the service. */
export interface Verdict {
  reachability: Reachability;
  /** The service said that it is asked too often. */
  isRefusedForPace: boolean;
  /** How long nobody may call; 0 for no pause. */
  pauseMs: number;
}

/** Who wants a turn: calls that begin again go before those that begin, so that what was begun comes to its end. */
export interface Entrant {
  operation: string;
  isRepeat: boolean;
  signal: AbortSignal | undefined;
}

/** One caller's turn to send one request. */
export interface Turn {
  /** Whether it is the one that tries during an outage; it must end soon, so that the next one can. */
  readonly isProbe: boolean;
  /** The request is about to leave this machine; false when it must not, because a pause or an outage began meanwhile. */
  mayLeave(): boolean;
  /** What came of it, told before the turn ends; says whether the service is now taken to be out of reach. */
  judge(verdict: Verdict): { isOutage: boolean };
}

/** Something about the pace that whoever watches a run wants to know. */
export type PaceEvent =
  | { kind: 'outage_began'; operation: string; probeInMs: number }
  | { kind: 'outage_ended'; operation: string; lastedMs: number }
  | { kind: 'paused'; operation: string; pauseMs: number }
  | { kind: 'rate_lowered'; operation: string; perSecond: number };

/** One pace for all who share it: rate, concurrency, pauses and outages. */
export interface Pace {
  /** Runs `task` when it is this caller's turn; rejects with the signal's reason when aborted before it starts. */
  run<T>(entrant: Entrant, task: (turn: Turn) => Promise<T>): Promise<T>;
  /** Lets go of its timers once nobody calls any more. */
  close(): void;
}
