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
