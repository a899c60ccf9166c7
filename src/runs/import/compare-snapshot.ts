import { RosterError } from '../../errors.js';
import { formatCount } from '../../reports/text.js';
import { ChangeTally, hasLostNameEnd } from '../../roster/change-guards.js';
import type { FactMapping } from '../../roster/compare-records.js';
import { maxParties } from '../../roster/customer.js';
import type { ColumnDoubts } from '../../roster/doubts.js';
import { isOftenSubstitute, type SharedDate, sharing } from '../../roster/fact-dates.js';
import { type FieldChanges, FieldTally, type RosterChanges } from '../../roster/field-changes.js';
import { assessSnapshot, guardsSchema, type WrittenGuards } from '../../roster/guards.js';
import { createIsRead, standardHeaders, standardPartyHeaders } from '../../roster/headers.js';
import { listPartySources, type PartySettings, type RosterSettings } from '../../roster/settings.js';
import type { Queryable } from '../../store/database/database.js';
import { type ImportConflict, resolveRows } from '../../store/roster/conflicts.js';
import { compareRecords, readComparedFigures, summarizeSnapshot } from '../../store/roster/figures.js';
import { readAcceptedQuality } from '../../store/roster/imports.js';
import {
  findSharedPartyDates,
  keepSharedEnds,
  markSharedBirthDates,
  markSharedPartyDates,
  readSharedDates,
} from '../../store/roster/shared-dates.js';
import { digestRecord, type SlottedParty, type SlottedRecord, type StagedImport } from '../../store/roster/staging.js';
import { isOnTrial } from '../../store/runs.js';
import type { RunMode } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { findRosterPath } from '../roster-scope.js';
import type { StagedSource } from './stage.js';

type SnapshotRule = Awaited<ReturnType<typeof toSnapshotRule>>;

/** The rule by which a snapshot of a roster counts now; `path` is the path of the roster's settings. */
export const toSnapshotRule = async (
  { clock, settings }: Pick<AppContext, 'clock' | 'settings'>,
  database: Queryable,
  roster: string,
  mode: RunMode,
) => ({
  importedAt: clock.now(),
  leaveAfterDays: settings.screening.leaveAfterDays,
  mode,
  isTrial: await isOnTrial(database, settings.organisation, mode),
  path: findRosterPath(settings.rosters, roster),
});

/** Determines the meaning of every staged row and the effect of the snapshot, without changing the roster. */
export async function compareSnapshot(
  transaction: Queryable,
  staged: StagedImport,
  roster: RosterSettings,
  source: StagedSource,
  rule: SnapshotRule,
) {
  const doubts = await doubtSharedDates(transaction, staged, source);
  await resolveRows(transaction, staged, maxParties, { resolve: resolveConflict, refuse: refuseParties });
  const summary = await summarizeSnapshot(transaction, staged, {
    ...rule,
    ordinals: source.ordinals,
    references: listReferences(source.cutRows),
    mapping: toFactMapping(roster),
  });
  const { counts, onTheWay, before } = summary;
  const { isFirst } = before;
  const settings = { ...guardsSchema.parse(roster.guards ?? {}), path: `${rule.path}.guards` };
  const compared = { ...before, headers: source.headers, now: rule.importedAt };
  const changes = isFirst ? noChanges : await assessChanges(transaction, staged, compared, settings);
  const { isDelta } = staged;
  const isFedBack = source.isFedBack && isDelta && !isFirst;
  const figures = { ...toGuardFigures(roster, source, summary, changes.shortened), isDelta, isFedBack, doubts };
  const judged = { ...figures, isTrial: rule.isTrial, isLive: rule.mode === 'live' };
  const found = assessSnapshot(judged, settings, changes.verdicts);
  // What passed in a trial, or was accepted, is looked up only when it matters.
  const accepted =
    isFirst || found.length === 0 ? undefined : await readAcceptedQuality(transaction, staged, found, rule);
  const verdicts = accepted === undefined ? found : assessSnapshot({ ...judged, accepted }, settings, changes.verdicts);
  return {
    counts,
    isFirst,
    isFedBack,
    onTheWay,
    doubts,
    heldBy: verdicts.filter(({ isWarning }) => !isWarning),
    warnings: verdicts.filter(({ isWarning }) => isWarning),
    changes: changes.examples,
    rosterChanges: toRosterChanges(summary, changes.fields),
  };
}

