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
import { type ColumnDoubts, type DoubtedRow, DoubtTally } from '../../roster/doubts.js';
import { DateTally } from '../../roster/fact-dates.js';
import { describeUnmapped, standardHeaders, standardPartyHeaders } from '../../roster/headers.js';
import { readParties, readRoster } from '../../roster/read-roster.js';
import { partyFilePrefix } from '../../roster/rejects.js';
import { listPartySources, type RosterSettings } from '../../roster/settings.js';
import type { TableReading } from '../../roster/table-reading.js';
import { describeUnmappedNames, UnmappedNameTally } from '../../roster/unmapped-names.js';
import type { Transaction } from '../../store/database/database.js';
import type { KnownRecords } from '../../store/known-records.js';
import {
  digestRecord,
  fieldSeparator,
  rowSeparator,
  type SlottedParty,
  StagingChunk,
  stageParties,
  withoutNul,
} from '../../store/roster-staging.js';
import type { RunEvent } from '../app-context.js';
import { joinDigests } from '../roster-scope.js';

/** The facts of a staged source. */
export interface StagedSource {
  source: string;
  sourceDigest: string;
  headers: readonly string[];
  /** The headers of related parties, each with the number of its source. */
  partyHeaders: readonly string[];
  /** Messages about columns that look like an unmapped fact, or like names that nobody searches for. */
  unmapped: readonly string[];
  /** Those about names: with a test key they make a run incomplete. */
  unmappedNames: readonly string[];
  /** Rows within which their file ends. */
  cutRows: readonly RejectedRow[];
  /** Whether the roster is a `rejects.csv`. */
  isFedBack: boolean;
  /** The number of rows, related parties included. */
  ordinals: number;
  /** The row count that the source states: null when it states none, absent when no control total is configured. */
  controlTotal?: number | null;
  /** The doubts, related parties included, and the first rows with one. */
  doubts: readonly ColumnDoubts[];
  doubted: readonly DoubtedRow[];
  /** The dates of customers by column, and of each source of related parties. */
  births: DateTally;
  ends: DateTally;
  partyBirths: readonly DateTally[];
}

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
export async function stageRoster(roster: RosterSettings, stager: Stager): Promise<StagedSource> {
  const reading = await readRoster(roster, stager.secret, stager.clock.now());
  try {
    const cutRows: RejectedRow[] = [];
    const { columns } = roster;
    const { source, headers, isFedBack } = reading;
    const own = {
      doubts: new DoubtTally(),
      births: new DateTally(toHeader(columns.birthDate, standardHeaders.birthDate), columns.realDates),
      ends: new DateTally(toHeader(columns.endDate, ''), columns.realDates),
      names: new UnmappedNameTally(headers, columns, standardHeaders),
    };
    const bornInRow = (columns.parties ?? []).map(({ birthDate }) => toHeader(birthDate, '')).filter(Boolean);
    const inRow = {
      doubts: new DoubtTally(partyFilePrefix),
      births: new DateTally(partyFilePrefix + bornInRow.join(' + '), columns.realDates),
    };
    const rows = await stageCustomers(reading, stager, cutRows, { own, inRow });
    const ofSources = await stageAllParties(roster, stager, rows, cutRows);
    const unmappedNames = [describeUnmappedNames(own.names.list(), headers, 'roster'), ...ofSources.unmappedNames];
    const namesFound = unmappedNames.filter((message) => message !== null);
    const facts = [...describeUnmapped(headers, columns, standardHeaders), ...ofSources.unmapped];
    const { ordinals, digests, partyHeaders } = ofSources;
    const parties = [inRow, ...ofSources.tallies];
    const doubts = [own, ...parties].map((tally) => tally.doubts);
    return {
      source,
      sourceDigest: joinDigests([reading.digest(), ...digests]),
      headers,
      partyHeaders,
      unmapped: [...facts, ...namesFound],
      unmappedNames: namesFound,
      cutRows,
      isFedBack,
      ordinals,
      ...(reading.controlTotal && { controlTotal: reading.controlTotal() }),
      doubts: doubts.flatMap((each) => each.list()),
      doubted: doubts.flatMap((each) => each.rows),
      births: own.births,
      ends: own.ends,
      partyBirths: parties.map(({ births }) => births),
    };
  } finally {
    await reading.close();
  }
}

