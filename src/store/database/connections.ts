import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError } from './database.js';

/** The start of an outage of the server (its first lost connection), and its end. */
export type ConnectionEvent =
  | { kind: 'lost'; because: string; reconnectForMs: number }
  | { kind: 'back'; afterMs: number };

/** How long reconnection is tried, and a listener for outages; without it a lost connection is an error at once. */
export interface ReconnectOptions {
  reconnectForMs?: number;
  emit?: (event: ConnectionEvent) => void;
}

// A statement that crashes the server must not be repeated without end.
const mostLosses = 10;
const mostConflicts = 8;
const [firstWaitMs, longestWaitMs] = [50, 2_000];

// A former primary that has become a replica answers with this for some seconds.
const readOnlyState = '25006';

/** Whether a server that was reached will soon give connections: it has none left, or it starts up. */
export const isBusy = (error: DatabaseError): boolean => error.isWithoutRoom || error.sqlState === '57P03';

/** Repeats work after a lost connection or a conflict. All users of the database share one outage. */
export class Reconnecting {
  readonly #limitMs: number;
  readonly #emit: (event: ConnectionEvent) => void;
  #lostAtMs: number | null = null;

  constructor({ reconnectForMs = 0, emit = () => {} }: ReconnectOptions = {}) {
    this.#limitMs = reconnectForMs;
    this.#emit = emit;
  }

  get isEnabled(): boolean {
    return this.#limitMs > 0;
  }

  noteAnswer(): void {
    if (this.#lostAtMs === null) return;
    const afterMs = performance.now() - this.#lostAtMs;
    this.#lostAtMs = null;
    this.#emit({ kind: 'back', afterMs });
  }

  /** Whether an error is temporary: a lost connection, and during an outage the answers of a server in change. */
  isPassing(error: unknown): error is DatabaseError {
    if (!(error instanceof DatabaseError)) return false;
    return error.isConnectionLost || (this.#lostAtMs !== null && error.sqlState === readOnlyState);
  }

  /** Repeats `attempt`, which has no effect when it fails, until it succeeds or fails for a reason that `isWaitedFor` refuses. */
  async repeat<T>(attempt: () => Promise<T>, isWaitedFor = (_error: DatabaseError): boolean => true): Promise<T> {
    let losses = 0;
    let conflicts = 0;
    let unreached = 0;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof DatabaseError && error.isConflict && conflicts < mostConflicts) {
          conflicts += 1;
          await delay(Math.random() * 10 * 2 ** conflicts);
          continue;
        }
        if (!this.isPassing(error) || !isWaitedFor(error)) throw error;
        // The outage was over each time that the server was reached.
        if (this.#lostAtMs === null) {
          losses += 1;
          unreached = 0;
        }
        const leftMs = this.#noteLoss(error);
        if (leftMs <= 0 || losses > mostLosses) throw this.#giveUp(error);
        const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(unreached, 8)) * (0.5 + Math.random());
        unreached += 1;
        await delay(Math.min(leftMs, waitMs));
      }
    }
  }

  /** Returns the time that remains for reconnection. */
  #noteLoss(error: DatabaseError): number {
    if (this.#limitMs <= 0) return 0;
    if (this.#lostAtMs === null) {
      this.#lostAtMs = performance.now();
      this.#emit({ kind: 'lost', because: error.message, reconnectForMs: this.#limitMs });
    }
    return this.#lostAtMs + this.#limitMs - performance.now();
  }

  #giveUp(error: DatabaseError): DatabaseError {
    if (this.#limitMs <= 0) return error;
    const what = error.isWithoutRoom ? 'gave no connection' : 'did not come back';
    const message = `the database ${what} within ${this.#limitMs / 1_000} s: ${error.message}`;
    const { sqlState, constraint } = error;
    return new DatabaseError(message, { cause: error, sqlState, constraint, isConnectionLost: true });
  }
}