type SnapshotSummary = Awaited<ReturnType<typeof summarizeSnapshot>>;

const noChanges: Awaited<ReturnType<typeof assessChanges>> = { verdicts: [], examples: [], fields: [], shortened: [] };

const listReferences = (rows: StagedSource['cutRows']): readonly string[] =>
  rows.flatMap(({ reference }) => reference ?? []);

/** What guards compare: the snapshot beside the roster before it; `shortened` are customers whose name has lost its end. */
function toGuardFigures(
  roster: RosterSettings,
  source: StagedSource,
  { counts, before }: SnapshotSummary,
  shortened: readonly string[],
) {
  const { headers, partyHeaders, unmapped, cutRows, openRows, controlTotal } = source;
  const { isFirst, known, mostIn30Days } = before;
  return {
    ...counts,
    isFirst,
    known,
    mostIn30Days,
    headers,
    headersBefore: before.headers,
    partyRowsBefore: before.partyRows,
    partyHeaders,
    partyHeadersBefore: before.partyHeaders,
    isRead: toIsRead(roster, headers, standardHeaders),
    isPartyRead: toIsPartyRead(roster, partyHeaders),
    unmapped,
    cutOff: [
      ...describeCuts(cutRows, isFirst ? listReferences(cutRows) : before.references),
      ...describeCuts(openRows, shortened),
    ],
    ...(controlTotal !== undefined && { controlTotal }),
  };
}

const toRosterChanges = (
  { counts: { joined, newlyAbsent, leavers, returned }, before: { known, reread } }: SnapshotSummary,
  fields: readonly FieldChanges[],
): RosterChanges => ({ known, joined, missing: newlyAbsent, offboarded: leavers, returned, reread, fields });

/**
 * A date that too many rows share is a substitute, whatever it is: such birth dates become uncertain, and such end
 * dates offboard nobody. Gives all doubts of the source. A delta says nothing about shares of the roster, so those of
 * its last whole snapshot hold for birth dates.
 */
async function doubtSharedDates(
  transaction: Queryable,
  staged: StagedImport,
  { births, ends, partyBirths, doubts }: Pick<StagedSource, 'births' | 'ends' | 'partyBirths' | 'doubts'>,
): Promise<readonly ColumnDoubts[]> {
  const former = await readSharedDates(transaction, staged.rosterId, births.column);
  const found = staged.isDelta ? former.map((date) => ({ date, rows: 0 })) : births.listShared(former);
  const marked = await markSharedBirthDates(transaction, staged.runId, listCertain(found));
  let all = births.addTo(doubts, 'birthDate', staged.isDelta ? marked : found);
  for (const tally of partyBirths) {
    const shared = await findSharedPartyDates(transaction, staged.runId, listDates(tally.listShared()), sharing);
    await markSharedPartyDates(transaction, staged.runId, listCertain(shared));
    all = tally.addTo(all, 'birthDate', shared);
  }
  const kept = await keepSharedEnds(transaction, staged, listDates(ends.listShared()), sharing);
  return ends.addTo(all, 'endDate', kept);
}

const listDates = (shared: readonly SharedDate[]): readonly string[] => shared.map(({ date }) => date);

/** Dates that are uncertain by themselves need no mark. */
const listCertain = (shared: readonly SharedDate[]): readonly string[] =>
  listDates(shared).filter((date) => !isOftenSubstitute(date));

/** Without a header columns are numbered, so a new column may shift others: then every column counts. */
function toIsRead(
  { csv, columns }: Pick<RosterSettings, 'csv' | 'columns'> | PartySettings,
  headers: readonly string[],
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  return csv?.header === false ? () => true : createIsRead(headers, columns, standard);
}

/** Headers of related parties begin with the number of their source, from 1. */
function toIsPartyRead(roster: RosterSettings, headers: readonly string[]): (header: string) => boolean {
  const sources = listPartySources(roster).map((settings, index) => {
    const prefix = `${index + 1}: `;
    const own = headers.flatMap((header) => (header.startsWith(prefix) ? [header.slice(prefix.length)] : []));
    return { prefix, isRead: toIsRead(settings, own, standardPartyHeaders) };
  });
  return (header) => {
    const source = sources.find(({ prefix }) => header.startsWith(prefix));
    return source === undefined || source.isRead(header.slice(source.prefix.length));
  };
}

