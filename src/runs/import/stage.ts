import { toLocalTime } from '../../local-time.js';
import { nameFields } from '../../roster/check-row.js';
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
import { digestRecord, type SlottedParty, type StagedRow, stageRows } from '../../store/roster/staging.js';
import type { RunEvent } from '../app-context.js';
import { joinDigests } from '../roster-scope.js';
import type { RunSession } from '../session.js';

/** The facts of a staged source. */
export type StagedSource = Awaited<ReturnType<typeof stageRoster>>;

interface Stager extends Pick<RunSession, 'app' | 'signal' | 'write'> {
  runId: number;
  /** Receives the progress of the reading. */
  emit: (progress: Pick<Extract<RunEvent, { kind: 'progress' }>, 'done' | 'total' | 'reading'>) => void;
}

// One chunk takes about as long to store as to read.
const chunkRows = 4_000;
// In UTF-16 units. Bounds the memory for rows of any width: while a text is sent, several copies of it exist.
const chunkUnits = 4 * 1_024 * 1_024;

/** Reads a roster with its related parties and stages every row; a chunk is stored while the next is read. */
export async function stageRoster(roster: RosterSettings, stager: Stager) {
  const { secret, clock } = stager.app;
  const reading = await readRoster(roster, secret, clock.now());
  try {
    const { columns } = roster;
    const { source, headers, isFedBack } = reading;
    const own = createCustomerTally(headers, columns);
    const bornInRow = (columns.parties ?? []).map((party) => toHeader(party.birthDate, '')).filter(Boolean);
    const inRow = createPartyTally(bornInRow.join(' + '), columns.realDates);
    const found = new Findings([inRow]);
    await stageCustomers(reading, stager, found, { own, inRow });
    found.digests.push(reading.digest());
    found.unmappedFacts.push(...describeUnmapped(headers, columns, standardHeaders));
    found.unmappedNames.push(...describeUnmappedNames(own.names.list(), headers, 'roster'));
    for (const settings of listPartySources(roster)) await stagePartySource(settings, stager, found);
    const doubts = [own, ...found.parties].map((tally) => tally.doubts);
    return {
      ...found,
      source,
      sourceDigest: joinDigests(found.digests),
      headers,
      /** Messages about columns that look like an unmapped fact, or like names that nobody searches for. */
      unmapped: [...found.unmappedFacts, ...found.unmappedNames],
      /** Whether the roster is a `rejects.csv`. */
      isFedBack,
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
  /** The number of rows, related parties included. */
  ordinals = 0;
  /** Rows within which their file ends. */
  readonly cutRows: RejectedRow[] = [];
  /** Accepted rows with which their file ends, without a line ending. */
  readonly openRows: Pick<RejectedRow, 'reference' | 'file' | 'line'>[] = [];
  readonly digests: string[] = [];
  /** The headers of related parties, each with the number of its source. */
  readonly partyHeaders: string[] = [];
  /** Messages about columns that look like an unmapped fact. */
  readonly unmappedFacts: string[] = [];
  /** Those about names: with a test key they make a run incomplete. */
  readonly unmappedNames: string[] = [];

  constructor(readonly parties: PartyTally[]) {}
}

/** What is counted of the parties of a source. */
interface PartyTally {
  doubts: DoubtTally;
  births: DateTally;
}

/** What is counted of the customers. */
const createCustomerTally = (headers: readonly string[], columns: RosterSettings['columns']) => ({
  doubts: new DoubtTally(),
  births: new DateTally(toHeader(columns.birthDate, standardHeaders.birthDate), columns.realDates),
  ends: new DateTally(toHeader(columns.endDate, ''), columns.realDates),
  names: new UnmappedNameTally(headers, columns, standardHeaders),
});

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
  { own, inRow }: { own: ReturnType<typeof createCustomerTally>; inRow: PartyTally },
): Promise<void> {
  const { app, runId, signal, write } = stager;
  // In the roster's time zone: a customer stays until the end of the last day there.
  const today = toLocalTime(app.clock.now(), app.settings.timezone).date;
  const emit = emitPace(reading.progress, stager);
  let chunk: StagedRow[] = [];
  let units = 0;
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    emit(found.ordinals);
    const full = chunk;
    chunk = [];
    units = 0;
    underWay = write((transaction) => stageRows(transaction, runId, full));
    // The next await throws its failure; until then it must not end the process.
    underWay.catch(() => undefined);
  };
  try {
    for await (const rows of reading.rows) {
      signal.throwIfAborted();
      for (const row of rows) {
        found.ordinals += 1;
        noteCut(row, found);
        chunk.push(toStagedRow(row, found.ordinals, today));
        units += countUnits(row);
        if (row.kind !== 'customer') continue;
        noteCustomer(row, reading.headers, found, own);
        for (const party of row.related ?? []) {
          found.ordinals += 1;
          chunk.push(toStagedParty(party, found.ordinals));
          noteParty(party, found.ordinals, inRow);
        }
      }
      if (chunk.length >= chunkRows || units >= chunkUnits) await flush();
    }
    await flush();
    await underWay;
  } finally {
    // All writes must end before the error of an aborted reading is thrown.
    await underWay.catch(() => undefined);
  }
  emit(found.ordinals);
}

