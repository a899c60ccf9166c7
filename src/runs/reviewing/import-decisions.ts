import type { DispositionVerdict } from '../../matches/review/disposition.js';
import { readOrganisation } from '../../store/organisations.js';
import type { Workplace } from '../workplace.js';
import { type DecisionRefusal, type DecisionResult, decideItems, type Reviewer } from './decide-items.js';
import { type FaultyRow, type FilledRow, readDecisions } from './read-decisions.js';

/** How a working list is taken. */
export interface DecisionImport {
  path: string;
  reviewer: Reviewer;
  /** Without it everything is tried and nothing stored. */
  apply: boolean;
  /** Takes what can be taken although some rows cannot. */
  partial: boolean;
}

/** What became of a working list. */
export interface ImportedDecisions {
  /** Whether anything was stored. */
  isApplied: boolean;
  decided: readonly FilledRow[];
  /** Decided by one person where it takes two. */
  proposed: readonly FilledRow[];
  /** Proposed by somebody else, and decided by that. */
  confirmed: readonly FilledRow[];
  /** Of what is decided or proposed: what takes the place of somebody else's proposal. */
  instead: readonly { row: FilledRow; verdict: DispositionVerdict; reviewer: string }[];
  /** Decided the same way by the same person before: a list that is imported twice decides nothing twice. */
  sameAlready: readonly FilledRow[];
  refused: readonly { row: FilledRow; reason: DecisionRefusal }[];
  faulty: readonly FaultyRow[];
  undecided: number;
  /** Of these: rows with a reason all the same. */
  onlyReasons: number;
}

/** Ends a transaction that must leave nothing behind. */
class RolledBack extends Error {
  constructor(readonly results: readonly DecisionResult[]) {
    super('rolled back');
  }
}

/**
 * Takes the decisions of a working list: all of them or none, unless `partial`. Without `apply` they are tried in the same way and rolled back,
 * so that the preview says what would become of each. Throws RosterError when the file is no working list.
 */
export async function importDecisions(workplace: Workplace, request: DecisionImport): Promise<ImportedDecisions> {
  const { database, settings, clock } = workplace;
  const now = clock.now();
  const { digestKey } = await readOrganisation(database, settings.organisation);
  const { filled, faulty, undecided, onlyReasons } = await readDecisions(request.path, digestKey);
  const decisions = filled.map((row) => ({ ...row, origin: 'review', expiresAt: null }) as const);
  const context = { digestKey, reviewer: request.reviewer, now, review: settings.review };
  let isApplied = false;
  let results: readonly DecisionResult[];
  try {
    results = await database.transaction(async (transaction) => {
      const tried = await decideItems(transaction, context, decisions);
      const isWhole = faulty.length === 0 && tried.every(({ kind }) => kind !== 'refused');
      if (!request.apply || !(isWhole || request.partial)) throw new RolledBack(tried);
      return tried;
    });
    isApplied = true;
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    results = error.results;
  }
  const byItem = new Map(results.map((result) => [result.itemId, result]));
  const ofKind = (kind: DecisionResult['kind']) => filled.filter(({ itemId }) => byItem.get(itemId)?.kind === kind);
  return {
    isApplied,
    decided: ofKind('decided'),
    proposed: ofKind('proposed'),
    confirmed: ofKind('confirmed'),
    instead: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result !== undefined && 'instead' in result ? [{ row, ...result.instead }] : [];
    }),
    sameAlready: ofKind('same_already'),
    refused: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result?.kind === 'refused' ? [{ row, reason: result.reason }] : [];
    }),
    faulty,
    undecided,
    onlyReasons,
  };
}
