import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, systemClock } from '../clock.js';
import { ConfigError, NightscreenError } from '../errors.js';
import { serviceSettingsSchema, toProblems } from './settings.js';
import type { SendTime, SharedRate } from './shared-permits.js';
import { WaitingLine } from './signals.js';
import { Tempo } from './tempo.js';

/** What an attempt reports before its turn ends. */
interface PaceVerdict {
  /** Whether the service is within reach. */
  reachability: Reachability;
  /** The service refused the call as too frequent. */
  isRefusedForPace: boolean;
  /** How long all callers pause; 0 for no pause. */
  pauseMs: number;
}

/** A caller that waits for a turn. Repeats come before new calls, so that calls in progress finish. */
interface Entrant {
  /** The name of the operation. */
  operation: string;
  /** Whether the call was sent before. */
  isRepeat: boolean;
  /** Ends the wait. */
  signal: AbortSignal | undefined;
}

/** One caller's turn to send one request. */
export interface Turn {
  /** Whether it is the probe of an outage; it must end soon, so that the next one can start. */
  readonly isProbe: boolean;
  /** Waits until the request may leave: what it needs is prepared shortly before. */
  untilDue(): Promise<void>;
  /** The request is about to leave this machine; false when it must not, because a pause or an outage began meanwhile or its time has passed. */
  mayLeave(): boolean;
  /** Reports the result before the turn ends; says whether the service now counts as out of reach. */
  assess(verdict: PaceVerdict): {
    /** Whether there is an outage. */
    isOutage: boolean;
  };
}

/** An event of the pace, for those who watch a run. */
export type PaceEvent =
  | {
      /** The service counts as out of reach: calls wait. */
      kind: 'outage_began';
      /** The operation that failed. */
      operation: string;
      /** When one call is tried again. */
      probeInMs: number;
    }
  | {
      /** The service answers again. */
      kind: 'outage_ended';
      /** The operation that was answered. */
      operation: string;
      /** How long the outage lasted. */
      lastedMs: number;
    }
  | {
      /** The service asked for a pause: all calls wait. */
      kind: 'paused';
      /** The operation whose answer asked for it. */
      operation: string;
      /** How long. */
      pauseMs: number;
    }
  | {
      /** The service refused calls as too frequent: the rate is lowered, and recovers. */
      kind: 'rate_lowered';
      /** The operation that was refused. */
      operation: string;
      /** The new rate. */
      perSecond: number;
    };

/** One pace for all its callers: rate, concurrency, pauses and outages. */
export interface Pace {
  /** Runs `task` when it is this caller's turn; rejects with the signal's reason when aborted before it starts. */
  run<T>(entrant: Entrant, task: (turn: Turn) => Promise<T>): Promise<T>;
  /** From now on the rate is shared with other processes, with their pauses and refusals. Concurrency and outages stay this process's own. */
  share(rate: SharedRate): void;
  /** Stops its timers once all calls have ended. */
  close(): void;
}

/** What an attempt says about the service: it is there, it is out of reach, or unknown. */
export type Reachability = 'there' | 'out_of_reach' | 'unknown';

/**
 * Ten failures in a row begin an outage. With 30 % random failures, ten in a row practically never happen; half of the last twenty would be
 * reached after about sixty calls.
 */
const openingRow = 10;
const probeDelaysMs = [5_000, 10_000, 20_000];

const toProbeDelayMs = (probesFailed: number): number => probeDelaysMs[probesFailed] ?? probeDelaysMs.at(-1) ?? 0;

/** Notifies a listener of an event; an error of the listener becomes a warning of the process. */
export const emitSafely = <T extends { kind: string }>(listener: (event: T) => unknown, event: T): void => {
  // Without the error: its text is not ours and may contain a customer's name.
  const warn = (): void =>
    process.emitWarning(`a listener failed on the event ${event.kind}`, {
      type: 'NightscreenWarning',
      code: 'listener_failed',
    });
  try {
    const heard = listener(event);
    // An async function fits the type too, and an unhandled rejection ends the process.
    if (heard instanceof Promise) heard.catch(warn);
  } catch {
    warn();
  }
};

/**
 * The gate of one operation. It closes when the service is out of reach, and then lets one probe through at a time, at most 20 seconds after
 * the previous one began, until one is answered.
 */
export class Gate {
  readonly #line = new WaitingLine();
  readonly #clock: Clock;
  #timer: AbortController | undefined;
  #failuresInARow = 0;
  #closedAtMs: number | null = null;
  #probeAtMs = 0;
  #probesFailed = 0;
  #isProbing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the service counts as out of reach. */
  get isOutage(): boolean {
    return this.#closedAtMs !== null;
  }

