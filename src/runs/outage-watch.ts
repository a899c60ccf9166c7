import type { Client } from '../client/create-client.js';
import { findDeadline } from './deadline.js';
import { RunHalted } from './run-halted.js';
import type { Workplace } from './workplace.js';

/** Watches whether the service answers, and ends the run when it has not for too long. */
export interface OutageWatch {
  /** Aborted with RunHalted `outage` when the service has been out of reach for as long as a run waits. */
  readonly signal: AbortSignal;
  /** How often the client has given the service up and begun to probe it. */
  readonly outages: number;
  /** The service was out of reach. */
  noteFailure(): void;
  /** The service answered. */
  noteAnswer(): void;
  /** Stops watching. */
  close(): void;
}

/** Begins to watch for a run that began at `startedAt`; `run.deadline` says how long it waits. */
export function watchOutage(workplace: Workplace, client: Client, startedAt: Date): OutageWatch {
  const { clock, settings } = workplace;
  const halting = new AbortController();
  let waiting: AbortController | undefined;
  let outages = 0;

  const haltAt = (deadline: Date, since: Date): void => {
    waiting?.abort();
    const timer = new AbortController();
    waiting = timer;
    const halt = (): void => halting.abort(toOutageHalt(settings.run.deadline, since));
    clock.sleep(Math.max(0, deadline.getTime() - clock.now().getTime()), timer.signal).then(halt, () => undefined);
  };
  const noteFailure = (): void => {
    if (waiting !== undefined) return;
    const since = clock.now();
    haltAt(findDeadline(settings.run, startedAt, since), since);
  };
  const noteAnswer = (): void => {
    waiting?.abort();
    waiting = undefined;
  };
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') {
      outages += 1;
      noteFailure();
    }
    if (event.kind === 'outage_ended') noteAnswer();
    if (event.kind !== 'paused') return;
    // Whoever is told to come back after the deadline need not wait for it.
    const since = clock.now();
    const deadline = findDeadline(settings.run, startedAt, since);
    if (since.getTime() + event.pauseMs > deadline.getTime()) haltAt(since, since);
  });
  return {
    signal: halting.signal,
    get outages() {
      return outages;
    },
    noteFailure,
    noteAnswer,
    close: () => {
      leave();
      noteAnswer();
    },
  };
}

/** The halt of a run that has waited long enough for a service that is out of reach. */
export function toOutageHalt(deadline: string, since: Date): RunHalted {
  const message = `the service is out of reach since ${since.toISOString()}, and run.deadline (${deadline}) allows no longer wait`;
  return new RunHalted('outage', message);
}
