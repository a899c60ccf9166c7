import type { Clock } from '../../clock.js';
import type { Reachability } from './circuit.js';
import type { Gate } from './gate.js';
import type { PaceEvent, Turn, Verdict } from './pace.js';
import type { Slots } from './slots.js';
import type { Tempo } from './tempo.js';

/** What a turn is made of. */
interface TurnParts {
  operation: string;
  gate: Gate;
  tempo: Tempo;
  slots: Slots;
  clock: Clock;
  tell: (event: PaceEvent) => void;
  isProbe: boolean;
}

/** A turn with what it holds: a slot, a place in the window, and the gate's probe where it is one. */
export class PacedTurn implements Turn {
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

  judge({ reachability, isRefusedForPace, pauseMs }: Verdict): { isOutage: boolean } {
    const { operation, gate, tempo, tell, clock, isProbe } = this.#parts;
    this.#reachability = reachability;
    if (isRefusedForPace && tempo.slowDown(this.#sentMs ?? clock.elapsedMs())) {
      tell({ kind: 'rate_lowered', operation, perSecond: Math.round(tempo.perSecond * 10) / 10 });
    }
    if (pauseMs > 0) {
      tempo.pauseFor(pauseMs);
      tell({ kind: 'paused', operation, pauseMs });
    }
    if (isProbe) return { isOutage: reachability !== 'there' };
    if (gate.note(reachability)) {
      tell({ kind: 'outage_began', operation, probeInMs: Math.round(gate.probeWaitMs) });
    }
    return { isOutage: gate.isOutage };
  }

  /** Gives everything back. */
  end(): void {
    const { operation, gate, tempo, slots, tell, isProbe } = this.#parts;
    if (this.#hasPlace) tempo.giveBack();
    this.#hasPlace = false;
    slots.free();
    const lastedMs = isProbe ? gate.endProbe(this.#reachability) : null;
    if (lastedMs !== null) tell({ kind: 'outage_ended', operation, lastedMs: Math.round(lastedMs) });
  }
}
