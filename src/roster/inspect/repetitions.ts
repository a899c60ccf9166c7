import * as crypto from 'node:crypto';
import type { Customer } from '../customer.js';

/** More ids than these are not kept: beside each other they take about 100 bytes each. */
const maxIds = 2_000_000;
const digestDigits = 13;

/** What the rows of one id that comes more than once are to each other. */
interface Repeated {
  rows: number;
  isConflict: boolean;
}

/** Counts among accepted rows, as an import does, which repeat another one and which contradict it. */
export interface RepetitionCounter {
  note(customer: Customer): void;
  /** Whether rows of this id contradict each other, as far as has been noted. */
  isConflict(reference: string): boolean;
  /** Of all rows so far: `repeated` are those behind the first of an id, `conflicting` all of an id whose rows differ. */
  sum(): { repeated: number; conflicting: number };
  /** False once there were so many ids that those behind them are no longer compared. */
  isComplete(): boolean;
}

/** Makes a counter that remembers at most `most` ids. */
export function createRepetitionCounter(most = maxIds): RepetitionCounter {
  // Digests, for the texts would keep the blocks of the file alive that they were cut from.
  const records = new Map<number, number>();
  const repeated = new Map<number, Repeated>();
  let isComplete = true;
  return {
    note: (customer) => {
      const id = toDigest(customer.reference);
      const known = records.get(id);
      if (known === undefined && records.size >= most) {
        isComplete = false;
        return;
      }
      const record = toDigest(toRecord(customer));
      if (known === undefined) {
        records.set(id, record);
        return;
      }
      const { rows, isConflict } = repeated.get(id) ?? { rows: 1, isConflict: false };
      repeated.set(id, { rows: rows + 1, isConflict: isConflict || known !== record });
    },
    isConflict: (reference) => repeated.get(toDigest(reference))?.isConflict === true,
    sum: () => {
      let [again, conflicting] = [0, 0];
      for (const { rows, isConflict } of repeated.values()) {
        if (isConflict) conflicting += rows;
        else again += rows - 1;
      }
      return { repeated: again, conflicting };
    },
    isComplete: () => isComplete,
  };
}

/** The same text for the same record; the order of countries and of aliases is none of its own. */
function toRecord({ riskTier, parties, isActive, endDate, readings }: Customer): string {
  const [own, ...aliases] = parties;
  const inOrder = [own, ...aliases.toSorted((one, other) => (one.name < other.name ? -1 : 1))];
  const sorted = inOrder.map((party) => ({ ...party, countries: party.countries.toSorted() }));
  return JSON.stringify([riskTier, sorted, isActive, endDate, readings.doubts]);
}

/** 52 bits of a digest, which a number holds exactly. */
const toDigest = (text: string): number =>
  Number.parseInt(crypto.hash('sha256', text, 'hex').slice(0, digestDigits), 16);
