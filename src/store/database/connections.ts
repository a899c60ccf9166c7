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

/** The most connections of one pool. */
export const poolSize = 4;

// What a connection costs the server until it knows our tables: 35 ms of processor time to open it, and the rest over its first statements.
const openingMs = 200;

/** The connections in use at once: one more is opened only when waiting for the others has taken as long as opening one. */
export class InUse {
  #allowed = 1;
  #used = 0;
  #waitedMs = 0;
  readonly #waiting: (() => void)[] = [];

  async take(): Promise<void> {
    if (this.#used < this.#allowed) {
      this.#used += 1;
      return;
    }
    const since = performance.now();
    let hasOpened = false;
    const open = (): void => {
      hasOpened = true;
      this.#allowMore();
    };
    const timer = this.#allowed < poolSize ? setTimeout(open, openingMs - this.#waitedMs) : undefined;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    clearTimeout(timer);
    if (!hasOpened) this.#waitedMs += performance.now() - since;
    if (this.#waitedMs >= openingMs) this.#allowMore();
  }

  /** The next one takes what is given back. */
  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#used -= 1;
    else next();
  }

  /** The server refused the connection of the taker: it waits with the others for one that is open. */
  refuse(): void {
    this.#used -= 1;
    this.#allowed = Math.max(1, this.#used);
  }

  #allowMore(): void {
    this.#waitedMs = 0;
    if (this.#allowed === poolSize) return;
    this.#allowed += 1;
    this.#used += 1;
    this.give();
  }
}
