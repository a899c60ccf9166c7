import { createIsRead, standardHeaders, standardPartyHeaders } from '../../roster/column-names.js';
import { type ChangeExample, ChangeTally, findNameColumn } from '../../roster/guards/judge-changes.js';
import { changeGuards, type GuardVerdict, judgeSnapshot, type Verdict } from '../../roster/guards/judge-snapshot.js';
import { type GuardSettings, guardsSchema } from '../../roster/guards/settings.js';
import { maxParties } from '../../roster/max-parties.js';
import type { PartySettings, RosterSettings } from '../../roster/settings.js';
import type { Queryable } from '../../store/database.js';
import { judgeRows } from '../../store/judge-rows.js';
import { findCrowd } from '../../store/party-crowds.js';
import { countOnTheWay, requireStaged, type Staged } from '../../store/require-staged.js';
import { readCases, saveSettledCases } from '../../store/roster-cases.js';
import { compareRecords, hasBirthDates, readComparedFigures, readStagedFields } from '../../store/roster-comparison.js';
import {
  countSnapshot,
  findKnown,
  type LeavingRule,
  type PlainCounts,
  readRosterBefore,
  type SnapshotCounts,
} from '../../store/roster-figures.js';
import {
  analyzeRecords,
  analyzeSteps,
  collectCases,
  compareWithKnown,
  isFirstImport,
  type StagedImport,
  takeRoom,
} from '../../store/settle-staging.js';
import { refuseParties, settleCase } from './settle-case.js';
import type { StagedSource } from './stage-roster.js';

/** A staged snapshot of which is known what it would change, and whether guards hold it. */
export interface SettledSnapshot {
  counts: SnapshotCounts;
  plain: PlainCounts;
  isFirst: boolean;
  /** Whether it is rejects of this roster that were fed back. */
  isFedBack: boolean;
  heldBy: readonly GuardVerdict[];
  /** The first of the changes that guards found, before and after; none where none of them holds it because of changes. */
  changes: readonly ChangeExample[];
  onTheWay: Staged;
}

const batchSize = 500;

/** Decides what every staged row stands for and what the snapshot changes, without changing anything of the roster. */
export async function settleSnapshot(
  transaction: Queryable,
  staged: StagedImport,
  roster: RosterSettings,
  source: Pick<
    StagedSource,
    'headers' | 'partyHeaders' | 'unmapped' | 'cutRows' | 'isFedBack' | 'ordinals' | 'doubts' | 'controlTotal'
  >,
  rule: LeavingRule & { mode: 'test' | 'live' },
): Promise<SettledSnapshot> {
  const { rosterId, isDelta } = staged;
  await takeRoom(transaction);
  const judgedRows = await judgeRows(transaction, staged);
  const crowd = await findCrowd(transaction, staged.runId, maxParties);
  if (crowd !== null) throw refuseParties(crowd.reference, crowd.parties);
  await collectCases(transaction, staged, judgedRows);
  const isFirst = await isFirstImport(transaction, rosterId);
  if (!isFirst) await compareWithKnown(transaction, staged);
  await settleCases(transaction, staged);
  await analyzeSteps(transaction);
  const { counts, plain } = await countSnapshot(transaction, { ...staged, isFirst }, rule);
  if (isFirst && (plain.several > 0 || plain.customers < counts.rows)) await analyzeRecords(transaction);
  const onTheWay = await countOnTheWay(transaction, staged.runId);
  requireStaged(onTheWay.rows, source.ordinals);
  const before = await readRosterBefore(transaction, rosterId, rule.importedAt);
  const { known, mostIn30Days, partyRows: partyRowsBefore } = before;
  const isFedBack = source.isFedBack && isDelta && !isFirst;
  const figures = { ...counts, isFirst, isDelta, isFedBack, known, mostIn30Days, partyRowsBefore };
  const settings = guardsSchema.parse(roster.guards ?? {});
  const compared = { headers: source.headers, known, now: rule.importedAt };
  const changes = isFirst ? noChanges : await judgeChanges(transaction, staged, compared, settings);
  const heldBy = judgeSnapshot(
    {
      ...figures,
      headers: source.headers,
      headersBefore: before.headers,
      partyHeaders: source.partyHeaders,
      partyHeadersBefore: before.partyHeaders,
      isRead: toIsRead(roster, source.headers, standardHeaders),
      isPartyRead: toIsPartyRead(roster, source.partyHeaders),
      unmapped: source.unmapped,
      cutOff: await describeCuts(transaction, rosterId, isFirst, source.cutRows),
      isLive: rule.mode === 'live',
      doubts: source.doubts,
      ...(source.controlTotal !== undefined && { controlTotal: source.controlTotal }),
    },
    settings,
    changes.verdicts,
  );
  return { counts, plain, isFirst, isFedBack, heldBy, changes: changes.examples, onTheWay };
}

