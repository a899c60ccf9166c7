import type { Clock } from '../../clock.js';
import { isConspicuous, nameFields } from '../../roster/check-row.js';
import {
  type Customer,
  type Party,
  type PartyRow,
  type Readings,
  type RejectedRow,
  type RosterRow,
  toScreeningRequest,
} from '../../roster/customer.js';
import { DoubtTally } from '../../roster/doubts.js';
import { DateTally } from '../../roster/fact-dates.js';
import { describeUnmapped, standardHeaders, standardPartyHeaders } from '../../roster/headers.js';
import { readParties, readRoster } from '../../roster/read-roster.js';
import { partyFilePrefix } from '../../roster/rejects.js';
import { listPartySources, type PartySettings, type RosterSettings } from '../../roster/settings.js';
import type { TableReading } from '../../roster/table-reading.js';
import { describeUnmappedNames, UnmappedNameTally } from '../../roster/unmapped-names.js';
import type { Transaction } from '../../store/database/database.js';
import type { KnownRecords } from '../../store/roster/known-records.js';
import {
  digestRecord,
  fieldSeparator,
  rowSeparator,
  type SlottedParty,
  StagingChunk,
  stageParties,
  withoutNul,
} from '../../store/roster/staging.js';
import type { RunEvent } from '../app-context.js';
import { joinDigests } from '../roster-scope.js';

/** The facts of a staged source. */
export type StagedSource = Awaited<ReturnType<typeof stageRoster>>;

interface Stager {
  runId: number;
  /** Whether the database supports `copy`. */
  copies: boolean;
  /** Their records are not staged. */
  known?: KnownRecords;
  clock: Clock;
  /** The current day (`yyyy-mm-dd`) in the roster's time zone: a customer stays until the end of the last day there. */
  today: string;
  signal: AbortSignal;
  secret: (name: string) => string | undefined;
  /** Calls may overlap. */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Receives the progress of the reading. */
  emit: (progress: Pick<Extract<RunEvent, { kind: 'progress' }>, 'done' | 'total' | 'reading'>) => void;
}

// One chunk takes about as long to store as to read.
const chunkRows = 4_000;
// Bounds the memory for rows of any width: while a text is sent, several copies of it exist.
const chunkUnits = 4 * 1_024 * 1_024;
// Copied rows are bytes only, so a chunk holds more of them: larger chunks keep the server busy.
const copiedRows = 12_000;

/** Reads a roster with its related parties and stages every row; a chunk is stored while the next is read. */
export async function stageRoster(roster: RosterSettings, stager: Stager) {
  const reading = await readRoster(roster, stager.secret, stager.clock.now());
  try {
    const { columns } = roster;
    const { source, headers, isFedBack } = reading;
    const { birthDate, endDate, realDates } = columns;
    const own = {
      doubts: new DoubtTally(),
      births: new DateTally(toHeader(birthDate, standardHeaders.birthDate), realDates),
      ends: new DateTally(toHeader(endDate, ''), realDates),
      names: new UnmappedNameTally(headers, columns, standardHeaders),
    };
    const bornInRow = (columns.parties ?? []).map((party) => toHeader(party.birthDate, '')).filter(Boolean);
    const inRow = createPartyTally(bornInRow.join(' + '), realDates);
    const found = new Findings([inRow]);
    await stageCustomers(reading, stager, found, { own, inRow });
    found.digests.push(reading.digest());
    found.facts.push(...describeUnmapped(headers, columns, standardHeaders));
    found.names.push(...describeUnmappedNames(own.names.list(), headers, 'roster'));
    for (const settings of listPartySources(roster)) await stagePartySource(settings, stager, found);
    const doubts = [own, ...found.parties].map((tally) => tally.doubts);
    const { ordinals, cutRows, openRows, partyHeaders, names } = found;
    return {
      source,
      sourceDigest: joinDigests(found.digests),
      headers,
      /** The headers of related parties, each with the number of its source. */
      partyHeaders,
      /** Messages about columns that look like an unmapped fact, or like names that nobody searches for. */
      unmapped: [...found.facts, ...names],
      /** Those about names: with a test key they make a run incomplete. */
      unmappedNames: names,
      /** Rows within which their file ends. */
      cutRows,
      /** Accepted rows with which their file ends, without a line ending. */
      openRows,
      /** Whether the roster is a `rejects.csv`. */
      isFedBack,
      /** The number of rows, related parties included. */
      ordinals,
      /** The row count that the source states: null when it states none, absent when no control total is configured. */
      ...(reading.controlTotal && { controlTotal: reading.controlTotal() }),
      /** The doubts, related parties included, and the first rows with one. */
      doubts: doubts.flatMap((each) => each.list()),
      doubted: doubts.flatMap((each) => each.rows),
      /** The dates of customers by column, and of each source of related parties. */
      births: own.births,
      ends: own.ends,
      partyBirths: found.parties.map(({ births }) => births),
    };
  } finally {
    await reading.close();
  }
}

