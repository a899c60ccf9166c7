import { followSignals } from '../../client/calls/follow-signals.js';
import type { Client } from '../../client/create-client.js';
import type { DetailStop } from '../../reports/detail-facts.js';
import { abortLater } from '../searches/abort-later.js';
import { stopGraceMs } from '../searches/stop-signals.js';
import type { RunSession } from '../session/run-session.js';

/** Details are worth minutes of a night, not hours. */
const mostMs = 10 * 60_000;
// Whoever is told to come back in a minute is told to come back another time.
const longPauseMs = 60_000;
const mostFailuresInARow = 3;

/** What ends the fetching of details: nothing that is fetched may hold a run up. */
export interface DetailStops {
  /** Ends waiting: nothing more is sent. */
  readonly waitSignal: AbortSignal;
  /** Ends what is under way, 5 seconds later. */
  readonly signal: AbortSignal;
  readonly because: DetailStop | null;
  stop(because: DetailStop): void;
  /** Whether the service was out of reach for a look-up; after three in a row nothing more is asked. */
  note(wasOutOfReach: boolean): void;
  close(): void;
}

/** Begins to watch for an outage of the look-ups, a long pause, ten minutes, and a wish to stop. */
export function openDetailStops({ workplace, signal }: RunSession, client: Client): DetailStops {
  const own = new AbortController();
  const waiting = followSignals(own.signal, [signal]);
  const calls = abortLater(waiting.signal, stopGraceMs);
  let because: DetailStop | null = null;
  let failures = 0;
  const stop = (why: DetailStop): void => {
    if (waiting.signal.aborted) return;
    because = why;
    own.abort();
  };
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') stop('out_of_reach');
    if (event.kind === 'paused' && event.pauseMs >= longPauseMs) stop('out_of_reach');
  });
  const closing = new AbortController();
  workplace.clock.sleep(mostMs, closing.signal).then(
    () => stop('time'),
    () => undefined,
  );
  return {
    waitSignal: waiting.signal,
    signal: calls.signal,
    get because() {
      return because ?? (signal.aborted ? 'signal' : null);
    },
    stop,
    note: (wasOutOfReach) => {
      failures = wasOutOfReach ? failures + 1 : 0;
      if (failures >= mostFailuresInARow) stop('out_of_reach');
    },
    close: () => {
      closing.abort();
      leave();
      calls.clear();
      waiting.clear();
    },
  };
}
