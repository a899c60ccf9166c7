import type { Clock } from '../../clock.js';
import { nameFields } from '../../roster/check-row.js';
import { describeUnmapped, standardHeaders, standardPartyHeaders } from '../../roster/column-names.js';
import type { PartyRow, RejectedRow, RosterRow } from '../../roster/customer.js';
import { type ColumnDoubts, type DoubtedRow, DoubtTally } from '../../roster/doubts.js';
import { readParties, readRoster } from '../../roster/read-roster.js';
import { partyFilePrefix } from '../../roster/rejects-columns.js';
import type { PartyReading, RosterReading } from '../../roster/roster-reading.js';
import type { RosterSettings } from '../../roster/settings.js';
import type { Transaction } from '../../store/database/database.js';
import { StagingChunk, stageParties, stageRows } from '../../store/roster-staging.js';
import type { RunEvent } from '../run-event.js';
import { joinDigests } from './join-digests.js';
import { toStagedParty, toStagedRow } from './to-staged-row.js';

/** What a reading of a roster came from. */
export interface StagedSource {
  source: string;
  sourceDigest: string;
  headers: readonly string[];
  /** Of the sources of related parties, each with the number of its source. */
  partyHeaders: readonly string[];
  /** Columns that read like a fact which no column is mapped for, in words. */
  unmapped: readonly string[];
  /** Rows in the middle of which their file ends. */
  cutRows: readonly RejectedRow[];
  /** Whether the roster's rows are those of a `rejects.csv`. */
  isFedBack: boolean;
  /** How many places in the source are taken, related parties included. */
  ordinals: number;
  /** How many rows the source says it has: null where it says nothing, absent where nobody asks. */
  controlTotal?: number | null;
  /** What is in doubt, related parties included, and the first rows that hold it. */
  doubts: readonly ColumnDoubts[];
  doubted: readonly DoubtedRow[];
}

/** Where rows are staged. */
export interface Stager {
  runId: number;
  /** Whether rows may be copied in bulk. */
  copies: boolean;
  clock: Clock;
  /** The day (`yyyy-mm-dd`) where the roster is kept: whose last day it is stays until it has ended there. */
  today: string;
  signal: AbortSignal;
  secret: (name: string) => string | undefined;
  /** May be called again before it has ended. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Hears how far the reading has come. */
  tell: (progress: Pick<Extract<RunEvent, { kind: 'progress' }>, 'done' | 'total' | 'reading'>) => void;
}

// As much as a turn of the database takes while the next rows are read.
const chunkRows = 4_000;
// Rows may be a hundred times as wide as usual, and memory stays as flat: while it is sent, a text lies in memory several times.
const chunkUnits = 4 * 1_024 * 1_024;
// Bytes only, so more of them: the turns of a chunk wait for the reading, and meanwhile the server has nothing to do.
const copiedRows = 12_000;

/** Reads a roster with its related parties and stages every row in chunks, each while the next is being read. */
export async function stageRoster(roster: RosterSettings, stager: Stager): Promise<StagedSource> {
  const reading = await readRoster(roster, stager.secret, stager.clock.now());
  try {
    const cutRows: RejectedRow[] = [];
    const tally = new DoubtTally();
    const rows = await stageCustomers(reading, stager, cutRows, tally);
    const { ordinals, digests, partyHeaders, unmapped, tallies } = await stageAllParties(roster, stager, rows, cutRows);
    const { source, headers, isFedBack } = reading;
    const all = [tally, ...tallies];
    return {
      source,
      sourceDigest: joinDigests([reading.digest(), ...digests]),
      headers,
      partyHeaders,
      unmapped: [...describeUnmapped(headers, roster.columns, standardHeaders), ...unmapped],
      cutRows,
      isFedBack,
      ordinals,
      ...(reading.controlTotal && { controlTotal: reading.controlTotal() }),
      doubts: all.flatMap((each) => each.list()),
      doubted: all.flatMap(({ rows }) => rows),
    };
  } finally {
    await reading.close();
  }
}

