import * as crypto from 'node:crypto';
import type { Customer, RosterRow } from '../customer.js';
import { type ColumnDoubts, DoubtTally } from '../doubts.js';
import { readRoster } from '../read-roster.js';
import type { RosterSettings } from '../settings.js';
import type { LineTally } from '../table-reading.js';

/** What the rows of a file would become, summed as an import sums them. */
interface RowCounts {
  customers: number;
  rejected: number;
  /** Rows that say again what another row of the id says. */
  repeated: number;
  rejectedBecause: Readonly<Record<string, number>>;
  /** Facts of accepted rows that count as unknown, by column. */
  doubts: readonly ColumnDoubts[];
  /** False where there were too many ids to compare the rows of all of them. */
  isComplete: boolean;
}

/** A file as it was read under a mapping. */
export interface WholeReading {
  /** The first rows as they would be read; those that contradict another row are rejected. */
  firstRows: readonly RosterRow[];
  /** The lines of those among them that repeat another of them. */
  repeatedLines: readonly number[];
  counts: RowCounts;
  tally: LineTally;
}

const shownRows = 10;

/** Reads a roster to its end; throws RosterError where it cannot be read. */
export async function readWhole(settings: RosterSettings): Promise<WholeReading> {
  const reading = await readRoster(settings, () => undefined);
  const counter = createRepetitionCounter();
  const firstRows: RosterRow[] = [];
  const rejectedBecause: Record<string, number> = {};
  const doubts = new DoubtTally();
  let [accepted, rejected] = [0, 0];
  try {
    for await (const rows of reading.rows) {
      firstRows.push(...rows.slice(0, shownRows - firstRows.length));
      for (const row of rows) {
        if (row.kind === 'customer') {
          accepted += 1;
          counter.note(row.customer);
          const { line, file, customer } = row;
          const place = { ordinal: 0, line, file, reference: customer.reference, fields: {}, isParty: false };
          doubts.addCustomer(customer, () => place);
          continue;
        }
        rejected += 1;
        const { reason } = row.rejected;
        rejectedBecause[reason] = (rejectedBecause[reason] ?? 0) + 1;
      }
    }
    const { repeated, conflicting } = counter.sum();
    if (conflicting > 0) rejectedBecause['conflicting_id'] = conflicting;
    return {
      firstRows: firstRows.map((row) => rejectConflict(row, counter, reading.headers)),
      repeatedLines: listRepeatedLines(firstRows, counter),
      counts: {
        customers: accepted - repeated - conflicting,
        rejected: rejected + conflicting,
        repeated,
        rejectedBecause,
        doubts: doubts.list(),
        isComplete: counter.isComplete(),
      },
      tally: reading.tally(),
    };
  } finally {
    await reading.close();
  }
}

function rejectConflict(row: RosterRow, counter: RepetitionCounter, headers: readonly string[]): RosterRow {
  if (row.kind === 'rejected' || !counter.isConflict(row.customer.reference)) return row;
  const { line, file, customer, fields } = row;
  return {
    kind: 'rejected',
    rejected: {
      line,
      file,
      column: null,
      reason: 'conflicting_id',
      valueClass: null,
      reference: customer.reference,
      fields: Object.fromEntries(fields.map((field, index) => [headers[index] ?? `column ${index + 1}`, field])),
    },
  };
}

function listRepeatedLines(rows: readonly RosterRow[], counter: RepetitionCounter): number[] {
  const seen = new Set<string>();
  return rows.flatMap((row) => {
    if (row.kind === 'rejected' || counter.isConflict(row.customer.reference)) return [];
    const { line, customer } = row;
    const isRepeated = seen.has(customer.reference);
    seen.add(customer.reference);
    return isRepeated ? [line] : [];
  });
}

/** More ids than these are not kept: beside each other they take about 100 bytes each. */
const maxIds = 2_000_000;
const digestDigits = 13;

/** What the rows of one id that comes more than once are to each other. */
interface Repeated {
  rows: number;
  isConflict: boolean;
}

/** Counts among accepted rows, as an import does, which repeat another one and which contradict it. */
interface RepetitionCounter {
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
