import type { KeyFamily, Mode } from './keys.js';

/** One call that the sandbox received; the key itself is never kept. */
export interface LedgerEntry {
  sequence: number;
  /** When the call arrived, ISO 8601. */
  time: string;
  /** When the call arrived, in milliseconds of `performance.now()`, taken before its body was read. */
  atMs: number;
  method: string;
  /** Below the version prefix, for example `/aml/search`. */
  path: string;
  /** Without the question mark; empty when there is none. */
  queryString: string;
  searchName: string | null;
  searchType: string | null;
  keyFamily: KeyFamily;
  mode: Mode | null;
  /** Null until answered, and for good when the connection was cut. */
  status: number | null;
  /** Whether the service did the work that it would bill. */
  worked: boolean;
}

/** The sandbox's own account of the calls it received. */
export interface Ledger {
  /** Notes a call that has arrived; its outcome is filled in by `settle`. */
  open(call: Omit<LedgerEntry, 'sequence' | 'status' | 'worked'>): LedgerEntry;
  /** Notes how a call ended: the status answered (null when cut). */
  settle(entry: LedgerEntry, status: number | null): void;
  /** The calls that are kept, oldest first: the last 100,000. */
  calls(): readonly LedgerEntry[];
  /** Settled calls since the start or the last `clear`, by `METHOD path status`; a cut call has the status `cut`. */
  counts(): Record<string, number>;
  clear(): void;
}

const KEPT_CALLS = 100_000;
// Paths are the caller's to invent, so the number of counters must have an end too.
const MAX_COUNTERS = 1_000;

/** Creates an empty ledger whose memory stays bounded however many calls arrive. */
export const createLedger = (): Ledger => {
  let entries: LedgerEntry[] = [];
  let counts = new Map<string, number>();
  let sequence = 0;
  return {
    open: (call) => {
      sequence += 1;
      const entry = { sequence, ...call, status: null, worked: false };
      entries.push(entry);
      // Cutting in large steps keeps the cost per call constant.
      if (entries.length >= KEPT_CALLS * 2) entries = entries.slice(-KEPT_CALLS);
      return entry;
    },
    settle: (entry, status) => {
      entry.status = status;
      const ownKey = `${entry.method} ${entry.path} ${status ?? 'cut'}`;
      const isKept = counts.has(ownKey) || counts.size < MAX_COUNTERS;
      const key = isKept ? ownKey : `other ${status ?? 'cut'}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    calls: () => entries.slice(-KEPT_CALLS),
    counts: () => Object.fromEntries([...counts].sort(([left], [right]) => (left < right ? -1 : 1))),
    clear: () => {
      entries = [];
      counts = new Map();
    },
  };
};
