import type { Client } from '../../client/create-client.js';
import { RunHalted } from '../session/run-halted.js';
import type { Workplace } from '../workplace.js';
import { findDeadline } from './deadline.js';

// Whoever is told to come back in a moment is not out of reach.
const longPauseMs = 60_000;

/** Watches whether the service answers, and ends the run when it has not for too long. */
export interface OutageWatch {
  /** Aborted with RunHalted `outage` when the service has been out of reach for as long as a run waits. */
  readonly signal: AbortSignal;
  /** The service was found out of reach, as `because` says; the first time of each outage everybody is told how long the run waits. */
  noteOutage(because: string): void;
  /** The service answered; an answer to `operation` counts only while the client does not hold that operation for out of reach. */
  noteAnswer(operation?: string): void;
  /** Stops watching. */
  close(): void;
}

/** Begins to watch for a run that began at `startedAt`; `run.deadline` says how long it waits. */
export function watchOutage({ clock, settings, tell }: Workplace, client: Client, startedAt: Date): OutageWatch {
  const halting = new AbortController();
  const givenUp = new Set<string>();
  let waiting: { since: Date; deadline: Date; timer: AbortController } | undefined;

  const halt = (since: Date): void => halting.abort(toOutageHalt(settings.run.deadline, since));
  const beginWait = (because: string): { since: Date; deadline: Date } => {
    if (waiting) return waiting;
    const since = clock.now();
    const timer = new AbortController();
    waiting = { since, deadline: findDeadline(settings.run, startedAt, since), timer };
    const leftMs = waiting.deadline.getTime() - since.getTime();
    // At once, not by a timer: nothing more may be asked in between.
    if (leftMs <= 0) halt(since);
    else {
      clock.sleep(leftMs, timer.signal).then(
        () => halt(since),
        () => undefined,
      );
      const message = `${because}; the run waits until ${waiting.deadline.toISOString()} (run.deadline)`;
      tell({ kind: 'warning', runId: null, code: 'waiting_for_service', message });
    }
    return waiting;
  };
  const endWait = (): void => {
    waiting?.timer.abort();
    waiting = undefined;
  };
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') {
      givenUp.add(event.operation);
      beginWait(`the service is out of reach (${event.operation})`);
    }
    if (event.kind === 'outage_ended') {
      givenUp.delete(event.operation);
      endWait();
    }
    if (event.kind === 'paused' && event.pauseMs >= longPauseMs) {
      const { since, deadline } = beginWait(`the service asks for a pause of ${Math.round(event.pauseMs / 1_000)} s`);
      // Whoever is told to come back after the deadline need not wait for it.
      if (clock.now().getTime() + event.pauseMs > deadline.getTime()) halt(since);
    }
  });
  return {
    signal: halting.signal,
    noteOutage: (because) => void beginWait(because),
    noteAnswer: (operation) => {
      if (operation === undefined || !givenUp.has(operation)) endWait();
    },
    close: () => {
      leave();
      endWait();
    },
  };
}

function toOutageHalt(deadline: string, since: Date): RunHalted {
  const message = `the service is out of reach since ${since.toISOString()}, and run.deadline (${deadline}) allows no longer wait`;
  return new RunHalted('outage', message);
}
