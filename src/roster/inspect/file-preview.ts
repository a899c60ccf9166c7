import * as crypto from 'node:crypto';
import { nameFields } from '../check-row.js';
import type { Customer, RosterRow } from '../customer.js';
import { DoubtTally } from '../doubts.js';
import { standardHeaders } from '../headers.js';
import { readRoster } from '../read-roster.js';
import type { RosterSettings } from '../settings.js';
import { UnmappedNameTally } from '../unmapped-names.js';
import type { Unmapped } from './column-profile.js';
import { UnknownTally } from './unknown-values.js';

const shownRows = 10;

/** Reads a file as an import would; `unmapped` are columns that have a meaning but no readable value. */
export async function previewFile(settings: RosterSettings, unmapped: readonly Unmapped[]) {
  const reading = await readRoster(settings, () => undefined);
  const counter = new RepetitionCounter();
  const firstRows: RosterRow[] = [];
  const rejectedBecause: Record<string, number> = {};
  const doubts = new DoubtTally();
  const unknown = new UnknownTally(unmapped);
  const names = new UnmappedNameTally(reading.headers, settings.columns, standardHeaders);
  let [accepted, rejected] = [0, 0];
  try {
    for await (const rows of reading.rows) {
      firstRows.push(...rows.slice(0, shownRows - firstRows.length));
      for (const row of rows) {
        unknown.add(row, reading.headers);
        if (row.kind === 'customer') {
          accepted += 1;
          counter.note(row.customer);
          names.add(row.fields);
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
      /** The first rows as an import would read them; contradicting rows are rejected. */
      firstRows: firstRows.map((row) => rejectConflict(row, counter, reading.headers)),
      /** The lines of first rows that repeat another one. */
      repeatedLines: listRepeatedLines(firstRows, counter),
      counts: {
        customers: accepted - repeated - conflicting,
        rejected: rejected + conflicting,
        repeated,
        rejectedBecause,
        /** Unknown facts of accepted rows, by column. */
        doubts: doubts.list(),
        /** False when there were too many ids to compare all rows. */
        isComplete: counter.isComplete,
      },
      tally: reading.tally(),
      /** The values that an import with the guessed mapping does not understand. */
      unknown: unknown.list(),
      /** Columns that look like names of people or firms and that the guessed mapping does not read. */
      unmappedNames: names.list(),
    };
  } finally {
    await reading.close();
  }
}

/** What an import would make of the rows of a file. */
type FilePreview = Awaited<ReturnType<typeof previewFile>>;

/** The preview without a mapping of id and name, which accepts no row. */
export const startPreview = (tally: FilePreview['tally']): FilePreview => ({
  firstRows: [],
  repeatedLines: [],
  counts: { customers: 0, rejected: 0, repeated: 0, rejectedBecause: {}, doubts: [], isComplete: true },
  tally,
  unknown: [],
  unmappedNames: [],
});

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
      fields: nameFields(headers, fields),
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

/** The most stored ids; each takes about 100 bytes. */
const maxIds = 2_000_000;
const digestDigits = 13;

/** Counts the accepted rows that repeat or contradict another one, like an import. */
export class RepetitionCounter {
  /** False once the limit of ids is reached: later ids are not compared. */
  isComplete = true;
  // Digests, because substrings would keep the blocks of the file in memory.
  readonly #records = new Map<number, number>();
  readonly #repeated = new Map<number, { rows: number; isConflict: boolean }>();

  constructor(readonly most = maxIds) {}

  note(customer: Customer): void {
    const id = toDigest(customer.reference);
    const record = toDigest(toRecord(customer));
    const known = this.#records.get(id);
    if (known !== undefined) {
      const { rows, isConflict } = this.#repeated.get(id) ?? { rows: 1, isConflict: false };
      this.#repeated.set(id, { rows: rows + 1, isConflict: isConflict || known !== record });
    } else if (this.#records.size < this.most) this.#records.set(id, record);
    else this.isComplete = false;
  }

  /** Whether rows of this id contradict each other so far. */
  isConflict(reference: string): boolean {
    return this.#repeated.get(toDigest(reference))?.isConflict === true;
  }

  /** `repeated` counts the rows after the first of an id, `conflicting` all rows of an id with different rows. */
  sum(): { repeated: number; conflicting: number } {
    let [again, conflicting] = [0, 0];
    for (const { rows, isConflict } of this.#repeated.values()) {
      if (isConflict) conflicting += rows;
      else again += rows - 1;
    }
    return { repeated: again, conflicting };
  }
}

/** Gives the same text for the same record; the order of countries and aliases does not matter. */
function toRecord({ riskTier, parties, isActive, endDate, readings }: Customer): string {
  const [own, ...aliases] = parties;
  const inOrder = [own, ...aliases.toSorted((one, other) => (one.name < other.name ? -1 : 1))];
  const sorted = inOrder.map((party) => ({ ...party, countries: party.countries.toSorted() }));
  return JSON.stringify([riskTier, sorted, isActive, endDate, readings.doubts]);
}

/** 52 bits of a digest, which a number represents exactly. */
const toDigest = (text: string): number =>
  Number.parseInt(crypto.hash('sha256', text, 'hex').slice(0, digestDigits), 16);
