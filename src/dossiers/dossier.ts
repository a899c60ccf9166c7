import { createHash } from 'node:crypto';
import { type DossierSummary, dossierSummarySchema } from '../client/dossiers.js';
import type { FactsOf } from '../vocabulary/facts.js';
import type { dossierSchema } from '../vocabulary/source-facts.js';

/** A dossier of the service's list (interface: Dossier summary); absent values are null. */
export type DossierSnapshot = FactsOf<typeof dossierSchema>;

/** Converts a row of the service's list to a snapshot; instants become UTC, so that another spelling of the same moment is no change. */
export function toDossierSnapshot(row: DossierSummary): DossierSnapshot {
  return {
    id: row.id,
    token: row.token ?? null,
    type: row.type,
    status: row.status,
    name: row.name ?? null,
    reference: row.reference ?? null,
    riskScore: row.risk_score ?? null,
    isTest: row.is_test ?? null,
    downloadStatus: row.download_status ?? null,
    documentsCount: row.documents_count ?? null,
    createdAt: toUtc(row.created_at),
    updatedAt: toUtc(row.updated_at),
    completedAt: row.completed_at == null ? null : toUtc(row.completed_at),
  };
}

/**
 * Converts the record of a single dossier to a snapshot. The interface promises only some fields of the list in it; a missing field keeps its
 * known value. Null if required fields stay unknown.
 */
export function toLookedUpSnapshot(detail: unknown, known: DossierSnapshot | null): DossierSnapshot | null {
  const fields = typeof detail === 'object' && detail !== null ? Object.entries(detail) : [];
  const said = fields.filter(([name, value]) => name in dossierSummarySchema.shape && value !== undefined);
  const row = dossierSummarySchema.safeParse({ ...(known && toRow(known)), ...Object.fromEntries(said) });
  return row.success ? toDossierSnapshot(row.data) : null;
}

const toRow = (known: DossierSnapshot): DossierSummary => ({
  id: known.id,
  token: known.token,
  type: known.type,
  status: known.status,
  name: known.name,
  reference: known.reference,
  risk_score: known.riskScore,
  is_test: known.isTest,
  download_status: known.downloadStatus,
  documents_count: known.documentsCount,
  created_at: known.createdAt,
  updated_at: known.updatedAt,
  completed_at: known.completedAt,
});

const toUtc = (instant: string): string => new Date(instant).toISOString();

/**
 * The dossiers that a sweep has seen. A dossier takes 32 bytes (ids in a map take 100): the key is 64 bits of the SHA-256 of its id. In lists of
 * a million dossiers, one of forty million has a collision. Then one dossier is not counted, and the sweep is unproven.
 */
export class SeenDossiers {
  size = 0;
  #used = 0;
  #keys = new BigUint64Array(1_024);
  // The creation time in ms; NaN for a forgotten dossier.
  #times = new Float64Array(1_024);

  has(id: string): boolean {
    return this.find(id) !== null;
  }

  /** The slot of a dossier, valid until the next `add`; null for an unseen one. */
  find(id: string): number | null {
    const slot = this.#locate(toKey(id));
    return this.#keys[slot] === 0n || Number.isNaN(this.timeAt(slot)) ? null : slot;
  }

  /** Gives whether the dossier is new. */
  add({ id, createdAt }: { id: string; createdAt: string }): boolean {
    if (2 * this.#used >= this.#keys.length) this.#grow();
    const key = toKey(id);
    const slot = this.#locate(key);
    const isNew = this.#keys[slot] === 0n;
    if (!isNew && !Number.isNaN(this.timeAt(slot))) return false;
    this.#keys[slot] = key;
    this.#times[slot] = Date.parse(createdAt);
    this.#used += isNew ? 1 : 0;
    this.size += 1;
    return true;
  }

  forget(slots: readonly number[]): void {
    for (const slot of slots) {
      if (Number.isNaN(this.timeAt(slot))) continue;
      this.#times[slot] = Number.NaN;
      this.size -= 1;
    }
  }

  timeAt(slot: number): number {
    return this.#times[slot] ?? Number.NaN;
  }

  /** The slots of all dossiers by creation time. */
  byTime(): Uint32Array {
    const slots = new Uint32Array(this.size);
    let count = 0;
    for (const slot of this.#keys.keys()) {
      if (!this.#isHeld(slot)) continue;
      slots[count] = slot;
      count += 1;
    }
    return slots.sort((left, right) => this.timeAt(left) - this.timeAt(right));
  }

  *times(): Generator<number> {
    for (const slot of this.#keys.keys()) if (this.#isHeld(slot)) yield this.timeAt(slot);
  }

  /** The slots in a window; `ordered` comes from `byTime`. */
  sliceWindow(ordered: Uint32Array, { from, to }: { from: number; to: number }): Uint32Array {
    const countBefore = (ms: number): number => {
      let [low, high] = [0, ordered.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.timeAt(ordered[middle] ?? 0) < ms) low = middle + 1;
        else high = middle;
      }
      return low;
    };
    return ordered.subarray(countBefore(from), countBefore(to + 1));
  }

  #isHeld(slot: number): boolean {
    return this.#keys[slot] !== 0n && !Number.isNaN(this.timeAt(slot));
  }

  /** The slot of a key, or the empty slot for it. */
  #locate(key: bigint): number {
    const keys = this.#keys;
    let slot = Number(key & BigInt(keys.length - 1));
    while (keys[slot] !== 0n && keys[slot] !== key) slot = (slot + 1) % keys.length;
    return slot;
  }

  #grow(): void {
    const [keys, times] = [this.#keys, this.#times];
    this.#keys = new BigUint64Array(2 * keys.length);
    this.#times = new Float64Array(2 * keys.length);
    for (const [from, key] of keys.entries()) {
      if (key === 0n) continue;
      const slot = this.#locate(key);
      this.#keys[slot] = key;
      this.#times[slot] = times[from] ?? Number.NaN;
    }
  }
}

/** Never 0, which marks an empty slot. */
const toKey = (id: string): bigint => createHash('sha256').update(id).digest().readBigUInt64LE() || 1n;
