import type { DispositionVerdict } from '../../matches/review/disposition.js';
import type { Queryable } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { readReferences } from '../../store/review/decisions.js';
import type { Workplace } from '../workplace.js';
import {
  type AcceptanceList,
  type AcceptanceResult,
  type AcceptedRow,
  acceptDiscrepancies,
} from './accept-discrepancies.js';
import { openBulkRows } from './bulk-absences.js';
import { type DecisionRefusal, type DecisionResult, decideItems, type Reviewer } from './decide-items.js';
import { type FaultyRow, type FilledList, type FilledRow, readReviewList } from './read-decisions.js';

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
  /** Proposed the same way by the same person before, and still to be confirmed by another. */
  proposedAlready: readonly FilledRow[];
  refused: readonly { row: FilledRow; reason: DecisionRefusal }[];
  faulty: readonly FaultyRow[];
  undecided: number;
  /** Of these: rows with a reason all the same. */
  onlyReasons: number;
  /** What became of the discrepancies that it accepts; null where it is no list of any. */
  discrepancies:
    | (Pick<AcceptanceList, 'faulty' | 'untouched'> & {
        rows: readonly { row: AcceptedRow; result: AcceptanceResult }[];
      })
    | null;
}

interface Tried {
  results: readonly DecisionResult[];
  acceptances: readonly AcceptanceResult[];
}

/** Ends a transaction that must leave nothing behind. */
class RolledBack extends Error {
  constructor(readonly tried: Tried) {
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
  const expandBulk = openBulkRows(database, digestKey, request.reviewer);
  const { decisions: list, acceptances } = await readReviewList(request.path, digestKey, expandBulk);
  const { undecided, onlyReasons } = list;
  const { filled, faulty } = await nameCustomers(database, list);
  const decisions = filled.map((row) => ({ ...row, origin: 'review', expiresAt: null }) as const);
  const context = { digestKey, reviewer: request.reviewer, now, review: settings.review };
  let isApplied = false;
  let tried: Tried;
  try {
    tried = await database.transaction(async (transaction): Promise<Tried> => {
      const both = {
        results: await decideItems(transaction, context, decisions),
        acceptances: await acceptDiscrepancies(transaction, context, acceptances?.filled ?? []),
      };
      const isWhole =
        faulty.length + (acceptances?.faulty.length ?? 0) === 0 &&
        [...both.results, ...both.acceptances].every(({ kind }) => kind !== 'refused');
      if (!request.apply || !(isWhole || request.partial)) throw new RolledBack(both);
      return both;
    });
    isApplied = true;
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    tried = error.tried;
  }
  const { results } = tried;
  const byItem = new Map(results.map((result) => [result.itemId, result]));
  const ofKind = (kind: DecisionResult['kind']) => filled.filter(({ itemId }) => byItem.get(itemId)?.kind === kind);
  const isPending = (itemId: number): boolean => {
    const result = byItem.get(itemId);
    return result?.kind === 'same_already' && result.isPending;
  };
  return {
    isApplied,
    decided: ofKind('decided'),
    proposed: ofKind('proposed'),
    confirmed: ofKind('confirmed'),
    instead: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result !== undefined && 'instead' in result ? [{ row, ...result.instead }] : [];
    }),
    sameAlready: ofKind('same_already').filter(({ itemId }) => !isPending(itemId)),
    proposedAlready: ofKind('same_already').filter(({ itemId }) => isPending(itemId)),
    refused: filled.flatMap((row) => {
      const result = byItem.get(row.itemId);
      return result?.kind === 'refused' ? [{ row, reason: result.reason }] : [];
    }),
    faulty,
    undecided,
    onlyReasons,
    discrepancies: acceptances && {
      ...{ faulty: acceptances.faulty, untouched: acceptances.untouched },
      rows: acceptances.filled.flatMap((row, index) => {
        const result = tried.acceptances[index];
        return result === undefined ? [] : [{ row, result }];
      }),
    },
  };
}

/** Each row with the customer of its item; spreadsheets mangle references, so the list's own is taken only where the item is not known. */
async function nameCustomers(
  database: Queryable,
  { filled, faulty }: Pick<FilledList, 'filled' | 'faulty'>,
): Promise<Pick<FilledList, 'filled' | 'faulty'>> {
  const itemIds = [...filled, ...faulty].flatMap(({ itemId }) => itemId ?? []);
  const references = await readReferences(database, itemIds);
  const toCustomer = ({ itemId, customer }: FilledRow | FaultyRow): string | null =>
    (itemId === null ? undefined : references.get(itemId)) ?? customer;
  return {
    filled: filled.map((row) => ({ ...row, customer: toCustomer(row) })),
    faulty: faulty.map((row) => ({ ...row, customer: toCustomer(row) })),
  };
}