/**
 * Describes the files that end within a row of these customers. A line below the last row, such as a sum, may lack an
 * ending too, but names no known customer.
 */
function describeCuts(lastRows: StagedSource['openRows'], known: readonly string[]): readonly string[] {
  return lastRows.flatMap(({ reference, file, line }) =>
    reference !== null && known.includes(reference)
      ? [`${file === null ? '' : `${file}, `}line ${line}, the last one, ends within its row, so the file is cut off`]
      : [],
  );
}

async function assessChanges(
  transaction: Queryable,
  staged: StagedImport,
  {
    headers,
    known,
    now,
    ...before
  }: Pick<SnapshotSummary['before'], 'known' | 'reread' | 'rereadInWeek'> & { headers: readonly string[]; now: Date },
  settings: WrittenGuards,
) {
  const tally = new ChangeTally(before);
  const changed = new FieldTally();
  const shortened: string[] = [];
  for await (const batch of compareRecords(transaction, staged, now)) {
    for (const customer of batch) {
      tally.add(customer);
      if (customer.next !== null) changed.add(customer.known, customer.next);
      if (hasLostNameEnd(customer)) shortened.push(customer.reference);
    }
  }
  const { fields, ...figures } = await readComparedFigures(transaction, staged, {
    asksBirthDates: tally.losesBirthDates,
    headers,
    customers: tally.mayBeSwapped(known) ? tally.sample : [],
  });
  const verdicts = tally.assess({ known, ...figures, movedTo: tally.findMovedNames(fields) }, settings);
  const examples = verdicts.length === 0 ? [] : tally.listExamples();
  return { verdicts, examples, fields: changed.list(), shortened };
}

const ownFacts = ['type', 'birthDate', 'countries', 'riskTier', 'language'] as const;
const partyFacts = ['type', 'birthDate', 'countries'] as const;

/** The settings that read facts; null for one that is not set. */
export function toFactMapping({ columns, parties }: RosterSettings): FactMapping {
  const rowParties = columns.parties ?? [];
  return Object.fromEntries([
    ...ownFacts.map((fact) => [`columns.${fact}`, columns[fact] ?? null]),
    ...rowParties.flatMap((party, at) =>
      partyFacts.map((fact) => [`columns.parties[${at}].${fact}`, party[fact] ?? null]),
    ),
    ...parties.flatMap(({ columns: own }, at) =>
      partyFacts.map((fact) => [`parties[${at}].columns.${fact}`, own[fact] ?? null]),
    ),
  ]);
}

const ownRoles = new Set(['customer', 'alias']);
const conflictRole = 'conflicting_row';

/**
 * Builds a customer from all its rows and its known record: the accepted row, otherwise the last accepted record; the
 * related parties; and every party of contradicting rows, so that each name is screened. Throws RosterError
 * `too_many_parties`.
 */
function resolveConflict(given: ImportConflict) {
  const known = given.knownRecord?.parties.filter((party) => party !== null) ?? [];
  const isConflict = given.conflicts.length > 0;
  const keepsRest = given.ownRecord === null && !isConflict;
  const base = given.ownRecord?.parties.filter((party) => party !== null) ?? known;
  const own = base.filter(({ role }) => ownRoles.has(role));
  const related = [
    ...given.related,
    ...(given.keepsRelated ? known.filter(({ role }) => !ownRoles.has(role) && role !== conflictRole) : []),
  ];
  const conflicting = isConflict
    ? given.conflicts.flat().map((party) => ({ ...party, role: conflictRole }))
    : keepsRest
      ? known.filter(({ role }) => role === conflictRole)
      : [];
  const extras = [...toDistinct(related), ...toDistinct(conflicting)];
  if (own.length + extras.length > maxParties) throw refuseParties(given.reference, own.length + extras.length);
  const ownDigest = given.ownDigest ?? toKnownOwnDigest(given, known);
  const recordDigest =
    extras.length === 0 && ownDigest !== null
      ? ownDigest
      : digestRecord(JSON.stringify([ownDigest, ...extras.map(toPartyKey)]));
  const { reference, customerId, version, leaves, isShown } = given;
  const hasRecord = given.ownRecord !== null || isConflict;
  const where = { reference, customerId, version, leaves, isShown, hasRecord };
  const rest = given.ownRecord ?? given.knownRecord ?? { riskTier: null };
  const digests = { recordDigest, ownDigest: extras.length === 0 ? null : ownDigest };
  if (recordDigest === given.knownDigest) {
    return { ...where, kind: 'same' as const, record: null, recordDigest: null, ownDigest: null };
  }
  const slots = new Map(Object.entries(given.slots ?? {}).map(([place, party]) => [Number(place), party]));
  const record: SlottedRecord = {
    ...rest,
    parties: assignPartySlots(slots, [...own, ...extras]),
  };
  return { ...where, kind: customerId === null ? ('new' as const) : ('changed' as const), record, ...digests };
}

