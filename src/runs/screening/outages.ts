import type { Client } from '../../client/client.js';
import type { Clock } from '../../clock.js';
import { listInstants, toLocalTime, toNextDay } from '../../local-time.js';
import { toDurationMs } from '../../roster/duration.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { RunHalted, toSignalHalt } from '../halt.js';

// A shorter pause is no outage.
const longPauseMs = 60_000;

/**
 * Watches whether the service answers, and ends the run after `run.deadline`. `signal` is aborted with RunHalted `outage` when the deadline of an
 * outage has passed.
 */
export class OutageWatch {
  readonly #app: Pick<AppContext, 'clock' | 'settings' | 'emit'>;
  readonly #startedAt: Date;
  readonly #halting = new AbortController();
  /** The operations that the client reports as out of reach. */
  readonly #givenUp = new Set<string>();
  readonly #leave: () => void;
  #runId: string | null = null;
  #pausedUntil = new Date(0);
  #waiting: { since: Date; deadline: Date; timer: AbortController; isReported: boolean } | undefined;

  /** Watches a run that began at `startedAt`. */
  constructor(app: AppContext, client: Client, startedAt: Date) {
    this.#app = app;
    this.#startedAt = startedAt;
    this.#leave = client.listen((event) => {
      if (event.kind === 'outage_began') {
        this.#givenUp.add(event.operation);
        this.noteOutage(`the service is out of reach (${event.operation})`);
      }
      if (event.kind === 'outage_ended') {
        this.#givenUp.delete(event.operation);
        this.#endWait();
      }
      if (event.kind === 'paused') this.notePause(event.pauseMs);
    });
  }

  get signal(): AbortSignal {
    return this.#halting.signal;
  }

  /** Later warnings name this run. */
  nameRun(runId: string): void {
    this.#runId = runId;
  }

  /** Notes an outage; the first note of each outage emits a warning with the deadline. */
  noteOutage(because: string): void {
    const wait = this.#beginWait();
    if (wait.isReported || this.signal.aborted) return;
    wait.isReported = true;
    const until = wait.deadline.toISOString();
    this.#warn('waiting_for_service', `${because}; the run waits until ${until} (run.deadline)`);
  }

  /** Notes an answer. With `operation` it counts only when the client does not report an outage of that operation. */
  noteAnswer(operation?: string): void {
    if (operation === undefined || !this.#givenUp.has(operation)) this.#endWait();
  }

  close(): void {
    this.#leave();
    this.#waiting?.timer.abort();
  }

  /** Notes a pause that the service wants. A short one is no outage, and the rest of one that was noted says nothing new. */
  notePause(pauseMs: number): void {
    const until = new Date(this.#app.clock.now().getTime() + pauseMs);
    if (pauseMs < longPauseMs || until.getTime() < this.#pausedUntil.getTime() + longPauseMs) return;
    this.#pausedUntil = until;
    const { deadline } = this.#beginWait();
    const asked = `the service requests a pause until ${until.toISOString()}`;
    // A pause beyond the deadline is not waited for.
    if (until > deadline) this.#halt(asked);
    else this.#warn('waiting_for_service', `${asked}; the run continues then`);
  }

  #beginWait() {
    if (this.#waiting) return this.#waiting;
    const { clock, settings } = this.#app;
    const since = clock.now();
    const deadline = findDeadline(settings, this.#startedAt, since);
    const timer = new AbortController();
    this.#waiting = { since, deadline, timer, isReported: false };
    const halt = (): void => this.#halt(`the service is out of reach since ${since.toISOString()}`);
    const leftMs = deadline.getTime() - since.getTime();
    // Immediately, not by a timer, so that no request is sent in between.
    if (leftMs <= 0) halt();
    else clock.sleep(leftMs, timer.signal).then(halt, () => undefined);
    return this.#waiting;
  }

  #endWait(): void {
    if (this.#waiting === undefined) return;
    const { since, timer, isReported } = this.#waiting;
    timer.abort();
    this.#waiting = undefined;
    const lastedMs = this.#app.clock.now().getTime() - since.getTime();
    if (isReported) this.#warn('service_is_back', `the service answers again after ${Math.round(lastedMs / 1_000)} s`);
  }

  #halt(why: string): void {
    const message = `${why}, and run.deadline (${this.#app.settings.run.deadline}) allows no longer wait`;
    this.#halting.abort(new RunHalted('outage', message));
  }

  #warn(code: string, message: string): void {
    this.#app.emit({ kind: 'warning', runId: this.#runId, code, message });
  }
}

/**
 * When a run stops waiting for a service that is out of reach since `since`: after the span, or at the first such time
 * of day after the run began at `startedAt`.
 */
function findDeadline(
  { run: { deadline }, timezone }: Pick<RunSettings, 'run' | 'timezone'>,
  startedAt: Date,
  since: Date,
): Date {
  if (!deadline.includes(':')) return new Date(since.getTime() + toDurationMs(deadline));
  const today = toLocalTime(startedAt, timezone).date;
  // A time of day inside a daylight-saving gap occurs again on the next day.
  const days = [today, toNextDay(today), toNextDay(toNextDay(today))];
  const instants = days.flatMap((date) => listInstants({ date, time: `${deadline}:00` }, timezone));
  return instants.find((instant) => instant > startedAt) ?? startedAt;
}

// Between the client's own rounds of attempts; at most 20 seconds apart (PROMISES: 4).
const delaysMs = [5_000, 10_000, 20_000];

/** How long to wait before try number `turn` (from 0) of a service that is out of reach. */
export const toRetryDelayMs = (turn: number): number => delaysMs[Math.min(turn, delaysMs.length - 1)] ?? 0;

/** How to wait for the service: the clock, the outage watch and the stop signal. */
export interface WaitPolicy {
  clock: Clock;
  outage: OutageWatch;
  signal: AbortSignal;
}

/**
 * Repeats `work` within `run.deadline` while it throws RunHalted `outage`. Returns its value and whether it had to
 * wait. Other errors are thrown.
 */
export async function retryUntilDeadline<T>(
  waitPolicy: WaitPolicy,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ value: T; hadToWait: boolean }> {
  const { outage, signal } = waitPolicy;
  const either = AbortSignal.any([signal, outage.signal]);
  for (let turn = 0; ; turn += 1) {
    try {
      const value = await work(either);
      outage.noteAnswer();
      return { value, hadToWait: turn > 0 };
    } catch (error) {
      if (outage.signal.aborted) throw outage.signal.reason;
      if (!(error instanceof RunHalted) || error.code !== 'outage') throw error;
      await waitForService(waitPolicy, turn, error.message);
    }
  }
}

/** Waits before attempt `turn`; throws RunHalted when the deadline has passed or a stop is requested. */
export async function waitForService(waitPolicy: WaitPolicy, turn: number, because: string): Promise<void> {
  const { clock, outage, signal } = waitPolicy;
  outage.noteOutage(because);
  if (outage.signal.aborted) throw outage.signal.reason;
  const either = AbortSignal.any([signal, outage.signal]);
  await clock.sleep(toRetryDelayMs(turn), either).catch(() => undefined);
  if (outage.signal.aborted) throw outage.signal.reason;
  if (signal.aborted) throw toSignalHalt(signal);
}