const toHeader = (setting: string | { column: string } | undefined, standard: string): string =>
  typeof setting === 'object' ? setting.column : (setting ?? standard);

async function stageCustomers(
  reading: Awaited<ReturnType<typeof readRoster>>,
  stager: Stager,
  cutRows: RejectedRow[],
  tallies: { own: PartyTally & { ends: DateTally; names: UnmappedNameTally }; inRow: PartyTally },
): Promise<number> {
  const { runId, copies, known, today, signal } = stager;
  const { own, inRow } = tallies;
  const emit = emitPace(reading.progress, stager);
  const mostRows = copies ? copiedRows : chunkRows;
  let ordinal = 0;
  let chunk = new StagingChunk(runId, copies);
  let related: ReturnType<typeof toStagedParty>[] = [];
  let underWay: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    await underWay;
    emit(ordinal);
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
        ordinal += 1;
        noteCut(row, cutRows);
        chunk.add(toStagedRow(row, ordinal, today, known));
        if (row.kind !== 'customer') continue;
        const { customer, line, file, fields } = row;
        own.births.add(customer.parties[0].birthDate);
        own.ends.add(customer.endDate);
        own.names.add(fields);
        const at = ordinal;
        own.doubts.addCustomer(customer, () => ({
          ordinal: at,
          line,
          file,
          reference: customer.reference,
          isParty: false,
          fields: nameFields(reading.headers, fields),
        }));
        for (const party of row.related ?? []) {
          ordinal += 1;
          related.push(toStagedParty(party, ordinal));
          noteParty(party, ordinal, inRow);
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
  emit(ordinal);
  return ordinal;
}

async function stageChunk(
  chunk: StagingChunk,
  parties: readonly ReturnType<typeof toStagedParty>[],
  { runId, write }: Stager,
): Promise<void> {
  await chunk.stage(write);
  if (parties.length > 0) await write((transaction) => stageParties(transaction, runId, parties));
}

/** What is counted of the parties of a source. */
interface PartyTally {
  doubts: DoubtTally;
  births: DateTally;
}

function noteParty(row: PartyRow, ordinal: number, { doubts, births }: PartyTally): void {
  if (row.kind !== 'party') return;
  const { related, line, file, fields } = row;
  births.add(related.party.birthDate);
  doubts.addParty(related, () => ({ ordinal, line, file, reference: related.reference, isParty: true, fields }));
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
    unmappedNames: readonly (string | null)[];
    digests: readonly string[];
    tallies: readonly PartyTally[];
  }
> {
  const tallies: PartyTally[] = [];
  const digests: string[] = [];
  const partyHeaders: string[] = [];
  const unmapped: string[] = [];
  const unmappedNames: (string | null)[] = [];
  let ordinal = rows;
  for (const settings of listPartySources(roster)) {
    const reading = await readParties(settings, stager.secret, stager.clock.now());
    const names = new UnmappedNameTally(reading.headers, settings.columns, standardPartyHeaders);
    const { birthDate, realDates } = settings.columns;
    const tally = {
      doubts: new DoubtTally(partyFilePrefix),
      births: new DateTally(partyFilePrefix + toHeader(birthDate, standardPartyHeaders.birthDate), realDates),
    };
    tallies.push(tally);
    try {
      for await (const batch of reading.rows) {
        stager.signal.throwIfAborted();
        for (const row of batch) noteCut(row, cutRows);
        const staged = batch.map((row, index) => toStagedParty(row, ordinal + index + 1));
        for (const [index, row] of batch.entries()) {
          noteParty(row, ordinal + index + 1, tally);
          if (row.kind === 'party') names.add(reading.headers.map((header) => row.fields[header] ?? ''));
        }
        await stager.write((transaction) => stageParties(transaction, stager.runId, staged));
        ordinal += batch.length;
      }
      digests.push(reading.digest());
      unmapped.push(...describeUnmapped(reading.headers, settings.columns, standardPartyHeaders));
      unmappedNames.push(describeUnmappedNames(names.list(), reading.headers, 'parties'));
      partyHeaders.push(...reading.headers.map((header) => `${digests.length}: ${header}`));
    } finally {
      await reading.close();
    }
  }
  return { ordinals: ordinal, digests, partyHeaders, unmapped, unmappedNames, tallies };
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
  const body = toBody(customer, sentName);
  const { said } = customer.readings;
  const recordDigest = digestRecord(`${inOneOrder(customer, sentName) ?? body}}`);
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
    record: isKnown ? null : withoutNul(said === null ? `${body}}` : `${body},"said":${toSaid(said)}}`),
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

const needsEscaping = /["\\\p{Cc}\p{Cs}]/u;

/** Gives the same text as `JSON.stringify`, which takes three times as long for a million short names. */
const quote = (text: string): string => (needsEscaping.test(text) ? JSON.stringify(text) : `"${text}"`);

const quoteOrNull = (text: string | null): string => (text === null ? 'null' : quote(text));

/** The body with sorted aliases, because their order does not matter; null when there are fewer than two. */
function inOneOrder(customer: Customer, sentName: string): string | null {
  const [own, ...aliases] = customer.parties;
  if (aliases.length < 2) return null;
  const sorted = aliases.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return toBody({ ...customer, parties: [own, ...sorted] }, sentName);
}

/**
 * The record as JSON without its end; equal records give equal texts. The source text of a fact that was read is not
 * part of it: a country's code and its name mean the same.
 */
function toBody({ riskTier, parties, isActive, endDate, attributes, readings }: Customer, sentName: string): string {
  let record = `{"riskTier":${quoteOrNull(riskTier)},"parties":[`;
  for (const party of parties) {
    record +=
      party === parties[0] ? toPartyJson(party, sentName) : `,${toPartyJson(party, toScreeningRequest(party).name)}`;
  }
  record += ']';
  // Only when given, so that older records without these keys stay equal.
  if (!isActive) record += ',"isActive":false';
  if (endDate !== null) record += `,"endDate":${quote(endDate)}`;
  const kept = Object.keys(attributes);
  // Sorted, because the order of columns does not matter.
  if (kept.length > 0) record += `,"attributes":${JSON.stringify(attributes, kept.toSorted())}`;
  if (readings.doubts.length > 0) record += `,"doubts":${JSON.stringify(toDoubted(readings))}`;
  return record;
}

function toSaid(said: NonNullable<Readings['said']>): string {
  let json = '{';
  for (const [field, text] of Object.entries(said)) json += `${json === '{' ? '' : ','}"${field}":${quote(text)}`;
  return `${json}}`;
}

/** The source text of each fact in doubt. */
function toDoubted({ doubts }: Readings): Record<string, string> {
  const doubted: Record<string, string> = {};
  for (const { field, value } of doubts) doubted[field] = field in doubted ? `${doubted[field]};${value}` : value;
  return doubted;
}

function toPartyJson({ role, type, name, birthDate, countries }: Party, sent: string): string {
  const quoted = quote(name);
  return `{"role":"${role}","type":"${type}","name":${quoted},"birthDate":${quoteOrNull(birthDate)},"countries":${toList(countries)},"sentName":${sent === name ? quoted : quote(sent)}}`;
}

function toList(countries: readonly string[]): string {
  if (countries.length === 0) return '[]';
  return `["${(countries.length === 1 ? countries : countries.toSorted()).join('","')}"]`;
}

function toParty(party: Party, readings: Readings): SlottedParty {
  const { doubts, said } = readings;
  return {
    ...party,
    countries: party.countries.toSorted(),
    sentName: toScreeningRequest(party).name,
    ...(doubts.length > 0 && { doubts: toDoubted(readings) }),
    ...(said !== null && { said }),
  };
}