/** Without a header columns go by number, and one that is new may stand before others. */
function toIsRead(
  { csv, columns }: Pick<RosterSettings, 'csv' | 'columns'> | PartySettings,
  headers: readonly string[],
  standard: Readonly<Record<string, string>>,
): (header: string) => boolean {
  return csv?.header === false ? () => true : createIsRead(headers, columns, standard);
}

/** Headers of related parties begin with the number of their source, from 1. */
function toIsPartyRead({ parties }: RosterSettings, headers: readonly string[]): (header: string) => boolean {
  const sources = parties.map((settings, index) => {
    const prefix = `${index + 1}: `;
    const own = headers.flatMap((header) => (header.startsWith(prefix) ? [header.slice(prefix.length)] : []));
    return { prefix, isRead: toIsRead(settings, own, standardPartyHeaders) };
  });
  return (header) => {
    const source = sources.find(({ prefix }) => header.startsWith(prefix));
    return source === undefined || source.isRead(header.slice(source.prefix.length));
  };
}

/** Says which files end in the middle of a row. A line below the last row, such as a sum, may end without an ending too: it names no known customer. */
async function describeCuts(
  transaction: Queryable,
  rosterId: number,
  isFirst: boolean,
  cutRows: StagedSource['cutRows'],
): Promise<readonly string[]> {
  const references = cutRows.flatMap(({ reference }) => reference ?? []);
  const known = isFirst ? references : await findKnown(transaction, rosterId, references);
  return cutRows.flatMap(({ reference, file, line }) =>
    reference !== null && known.includes(reference)
      ? [
          `${file === null ? '' : `${file}, `}line ${line} is the last and ends in the middle of its row, so the file is cut off`,
        ]
      : [],
  );
}

/** What the changes of known customers are held by, and the first of them. */
interface JudgedChanges {
  verdicts: readonly Verdict[];
  examples: readonly ChangeExample[];
}

const noChanges: JudgedChanges = { verdicts: [], examples: [] };

async function judgeChanges(
  transaction: Queryable,
  staged: StagedImport,
  { headers, known, now }: { headers: readonly string[]; known: number; now: Date },
  settings: GuardSettings,
): Promise<JudgedChanges> {
  const tally = new ChangeTally();
  for await (const batch of compareRecords(transaction, staged, { now, guards: changeGuards })) {
    for (const customer of batch) tally.add(customer);
  }
  const scale = {
    known,
    ...(await readComparedFigures(transaction, staged)),
    hasBirthDates: tally.losesBirthDates && (await hasBirthDates(transaction, staged.runId)),
    movedTo: tally.mayBeSwapped(known) ? await findMovedNames(transaction, staged.runId, headers, tally.sample) : null,
  };
  const verdicts = tally.judge(scale, settings);
  return { verdicts, examples: verdicts.length === 0 ? [] : tally.listExamples() };
}

/** In which column of today's rows the most renamed customers have their former name. */
async function findMovedNames(
  transaction: Queryable,
  runId: number,
  headers: readonly string[],
  sample: ChangeTally['sample'],
): Promise<{ column: string; customers: number } | null> {
  const rows = await readStagedFields(
    transaction,
    runId,
    headers,
    sample.map(({ reference }) => reference),
  );
  const found = new Map<string, number>();
  for (const { reference, before } of sample) {
    const column = findNameColumn(rows.get(reference) ?? {}, before);
    if (column !== null) found.set(column, (found.get(column) ?? 0) + 1);
  }
  const [most] = [...found].toSorted(([, one], [, other]) => other - one);
  return most === undefined ? null : { column: most[0], customers: most[1] };
}

async function settleCases(transaction: Queryable, staged: StagedImport): Promise<void> {
  let after = '';
  for (;;) {
    const cases = await readCases(transaction, staged, after, batchSize);
    const last = cases.at(-1);
    if (last === undefined) return;
    await saveSettledCases(transaction, staged.runId, cases.map(settleCase));
    after = last.reference;
  }
}
