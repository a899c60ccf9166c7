import { type GuardVerdict, judgeSnapshot } from '../../roster/guards/judge-snapshot.js';
import { guardsSchema } from '../../roster/guards/settings.js';
import { maxParties } from '../../roster/max-parties.js';
import type { RosterSettings } from '../../roster/settings.js';
import type { Queryable } from '../../store/database.js';
import { judgeRows } from '../../store/judge-rows.js';
import { findCrowd } from '../../store/party-crowds.js';
import { countOnTheWay, requireStaged, type Staged } from '../../store/require-staged.js';
import { readCases, saveSettledCases } from '../../store/roster-cases.js';
import {
  countSnapshot,
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
  heldBy: readonly GuardVerdict[];
  onTheWay: Staged;
}

const batchSize = 500;

/** Decides what every staged row stands for and what the snapshot changes, without changing anything of the roster. */
export async function settleSnapshot(
  transaction: Queryable,
  staged: StagedImport,
  roster: RosterSettings,
  source: Pick<StagedSource, 'headers' | 'partyHeaders' | 'ordinals'>,
  rule: LeavingRule,
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
  const figures = { ...counts, isFirst, isDelta, known, mostIn30Days, partyRowsBefore };
  const heldBy = judgeSnapshot(
    {
      ...figures,
      headers: source.headers,
      headersBefore: before.headers,
      partyHeaders: source.partyHeaders,
      partyHeadersBefore: before.partyHeaders,
    },
    guardsSchema.parse(roster.guards ?? {}),
  );
  return { counts, plain, isFirst, heldBy, onTheWay };
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
