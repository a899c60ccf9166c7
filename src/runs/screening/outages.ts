import type { Client } from '../../client/client.js';
import { followSignals } from '../../client/signals.js';
import type { Clock } from '../../clock.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { RunHalted, toSignalHalt } from '../halt.js';

// Whoever is asked to come back in a moment is not out of reach.
const longPauseMs = 60_000;

/** Watches whether the service answers, and ends the run when it has not for too long. */
export interface OutageWatch {
  /** Aborted with RunHalted `outage` when the service has been out of reach for as long as a run waits. */
  readonly signal: AbortSignal;
  /** The service was found out of reach, as `because` says; the first time of each outage everybody is informed how long the run waits. */
  noteOutage(because: string): void;
  /** The service answered; an answer to `operation` counts only while the client does not hold that operation for out of reach. */
  noteAnswer(operation?: string): void;
  /** Events from now on belong to this run. */
  nameRun(runId: string): void;
  /** Stops watching. */
  close(): void;
}

/** Begins to watch for a run that began at `startedAt`; `run.deadline` says how long it waits. */
export function watchOutage({ clock, settings, emit }: AppContext, client: Client, startedAt: Date): OutageWatch {
  const halting = new AbortController();
  const givenUp = new Set<string>();
  let runId: string | null = null;
  let waiting: { since: Date; deadline: Date; timer: AbortController; isReported: boolean } | undefined;

  const warn = (code: string, message: string): void => emit({ kind: 'warning', runId, code, message });
  const halt = (why: string): void => {
    const message = `${why}, and run.deadline (${settings.run.deadline}) allows no longer wait`;
    halting.abort(new RunHalted('outage', message));
  };
  const beginWait = (): NonNullable<typeof waiting> => {
    if (waiting) return waiting;
    const since = clock.now();
    const begun = {
      since,
      deadline: findDeadline(settings.run, startedAt, since),
      timer: new AbortController(),
      isReported: false,
    };
    waiting = begun;
    const give = (): void => halt(`the service is out of reach since ${since.toISOString()}`);
    const leftMs = begun.deadline.getTime() - since.getTime();
    // At once, not by a timer: nothing more may be asked in between.
    if (leftMs <= 0) give();
    else clock.sleep(leftMs, begun.timer.signal).then(give, () => undefined);
    return begun;
  };
  const noteOutage = (because: string): void => {
    const wait = beginWait();
    if (wait.isReported || halting.signal.aborted) return;
    wait.isReported = true;
    warn('waiting_for_service', `${because}; the run waits until ${wait.deadline.toISOString()} (run.deadline)`);
  };
  const notePause = (pauseMs: number): void => {
    const { deadline } = beginWait();
    const until = new Date(clock.now().getTime() + pauseMs);
    const asked = `the service asks for a pause until ${until.toISOString()}`;
    // Whoever is asked to come back after the deadline need not wait for it.
    if (until > deadline) halt(asked);
    else warn('waiting_for_service', `${asked}; the run goes on then`);
  };
  const endWait = (): void => {
    if (waiting === undefined) return;
    const { since, timer, isReported } = waiting;
    timer.abort();
    waiting = undefined;
    const lastedMs = clock.now().getTime() - since.getTime();
    if (isReported) warn('service_is_back', `the service answers again after ${Math.round(lastedMs / 1_000)} s`);
  };
  const leave = client.listen((event) => {
    if (event.kind === 'outage_began') {
      givenUp.add(event.operation);
      noteOutage(`the service is out of reach (${event.operation})`);
    }
    if (event.kind === 'outage_ended') {
      givenUp.delete(event.operation);
      endWait();
    }
    if (event.kind === 'paused' && event.pauseMs >= longPauseMs) notePause(event.pauseMs);
  });
  return {
    signal: halting.signal,
    noteOutage,
    noteAnswer: (operation) => {
      if (operation === undefined || !givenUp.has(operation)) endWait();
    },
    nameRun: (name) => {
      runId = name;
    },
    close: () => {
      leave();
      waiting?.timer.abort();
    },
  };
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const minuteMs = 60_000;
// A time of day that a daylight-saving gap swallows comes again on the day after.
const mostMinutes = 50 * 60;

/**
 * The instant until which a run waits for a service that has been out of reach since `since`: that much later, or the first time of that
 * name after `startedAt`, when the run began.
 */
function findDeadline({ deadline, timezone }: RunSettings['run'], startedAt: Date, since: Date): Date {
  const [, count, unit] = /^(\d+)(\D+)$/.exec(deadline) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(since.getTime() + Number(count) * (unitMs[unit] ?? 0));
  }
  return findNextTime(deadline, timezone, startedAt);
}

function findNextTime(time: string, timezone: string, after: Date): Date {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const firstMs = Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs;
  for (let minutes = 0; minutes < mostMinutes; minutes += 1) {
    const instant = new Date(firstMs + minutes * minuteMs);
    if (format.format(instant) === time) return instant;
  }
  return new Date(firstMs + mostMinutes * minuteMs);
}

// Between the rounds of attempts that the client makes by itself; at most 20 seconds apart (PROMISES: 4).
const delaysMs = [5_000, 10_000, 20_000];

/** What waiting for the service needs to know: by which clock, who says for how long, and what stops it. */
export interface WaitPolicy {
  clock: Clock;
  outage: OutageWatch;
  signal: AbortSignal;
}

/**
 * Does `work` again, for as long as `run.deadline` allows, while it ends with RunHalted `outage`; gives what it came to and whether the
 * service had to be waited for. Anything else that it throws is thrown on.
 */
export async function retryUntilDeadline<T>(
  waitPolicy: WaitPolicy,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T; hadToWait: boolean }> {
  const { outage, signal } = waitPolicy;
  const either = followSignals(signal, [outage.signal]);
  try {
    for (let turn = 0; ; turn += 1) {
      try {
        const value = await work(either.signal);
        outage.noteAnswer();
        return { value, hadToWait: turn > 0 };
      } catch (error) {
        if (outage.signal.aborted) throw outage.signal.reason;
        if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
        await waitForService(waitPolicy, turn, error.message);
      }
    }
  } finally {
    either.clear();
  }
}

/** Waits before the service is asked again for the `turn`th time; throws RunHalted when the run waits no longer or has to stop. */
export async function waitForService(waitPolicy: WaitPolicy, turn: number, because: string): Promise<void> {
  const { clock, outage, signal } = waitPolicy;
  outage.noteOutage(because);
  if (outage.signal.aborted) throw outage.signal.reason;
  const either = followSignals(signal, [outage.signal]);
  try {
    await clock.sleep(delaysMs[Math.min(turn, delaysMs.length - 1)] ?? 0, either.signal).catch(() => undefined);
  } finally {
    either.clear();
  }
  if (outage.signal.aborted) throw outage.signal.reason;
  if (signal.aborted) throw toSignalHalt(signal);
}