async function stageCustomers(
  reading: RosterReading,
  stager: Stager,
  cutRows: RejectedRow[],
  tally: DoubtTally,
): Promise<number> {
  const { runId, copies, today, signal, write } = stager;
  const tell = tellPace(reading, stager);
  const mostRows = copies ? copiedRows : chunkRows;
  let ordinal = 0;
  let chunk = new StagingChunk(runId, copies);
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    tell(ordinal);
    const full = chunk;
    chunk = new StagingChunk(runId, copies);
    underWay = stageRows(write, full);
    // Whoever waits for it next hears of its failure; meanwhile it must not end the process.
    underWay.catch(() => undefined);
  };
  try {
    for await (const rows of reading.rows) {
      signal.throwIfAborted();
      for (const row of rows) {
        ordinal += 1;
        noteCut(row, cutRows);
        chunk.add(toStagedRow(row, ordinal, today));
        if (row.kind !== 'customer') continue;
        const { customer, line, file, fields } = row;
        const at = ordinal;
        tally.addCustomer(customer, () => ({
          ...{ ordinal: at, line, file, reference: customer.reference, isParty: false },
          fields: nameFields(reading.headers, fields),
        }));
      }
      if (chunk.rows >= mostRows || chunk.units >= chunkUnits) await flush();
    }
    if (chunk.rows > 0) await flush();
    await underWay;
  } finally {
    // Nothing is written any more once a reading that broke off has told so.
    await underWay.catch(() => undefined);
  }
  tell(ordinal);
  return ordinal;
}

function noteCut(row: RosterRow | PartyRow, cutRows: RejectedRow[]): void {
  if (row.kind === 'rejected' && row.rejected.isCut) cutRows.push(row.rejected);
}

async function stageAllParties(
  roster: RosterSettings,
  stager: Stager,
  rows: number,
  cutRows: RejectedRow[],
): Promise<
  Pick<StagedSource, 'ordinals' | 'partyHeaders' | 'unmapped'> & {
    digests: readonly string[];
    tallies: readonly DoubtTally[];
  }
> {
  const tallies: DoubtTally[] = [];
  const digests: string[] = [];
  const partyHeaders: string[] = [];
  const unmapped: string[] = [];
  let ordinal = rows;
  for (const settings of roster.parties ?? []) {
    const reading: PartyReading = await readParties(settings, stager.secret, stager.clock.now());
    const tally = new DoubtTally(partyFilePrefix);
    tallies.push(tally);
    try {
      for await (const batch of reading.rows) {
        stager.signal.throwIfAborted();
        for (const row of batch) noteCut(row, cutRows);
        const staged = batch.map((row, index) => toStagedParty(row, ordinal + index + 1, reading.headers));
        for (const [index, row] of batch.entries()) {
          if (row.kind !== 'party') continue;
          const { related, line, file, fields } = row;
          tally.addParty(related, () => ({
            ...{ ordinal: ordinal + index + 1, line, file, reference: related.reference, isParty: true },
            fields: nameFields(reading.headers, fields),
          }));
        }
        await stager.write((transaction) => stageParties(transaction, stager.runId, staged));
        ordinal += batch.length;
      }
      digests.push(reading.digest());
      unmapped.push(...describeUnmapped(reading.headers, settings.columns, standardPartyHeaders));
      partyHeaders.push(...reading.headers.map((header) => `${digests.length}: ${header}`));
    } finally {
      await reading.close();
    }
  }
  return { ordinals: ordinal, digests, partyHeaders, unmapped, tallies };
}

function tellPace(reading: RosterReading, { clock, tell }: Stager): (rows: number) => void {
  const startedMs = clock.now().getTime();
  return (rows) => {
    const spentMs = Math.max(1, clock.now().getTime() - startedMs);
    const bytes = reading.progress?.() ?? null;
    const leftMs =
      bytes === null || bytes.doneBytes === 0
        ? null
        : Math.round((spentMs * Math.max(0, bytes.totalBytes - bytes.doneBytes)) / bytes.doneBytes);
    const perSecond = Math.round((rows * 1_000) / spentMs);
    tell({
      done: rows,
      total: null,
      reading: { perSecond, doneBytes: bytes?.doneBytes ?? null, totalBytes: bytes?.totalBytes ?? null, leftMs },
    });
  };
}