  /** Milliseconds until the next probe may begin; meaningful only during an outage. */
  get probeWaitMs(): number {
    return Math.max(0, this.#probeAtMs - this.#clock.elapsedMs());
  }

  /** Waits until this caller may call; true when it becomes the probe. Rejects with the reason of an aborted signal. */
  async pass(signal: AbortSignal | undefined): Promise<boolean> {
    while (this.isOutage) {
      if (!this.#isProbing && this.probeWaitMs === 0) {
        this.#isProbing = true;
        return true;
      }
      this.#wakeForProbe();
      await this.#line.wait(signal);
    }
    return false;
  }

  /** The probe begins; the next one's time counts from this instant. */
  startProbe(): void {
    this.#probeAtMs = this.#clock.elapsedMs() + toProbeDelayMs(this.#probesFailed + 1);
  }

  /** Notes the result of an ordinary call, which decides nothing during an outage; true when it begins one. */
  note(reachability: Reachability): boolean {
    if (this.isOutage || reachability === 'unknown') return false;
    this.#failuresInARow = reachability === 'there' ? 0 : this.#failuresInARow + 1;
    if (this.#failuresInARow < openingRow) return false;
    this.#closedAtMs = this.#clock.elapsedMs();
    this.#probesFailed = 0;
    this.#probeAtMs = this.#closedAtMs + toProbeDelayMs(0);
    return true;
  }

  /**
   * Notes the result of the probe; gives the length of the outage when it is over, otherwise null. A probe that never began leaves its time to
   * the next.
   */
  endProbe(reachability: Reachability): number | null {
    this.#isProbing = false;
    if (reachability === 'out_of_reach') this.#probesFailed += 1;
    if (reachability !== 'there' || this.#closedAtMs === null) {
      this.#line.admitNext();
      return null;
    }
    const lastedMs = this.#clock.elapsedMs() - this.#closedAtMs;
    this.#closedAtMs = null;
    this.#failuresInARow = 0;
    this.close();
    while (this.#line.admitNext());
    return lastedMs;
  }

  /** Stops its timer; callers that still wait must be aborted. */
  close(): void {
    this.#timer?.abort();
    this.#timer = undefined;
  }

  /** One timer for all who wait; the caller that it wakes looks again. */
  #wakeForProbe(): void {
    if (this.#timer !== undefined || this.#isProbing) return;
    const timer = new AbortController();
    this.#timer = timer;
    const wake = (): void => {
      if (this.#timer === timer) this.#timer = undefined;
      this.#line.admitNext();
    };
    this.#clock.sleep(this.probeWaitMs, timer.signal).then(wake, () => undefined);
  }
}

/** A number of slots for concurrent calls, given in the order of arrival, but to repeats first. */
class Slots {
  readonly #newcomers = new WaitingLine();
  readonly #repeaters = new WaitingLine();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a slot; rejects with the reason of an aborted signal. */
  async take(signal: AbortSignal | undefined, isRepeat: boolean): Promise<void> {
    signal?.throwIfAborted();
    // Nobody waits while a slot is free.
    if (this.#free > 0) this.#free -= 1;
    else await (isRepeat ? this.#repeaters : this.#newcomers).wait(signal);
  }

  free(): void {
    if (!this.#repeaters.admitNext() && !this.#newcomers.admitNext()) this.#free += 1;
  }
}

/** What all turns of one operation share. */
interface TurnParts {
  operation: string;
  gate: Gate;
  tempo: Tempo;
  slots: Slots;
  clock: Clock;
  emit: (event: PaceEvent) => void;
}

class PacedTurn implements Turn {
  readonly isProbe: boolean;
  readonly #parts: TurnParts;
  #place: SendTime | null = null;
  #sentMs: number | null = null;
  #reachability: Reachability = 'unknown';

  constructor(parts: TurnParts, isProbe: boolean) {
    this.#parts = parts;
    this.isProbe = isProbe;
  }

  /** Takes slot and place; false, with nothing held, when the caller must go back to the gate. */
  async begin(signal: AbortSignal | undefined, isRepeat: boolean): Promise<boolean> {
    const { gate, tempo, slots } = this.#parts;
    const { isProbe } = this;
    let mayCall = false;
    try {
      await slots.take(signal, isRepeat);
    } catch (error) {
      if (isProbe) gate.endProbe('unknown');
      throw error;
    }
    try {
      // The caller passed the gate before the outage was known.
      if (!isProbe && gate.isOutage) return false;
      this.#place = await tempo.awaitPlace(signal);
      mayCall = isProbe || !gate.isOutage;
      if (isProbe) gate.startProbe();
      return mayCall;
    } finally {
      if (!mayCall) this.end();
    }
  }

  async untilDue(): Promise<void> {
    const leftMs = (this.#place?.fromMs ?? 0) - performance.now();
    if (leftMs > 0) await delay(Math.ceil(leftMs));
  }

  mayLeave(): boolean {
    const { gate, tempo, clock } = this.#parts;
    // The connection took so long that a pause or an outage began.
    if (tempo.isPaused || (gate.isOutage && !this.isProbe)) return false;
    if (this.#place === null || performance.now() > this.#place.untilMs) return false;
    this.#place = null;
    this.#sentMs = clock.elapsedMs();
    tempo.noteSent();
    return true;
  }

  assess({ reachability, isRefusedForPace, pauseMs }: PaceVerdict): { isOutage: boolean } {
    const { operation, gate, tempo, emit, clock } = this.#parts;
    this.#reachability = reachability;
    if (isRefusedForPace && tempo.slowDown(this.#sentMs ?? clock.elapsedMs())) {
      emit({ kind: 'rate_lowered', operation, perSecond: Math.round(tempo.perSecond * 10) / 10 });
    }
    if (pauseMs > 0) {
      tempo.pauseFor(pauseMs);
      emit({ kind: 'paused', operation, pauseMs });
    }
    if (this.isProbe) return { isOutage: reachability !== 'there' };
    if (gate.note(reachability)) {
      emit({ kind: 'outage_began', operation, probeInMs: Math.round(gate.probeWaitMs) });
    }
    return { isOutage: gate.isOutage };
  }

  end(): void {
    const { operation, gate, tempo, slots, emit } = this.#parts;
    if (this.#place !== null) tempo.giveBack();
    this.#place = null;
    slots.free();
    const lastedMs = this.isProbe ? gate.endProbe(this.#reachability) : null;
    if (lastedMs !== null) emit({ kind: 'outage_ended', operation, lastedMs: Math.round(lastedMs) });
  }
}

const checkRate = ({ perSecond, concurrency }: PaceSettings): { perSecond: number; concurrency: number } => {
  const parsed = serviceSettingsSchema.shape.rate.safeParse({ perSecond, concurrency });
  if (!parsed.success) throw new ConfigError(toProblems('pace', parsed.error));
  return parsed.data;
};

// Waiting callers cost memory; a caller with more requests sends them one by one.
const maxWaiting = 100_000;

/** The limits of a pace. */
export interface PaceSettings {
  /** Requests in any sliding second; a fraction above one is rounded down. */
  perSecond: number;
  /** Requests in flight at the same time. */
  concurrency: number;
  /** Replaces the clock of the machine. */
  clock?: Clock;
  /** Sees pauses, outages and lowered rates; an error that it throws becomes a warning of the process. */
  tell?: (event: PaceEvent) => void;
}

/**
 * Creates one pace for all who share it: rate, concurrency, a pause for all callers, and a gate for each operation that an outage closes. Throws
 * ConfigError when rate or concurrency is out of range. It rejects a caller beyond 100,000 waiting ones with NightscreenError `too_many_waiting`.
 */
export const createPace = (settings: PaceSettings): Pace => {
  const { perSecond, concurrency } = checkRate(settings);
  const { clock = systemClock, tell: listener = () => undefined } = settings;
  const emit = (event: PaceEvent): void => emitSafely(listener, event);
  const tempo = new Tempo(perSecond, clock);
  const slots = new Slots(concurrency);
  const operations = new Map<string, TurnParts>();
  let waiting = 0;

  const findParts = (operation: string): TurnParts => {
    const known = operations.get(operation);
    if (known) return known;
    const parts = { operation, gate: new Gate(clock), tempo, slots, clock, emit };
    operations.set(operation, parts);
    return parts;
  };

  const awaitTurn = async (parts: TurnParts, { isRepeat, signal }: Entrant): Promise<PacedTurn> => {
    if (waiting >= maxWaiting) {
      const message = `${maxWaiting} calls already wait for their turn; send them one by one (aml.searchEach)`;
      throw new NightscreenError('too_many_waiting', message);
    }
    waiting += 1;
    try {
      for (;;) {
        const isProbe = await parts.gate.pass(signal);
        const turn = new PacedTurn(parts, isProbe);
        if (await turn.begin(signal, isRepeat)) return turn;
      }
    } finally {
      waiting -= 1;
    }
  };

  return {
    run: async (entrant, task) => {
      entrant.signal?.throwIfAborted();
      const turn = await awaitTurn(findParts(entrant.operation), entrant);
      try {
        return await task(turn);
      } finally {
        turn.end();
      }
    },
    share: (rate) => {
      tempo.share(rate, (pauseMs) => emit({ kind: 'paused', operation: 'another process', pauseMs }));
    },
    close: () => {
      tempo.close();
      for (const { gate } of operations.values()) gate.close();
    },
  };
};
