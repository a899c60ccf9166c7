import { type Clock, systemClock } from '../clock.js';
import { ConfigError, NightscreenError } from '../errors.js';
import { rateSchema, toProblems } from './settings.js';
import { Tempo, WaitingLine } from './tempo.js';

/** What an attempt taught about the service. */
interface Verdict {
  reachability: Reachability;
  /** The service said that it is asked too often. */
  isRefusedForPace: boolean;
  /** How long nobody may call; 0 for no pause. */
  pauseMs: number;
}

/** Who wants a turn: calls that begin again go before those that begin, so that what was begun comes to its end. */
interface Entrant {
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
  /** What came of it, reported before the turn ends; says whether the service is now taken to be out of reach. */
  assess(verdict: Verdict): { isOutage: boolean };
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

/** How an attempt speaks of the service: it is there, it is out of reach, or neither can be said. */
export type Reachability = 'there' | 'out_of_reach' | 'unknown';

/**
 * Half of the last twenty answers, and those in a row: at 30 % random failures half of any twenty is reached after some sixty calls, ten
 * in a row practically never.
 */
const openingRow = 10;
const probeDelaysMs = [5_000, 10_000, 20_000];

const toProbeDelayMs = (probesFailed: number): number => probeDelaysMs[probesFailed] ?? probeDelaysMs.at(-1) ?? 0;

/**
 * Decides when to stop calling a service that is out of reach and when to try one call; times are milliseconds that only grow, nothing
 * waits in here. Open, it lets one probe through at a time, at most 20 seconds after the last one began.
 */
export class Circuit {
  #failuresInARow = 0;
  #openedAtMs: number | null = null;
  #probeAtMs = 0;
  #probesFailed = 0;
  #isProbing = false;

  get isOpen(): boolean {
    return this.#openedAtMs !== null;
  }

  /** Milliseconds since it opened, 0 when it is closed. */
  openForMs(nowMs: number): number {
    return this.#openedAtMs === null ? 0 : nowMs - this.#openedAtMs;
  }

  /** Notes what came of an ordinary call; while it is open only probes decide. */
  note(reachability: Reachability, nowMs: number): void {
    if (this.isOpen || reachability === 'unknown') return;
    this.#failuresInARow = reachability === 'there' ? 0 : this.#failuresInARow + 1;
    if (this.#failuresInARow < openingRow) return;
    this.#openedAtMs = nowMs;
    this.#probesFailed = 0;
    this.#probeAtMs = nowMs + toProbeDelayMs(0);
  }

  /** Milliseconds until a probe may begin: infinite while one is under way; only asked while open. */
  probeWaitMs(nowMs: number): number {
    return this.#isProbing ? Number.POSITIVE_INFINITY : Math.max(0, this.#probeAtMs - nowMs);
  }

  /** A probe is chosen. */
  takeProbe(): void {
    this.#isProbing = true;
  }

  /** The probe begins; the next one's time counts from this instant. */
  startProbe(nowMs: number): void {
    this.#probeAtMs = nowMs + toProbeDelayMs(this.#probesFailed + 1);
  }

  /** The probe has ended: one good answer closes the circuit; one that never began leaves its time to the next. */
  endProbe(reachability: Reachability): void {
    this.#isProbing = false;
    if (reachability === 'out_of_reach') this.#probesFailed += 1;
    if (reachability !== 'there') return;
    this.#openedAtMs = null;
    this.#failuresInARow = 0;
  }
}

/** Notifies a listener of an event; what it throws is a warning of the process and disturbs nobody. */
export const emitSafely = <T extends { kind: string }>(listener: (event: T) => unknown, event: T): void => {
  // Without the error, whose text is not ours and may name a customer.
  const warn = (): void =>
    process.emitWarning(`a listener failed to hear of the event ${event.kind}`, {
      type: 'NightscreenWarning',
      code: 'listener_failed',
    });
  try {
    const heard = listener(event);
    // A function that waits fits the type too, and an unheard rejection ends the process.
    if (heard instanceof Promise) heard.catch(warn);
  } catch {
    warn();
  }
};

/** The gate before one operation: open to all while its circuit is closed, else to one probe at a time. */
export class Gate {
  readonly #circuit = new Circuit();
  readonly #line = new WaitingLine();
  readonly #clock: Clock;
  #timer: AbortController | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the service is taken to be out of reach. */
  get isOutage(): boolean {
    return this.#circuit.isOpen;
  }

