import type { Clock } from '../../clock.js';
import { Circuit, type Reachability } from './circuit.js';
import { WaitingLine } from './waiting-line.js';

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
