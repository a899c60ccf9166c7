import type { RosterRow } from '../customer.js';
import { type ColumnDoubts, DoubtTally } from '../doubts.js';
import { readRoster } from '../read-roster.js';
import type { RosterSettings } from '../settings.js';
import type { LineTally } from '../table-reading.js';
import { createRepetitionCounter, type RepetitionCounter } from './repetitions.js';

/** What the rows of a file would become, summed as an import sums them. */
export interface RowCounts {
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