  /** Milliseconds until the next probe may begin; only asked during an outage. */
  get probeWaitMs(): number {
    return this.#circuit.probeWaitMs(this.#clock.elapsedMs());
  }

  /** Waits until this caller may call; true when it is to be the probe. Rejects with the signal's reason when aborted earlier. */
  async pass(signal: AbortSignal | undefined): Promise<boolean> {
    while (this.#circuit.isOpen) {
      const waitMs = this.#circuit.probeWaitMs(this.#clock.elapsedMs());
      if (waitMs <= 0) {
        this.#circuit.takeProbe();
        return true;
      }
      this.#wakeAfter(waitMs);
      await this.#line.wait(signal);
    }
    return false;
  }

  /** The probe begins. */
  startProbe(): void {
    this.#circuit.startProbe(this.#clock.elapsedMs());
  }

  /** Notes what came of an ordinary call; true when that begins an outage. */
  note(reachability: Reachability): boolean {
    const wasOpen = this.#circuit.isOpen;
    this.#circuit.note(reachability, this.#clock.elapsedMs());
    return !wasOpen && this.#circuit.isOpen;
  }

  /** Notes how the probe ended; gives how long the outage lasted when it is over, else null. */
  endProbe(reachability: Reachability): number | null {
    const lastedMs = this.#circuit.openForMs(this.#clock.elapsedMs());
    this.#circuit.endProbe(reachability);
    const isOver = !this.#circuit.isOpen;
    if (isOver) {
      this.close();
      while (this.#line.admitNext());
    } else {
      this.#line.admitNext();
    }
    return isOver ? lastedMs : null;
  }

  /** Lets go of its timer; whoever still waits has to be called off. */
  close(): void {
    this.#timer?.abort();
    this.#timer = undefined;
  }

  /** One timer for all who wait; whoever it wakes looks again. */
  #wakeAfter(waitMs: number): void {
    if (this.#timer !== undefined || waitMs === Number.POSITIVE_INFINITY) return;
    const timer = new AbortController();
    this.#timer = timer;
    const wake = (): void => {
      if (this.#timer === timer) this.#timer = undefined;
      this.#line.admitNext();
    };
    this.#clock.sleep(waitMs, timer.signal).then(wake, () => undefined);
  }
}

/** A number of places to work in at the same time, handed on in the order of asking, but first to those who begin again. */
class Slots {
  readonly #newcomers = new WaitingLine();
  readonly #repeaters = new WaitingLine();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a place; rejects with the signal's reason when aborted earlier. */
  async take(signal: AbortSignal | undefined, isRepeat: boolean): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free === 0) return (isRepeat ? this.#repeaters : this.#newcomers).wait(signal);
    this.#free -= 1;
  }

  /** Gives a place back. */
  free(): void {
    if (!this.#repeaters.admitNext() && !this.#newcomers.admitNext()) this.#free += 1;
  }
}

/** What a turn is made of. */
interface TurnParts {
  operation: string;
  gate: Gate;
  tempo: Tempo;
  slots: Slots;
  clock: Clock;
  emit: (event: PaceEvent) => void;
  isProbe: boolean;
}

/** A turn with what it holds: a slot, a place in the window, and the gate's probe where it is one. */
class PacedTurn implements Turn {
  readonly #parts: TurnParts;
  #hasPlace = false;
  #sentMs: number | null = null;
  #reachability: Reachability = 'unknown';

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Takes what it needs; false, with nothing held, when the caller must go back to the gate. */
  async begin(signal: AbortSignal | undefined, isRepeat: boolean): Promise<boolean> {
    const { gate, tempo, slots, isProbe } = this.#parts;
    let mayCall = false;
    try {
      await slots.take(signal, isRepeat);
    } catch (error) {
      if (isProbe) gate.endProbe('unknown');
      throw error;
    }
    try {
      // Whoever passed the gate before the outage was known goes back to it.
      if (!isProbe && gate.isOutage) return false;
      await tempo.awaitPlace(signal);
      this.#hasPlace = true;
      mayCall = isProbe || !gate.isOutage;
      if (isProbe) gate.startProbe();
      return mayCall;
    } finally {
      if (!mayCall) this.end();
    }
  }

  get isProbe(): boolean {
    return this.#parts.isProbe;
  }

  mayLeave(): boolean {
    const { gate, tempo, clock, isProbe } = this.#parts;
    // Its connection took so long to come about that things have changed.
    if (tempo.isPaused || (gate.isOutage && !isProbe)) return false;
    this.#hasPlace = false;
    this.#sentMs = clock.elapsedMs();
    tempo.noteSent();
    return true;
  }

  assess({ reachability, isRefusedForPace, pauseMs }: Verdict): { isOutage: boolean } {
    const { operation, gate, tempo, emit, clock, isProbe } = this.#parts;
    this.#reachability = reachability;
    if (isRefusedForPace && tempo.slowDown(this.#sentMs ?? clock.elapsedMs())) {
      emit({ kind: 'rate_lowered', operation, perSecond: Math.round(tempo.perSecond * 10) / 10 });
    }
    if (pauseMs > 0) {
      tempo.pauseFor(pauseMs);
      emit({ kind: 'paused', operation, pauseMs });
    }
    if (isProbe) return { isOutage: reachability !== 'there' };
    if (gate.note(reachability)) {
      emit({ kind: 'outage_began', operation, probeInMs: Math.round(gate.probeWaitMs) });
    }
    return { isOutage: gate.isOutage };
  }

  /** Gives everything back. */
  end(): void {
    const { operation, gate, tempo, slots, emit, isProbe } = this.#parts;
    if (this.#hasPlace) tempo.giveBack();
    this.#hasPlace = false;
    slots.free();
    const lastedMs = isProbe ? gate.endProbe(this.#reachability) : null;
    if (lastedMs !== null) emit({ kind: 'outage_ended', operation, lastedMs: Math.round(lastedMs) });
  }
}

/** Throws ConfigError with everything that is wrong with a rate: nothing would ever leave at a rate of zero. */
const checkRate = (rate: unknown): void => {
  const problems = toProblems('pace', rateSchema.safeParse(rate).error);
  if (problems.length > 0) throw new ConfigError(problems);
};

// Callers that wait cost memory; whoever has more to ask lets them come one by one.
const maxWaiting = 100_000;

/** The pace that all callers share. */
export interface PaceSettings {
  /** Requests sent in any sliding second; a fraction above one is rounded down. */
  perSecond: number;
  /** Requests under way at the same time. */
  concurrency: number;
  clock?: Clock;
  /** Hears of pauses, outages and lowered rates; what it throws is a warning of the process. */
  tell?: (event: PaceEvent) => void;
}

/**
 * One pace for everybody who is given it: rate, concurrency, a pause that holds all callers, and for each operation a gate that an
 * outage closes. Throws ConfigError when rate or concurrency is out of range. Beyond 100,000 waiting callers a further one is refused with
 * NightscreenError `too_many_waiting`.
 */
export const createPace = (settings: PaceSettings): Pace => {
  checkRate(settings);
  const { clock = systemClock, tell: listener = () => undefined } = settings;
  const emit = (event: PaceEvent): void => emitSafely(listener, event);
  const tempo = new Tempo(settings.perSecond, clock);
  const slots = new Slots(settings.concurrency);
  const gates = new Map<string, Gate>();
  let waiting = 0;

  const findGate = (operation: string): Gate => {
    const gate = gates.get(operation) ?? new Gate(clock);
    gates.set(operation, gate);
    return gate;
  };

  const awaitTurn = async ({ operation, isRepeat, signal }: Entrant): Promise<PacedTurn> => {
    const gate = findGate(operation);
    for (;;) {
      const isProbe = await gate.pass(signal);
      const turn = new PacedTurn({ operation, gate, tempo, slots, clock, emit, isProbe });
      if (await turn.begin(signal, isRepeat)) return turn;
    }
  };

  return {
    run: async (entrant, task) => {
      if (waiting >= maxWaiting) {
        const message = `${maxWaiting} calls wait for their turn already; let them come one by one (aml.searchEach)`;
        throw new NightscreenError('too_many_waiting', message);
      }
      waiting += 1;
      const turn = await awaitTurn(entrant).finally(() => {
        waiting -= 1;
      });
      try {
        return await task(turn);
      } finally {
        turn.end();
      }
    },
    close: () => {
      tempo.close();
      for (const gate of gates.values()) gate.close();
    },
  };
};

const freeTurn: Turn = { isProbe: false, mayLeave: () => true, assess: () => ({ isOutage: false }) };

/** A pace without any limit, to measure what a client costs by itself; never for a service that somebody pays for. */
export const unpaced = (): Pace => ({ run: (_entrant, task) => task(freeTurn), close: () => undefined });