/** About the UTF-16 units of a row, which is staged as given and as a record. */
function countUnits(row: RosterRow): number {
  const fields = row.kind === 'customer' ? row.fields : Object.values(row.rejected.fields);
  return fields.reduce((units, text) => units + 2 * text.length, 0);
}

function noteCustomer(
  { customer, line, file, fields, isOpen }: Extract<RosterRow, { kind: 'customer' }>,
  headers: readonly string[],
  { ordinals: ordinal, openRows }: Findings,
  { births, ends, names, doubts }: ReturnType<typeof createCustomerTally>,
): void {
  const { reference } = customer;
  if (isOpen) openRows.push({ reference, file, line });
  births.add(customer.parties[0].birthDate);
  ends.add(customer.endDate);
  names.add(fields);
  doubts.addCustomer(customer, () => ({
    ordinal,
    line,
    file,
    reference,
    isParty: false,
    fields: nameFields(headers, fields),
  }));
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
  const { secret, clock } = stager.app;
  const reading = await readParties(settings, secret, clock.now());
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
      await stager.write((transaction) => stageRows(transaction, stager.runId, staged));
    }
    // The roster itself has the first digest.
    found.partyHeaders.push(...headers.map((header) => `${found.digests.length}: ${header}`));
    found.digests.push(reading.digest());
    found.unmappedFacts.push(...describeUnmapped(headers, columns, standardPartyHeaders));
    found.unmappedNames.push(...describeUnmappedNames(names.list(), headers, 'parties'));
  } finally {
    await reading.close();
  }
}

function emitPace(progress: TableReading['progress'], { app: { clock }, emit }: Stager): (rows: number) => void {
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
function toStagedRow(row: RosterRow, ordinal: number, today: string): StagedRow {
  if (row.kind === 'rejected') return { ordinal, isParty: false, ...row.rejected };
  const { customer, line, file, fields } = row;
  const record = toRecord(customer);
  const { said } = customer.readings;
  return {
    ordinal,
    line,
    file,
    isParty: false,
    reference: customer.reference,
    record: said === null ? record : { ...record, said },
    recordDigest: digestRecord(JSON.stringify(inOneOrder(record))),
    leaves: toLeaving(customer, today),
    texts: fields,
  };
}

function toStagedParty(row: PartyRow, ordinal: number): StagedRow {
  if (row.kind === 'rejected') return { ordinal, isParty: true, ...row.rejected };
  const { line, file, related, fields } = row;
  const { reference, party, readings } = related;
  return { ordinal, line, file, isParty: true, reference, party: toParty(party, readings), fields };
}

function toLeaving({ isActive, endDate }: Customer, today: string): 'inactive' | 'end_date' | null {
  if (!isActive) return 'inactive';
  return endDate !== null && endDate < today ? 'end_date' : null;
}

/**
 * The record; equal records give equal JSON. The source text of a fact that was read is not part of it: a country's
 * code and its name mean the same.
 */
function toRecord({ riskTier, parties, isActive, endDate, attributes, readings }: Customer) {
  const kept = Object.entries(attributes);
  return {
    riskTier,
    parties: parties.map(toRecordParty),
    ...(!isActive && { isActive }),
    ...(endDate !== null && { endDate }),
    // Sorted, because the order of columns does not matter.
    ...(kept.length > 0 && {
      attributes: Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1))),
    }),
    ...toDoubted(readings),
  };
}

function toRecordParty(party: Party) {
  const { role, type, name, birthDate, countries } = party;
  return { role, type, name, birthDate, countries: countries.toSorted(), sentName: toScreeningRequest(party).name };
}

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
    ...toRecordParty(party),
    ...toDoubted(readings),
    ...(said !== null && { said }),
  };
}