/** What is found in the roster and in each source of related parties. */
class Findings {
  ordinals = 0;
  readonly cutRows: RejectedRow[] = [];
  readonly openRows: Pick<RejectedRow, 'reference' | 'file' | 'line'>[] = [];
  readonly digests: string[] = [];
  readonly partyHeaders: string[] = [];
  /** Messages about columns that look like an unmapped fact, and like names. */
  readonly facts: string[] = [];
  readonly names: string[] = [];

  constructor(readonly parties: PartyTally[]) {}
}

/** What is counted of the parties of a source. */
interface PartyTally {
  doubts: DoubtTally;
  births: DateTally;
}

const createPartyTally = (birthDate: string, realDates: readonly string[] | undefined): PartyTally => ({
  doubts: new DoubtTally(partyFilePrefix),
  births: new DateTally(partyFilePrefix + birthDate, realDates),
});

const toHeader = (setting: string | { column: string } | undefined, standard: string): string =>
  typeof setting === 'object' ? setting.column : (setting ?? standard);

async function stageCustomers(
  reading: Awaited<ReturnType<typeof readRoster>>,
  stager: Stager,
  found: Findings,
  { own, inRow }: { own: PartyTally & { ends: DateTally; names: UnmappedNameTally }; inRow: PartyTally },
): Promise<void> {
  const { runId, copies, known, today, signal } = stager;
  const emit = emitPace(reading.progress, stager);
  const mostRows = copies ? copiedRows : chunkRows;
  let chunk = new StagingChunk(runId, copies);
  let related: ReturnType<typeof toStagedParty>[] = [];
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    emit(found.ordinals);
    const [full, parties] = [chunk, related];
    chunk = new StagingChunk(runId, copies);
    related = [];
    underWay = stageChunk(full, parties, stager);
    // The next await throws its failure; until then it must not end the process.
    underWay.catch(() => undefined);
  };
  try {
    for await (const rows of reading.rows) {
      signal.throwIfAborted();
      for (const row of rows) {
        found.ordinals += 1;
        const ordinal = found.ordinals;
        noteCut(row, found);
        chunk.add(toStagedRow(row, ordinal, today, known));
        if (row.kind !== 'customer') continue;
        const { customer, line, file, fields } = row;
        if (row.isOpen) found.openRows.push({ reference: customer.reference, file, line });
        own.births.add(customer.parties[0].birthDate);
        own.ends.add(customer.endDate);
        own.names.add(fields);
        own.doubts.addCustomer(customer, () => ({
          ordinal,
          line,
          file,
          reference: customer.reference,
          isParty: false,
          fields: nameFields(reading.headers, fields),
        }));
        for (const party of row.related ?? []) {
          found.ordinals += 1;
          related.push(toStagedParty(party, found.ordinals));
          noteParty(party, found.ordinals, inRow);
        }
      }
      if (chunk.rows + related.length >= mostRows || chunk.units >= chunkUnits) await flush();
    }
    if (chunk.rows > 0) await flush();
    await underWay;
  } finally {
    // All writes must end before the error of an aborted reading is thrown.
    await underWay.catch(() => undefined);
  }
  emit(found.ordinals);
}

async function stageChunk(
  chunk: StagingChunk,
  parties: readonly ReturnType<typeof toStagedParty>[],
  { runId, write }: Stager,
): Promise<void> {
  await chunk.stage(write);
  if (parties.length > 0) await write((transaction) => stageParties(transaction, runId, parties));
}

function noteParty(row: PartyRow, ordinal: number, { doubts, births }: PartyTally): void {
  if (row.kind !== 'party') return;
  const { related, line, file, fields } = row;
  births.add(related.party.birthDate);
  doubts.addParty(related, () => ({ ordinal, line, file, reference: related.reference, isParty: true, fields }));
}

function noteCut(row: RosterRow | PartyRow, { cutRows }: Findings): void {
  if (row.kind === 'rejected' && row.rejected.isCut) cutRows.push(row.rejected);
}

async function stagePartySource(settings: PartySettings, stager: Stager, found: Findings): Promise<void> {
  const { columns } = settings;
  const reading = await readParties(settings, stager.secret, stager.clock.now());
  const { headers } = reading;
  const names = new UnmappedNameTally(headers, columns, standardPartyHeaders);
  const tally = createPartyTally(toHeader(columns.birthDate, standardPartyHeaders.birthDate), columns.realDates);
  found.parties.push(tally);
  try {
    for await (const batch of reading.rows) {
      stager.signal.throwIfAborted();
      const staged = batch.map((row) => {
        found.ordinals += 1;
        noteCut(row, found);
        noteParty(row, found.ordinals, tally);
        if (row.kind === 'party') names.add(headers.map((header) => row.fields[header] ?? ''));
        return toStagedParty(row, found.ordinals);
      });
      await stager.write((transaction) => stageParties(transaction, stager.runId, staged));
    }
    // The roster itself has the first digest.
    found.partyHeaders.push(...headers.map((header) => `${found.digests.length}: ${header}`));
    found.digests.push(reading.digest());
    found.facts.push(...describeUnmapped(headers, columns, standardPartyHeaders));
    found.names.push(...describeUnmappedNames(names.list(), headers, 'parties'));
  } finally {
    await reading.close();
  }
}