/** Creates the error for a customer with too many parties. The usual cause is a wrong column for the customer id. */
function refuseParties(reference: string, parties: number): RosterError {
  return new RosterError(
    'too_many_parties',
    `customer ${JSON.stringify(reference)} would have ${formatCount(parties)} parties, and a customer has at most ${formatCount(maxParties)}. ` +
      'Nothing was changed. Check which column of the source of related parties holds the customer id, and the rows of this customer.',
  );
}

/** The digest of the customer's own last accepted row; null when there was none. */
function toKnownOwnDigest(
  { knownDigest, knownOwnDigest }: ImportConflict,
  known: readonly SlottedParty[],
): string | null {
  return known.some(({ role }) => role === 'customer') ? (knownOwnDigest ?? knownDigest) : null;
}

function toDistinct(parties: readonly SlottedParty[]): readonly SlottedParty[] {
  const byKey = new Map(parties.map((party) => [toPartyKey(party), party]));
  return [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, party]) => party);
}

/** Gives the same text for the same party: its facts, those in doubt included, in a fixed order. */
export const toPartyKey = ({ role, type, sentName, name, birthDate, countries, doubts }: SlottedParty): string =>
  JSON.stringify([
    role,
    type,
    sentName,
    name,
    birthDate ?? '',
    countries,
    ...(doubts === undefined ? [] : [Object.entries(doubts).toSorted()]),
  ]);

const toNameKey = ({ role, type, sentName }: SlottedParty): string => JSON.stringify([role, type, sentName]);

/** A party whose role changes is the same one; an alias and a contradicting row are not. */
const toRelatedKey = (party: SlottedParty): string =>
  toNameKey(party.role === 'alias' || party.role === 'conflicting_row' ? party : { ...party, role: 'other' });

/**
 * Assigns each party its slot in the record; `slots` are all former parties. The customer itself has slot 0. A known
 * party keeps its slot, found by all facts, then by role, type and sent name, then by type and sent name. Every other
 * party gets a new slot. A slot without a current party holds null.
 */
export function assignPartySlots(
  slots: ReadonlyMap<number, SlottedParty>,
  parties: readonly SlottedParty[],
): (SlottedParty | null)[] {
  const slotted = new Map<number, SlottedParty>();
  const others: SlottedParty[] = [];
  for (const party of parties) {
    if (party.role === 'customer') slotted.set(0, party);
    else others.push(party);
  }
  const known = [...slots].filter(([place]) => place > 0).toSorted(([one], [other]) => one - other);
  let waiting: readonly SlottedParty[] = others;
  for (const toKey of [toPartyKey, toNameKey, toRelatedKey]) {
    const free = new Map<string, number[]>();
    for (const [place, party] of known) {
      if (!slotted.has(place)) free.set(toKey(party), [...(free.get(toKey(party)) ?? []), place]);
    }
    waiting = waiting.filter((party) => {
      const place = free.get(toKey(party))?.shift();
      if (place === undefined) return true;
      slotted.set(place, party);
      return false;
    });
  }
  let next = Math.max(0, ...slots.keys()) + 1;
  for (const party of waiting) {
    slotted.set(next, party);
    next += 1;
  }
  const length = Math.max(...slotted.keys()) + 1;
  return Array.from({ length }, (_, place) => slotted.get(place) ?? null);
}