function emitPace(progress: TableReading['progress'], { clock, emit }: Stager): (rows: number) => void {
  const startedMs = clock.now().getTime();
  return (rows) => {
    const spentMs = Math.max(1, clock.now().getTime() - startedMs);
    const bytes = progress?.() ?? null;
    const leftMs =
      bytes === null || bytes.doneBytes === 0
        ? null
        : Math.round((spentMs * Math.max(0, bytes.totalBytes - bytes.doneBytes)) / bytes.doneBytes);
    const perSecond = Math.round((rows * 1_000) / spentMs);
    emit({
      done: rows,
      total: null,
      reading: { perSecond, doneBytes: bytes?.doneBytes ?? null, totalBytes: bytes?.totalBytes ?? null, leftMs },
    });
  };
}

/** Converts a row of a roster for staging; `today` (`yyyy-mm-dd`) decides which end dates are past. */
export function toStagedRow(row: RosterRow, ordinal: number, today: string, known?: KnownRecords) {
  if (row.kind === 'rejected') return { kind: 'rejected' as const, ordinal, ...row.rejected };
  const { customer, line, file, fields } = row;
  const [own] = customer.parties;
  const sentName = toScreeningRequest(own).name;
  const record = toRecord(customer, sentName);
  const { said } = customer.readings;
  const json = JSON.stringify(record);
  const ordered = inOneOrder(record);
  const recordDigest = digestRecord(ordered === record ? json : JSON.stringify(ordered));
  const isKnown = known?.has(customer.reference, recordDigest) ?? false;
  return {
    kind: 'customer' as const,
    ordinal,
    line,
    file,
    reference: customer.reference,
    type: isKnown ? null : own.type,
    sentName: isKnown ? null : sentName,
    parties: customer.parties.length,
    riskTier: customer.riskTier,
    record: isKnown ? null : withoutNul(said === null ? json : JSON.stringify({ ...record, said })),
    recordDigest,
    leaves: toLeaving(customer, today),
    raw: fields.map(toVisible).join(fieldSeparator),
  };
}

function toStagedParty(row: PartyRow, ordinal: number) {
  if (row.kind === 'rejected') return { kind: 'rejected' as const, ordinal, ...row.rejected };
  const { line, file, related, fields } = row;
  return {
    kind: 'party' as const,
    ordinal,
    line,
    file,
    reference: related.reference,
    party: toParty(related.party, related.readings),
    fields,
  };
}

/** Separators and NUL within a field become their visible symbols. */
const toVisible = (field: string): string =>
  isConspicuous(field)
    ? field.replaceAll(fieldSeparator, '\u241f').replaceAll(rowSeparator, '\u241e').replaceAll('\0', '\u2400')
    : field;

function toLeaving({ isActive, endDate }: Customer, today: string): 'inactive' | 'end_date' | null {
  if (!isActive) return 'inactive';
  return endDate !== null && endDate < today ? 'end_date' : null;
}

/**
 * The record; equal records give equal JSON. The source text of a fact that was read is not part of it: a country's
 * code and its name mean the same.
 */
function toRecord({ riskTier, parties, isActive, endDate, attributes, readings }: Customer, sentName: string) {
  const kept = Object.entries(attributes);
  return {
    riskTier,
    parties: parties.map((party, at) => toRecordParty(party, at === 0 ? sentName : toScreeningRequest(party).name)),
    ...(!isActive && { isActive }),
    ...(endDate !== null && { endDate }),
    // Sorted, because the order of columns does not matter.
    ...(kept.length > 0 && {
      attributes: Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    }),
    ...toDoubted(readings),
  };
}

const toRecordParty = ({ role, type, name, birthDate, countries }: Party, sentName: string) => ({
  role,
  type,
  name,
  birthDate,
  countries: countries.toSorted(),
  sentName,
});

/** The record with sorted aliases, because their order does not matter. */
function inOneOrder(record: ReturnType<typeof toRecord>): typeof record {
  const [own, ...aliases] = record.parties;
  if (own === undefined || aliases.length < 2) return record;
  return { ...record, parties: [own, ...aliases.toSorted((one, other) => (one.name < other.name ? -1 : 1))] };
}

/** The source text of each fact in doubt. That of the id is none: the same id with and without an apostrophe is one. */
function toDoubted({ doubts }: Readings): { doubts?: Readonly<Record<string, string>> } {
  const doubted: Record<string, string> = {};
  for (const { field, value } of doubts) {
    if (field !== 'id') doubted[field] = field in doubted ? `${doubted[field]};${value}` : value;
  }
  return Object.keys(doubted).length === 0 ? {} : { doubts: doubted };
}

function toParty(party: Party, readings: Readings): SlottedParty {
  const { said } = readings;
  return {
    ...toRecordParty(party, toScreeningRequest(party).name),
    ...toDoubted(readings),
    ...(said !== null && { said }),
  };
}
