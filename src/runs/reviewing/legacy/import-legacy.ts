import { createHmac } from 'node:crypto';
import { StoreError } from '../../../errors.js';
import type { Queryable } from '../../../store/database/database.js';
import { readOrganisation } from '../../../store/organisations.js';
import { holdItems } from '../../../store/review/decisions.js';
import { type LegacyCustomer, readLegacyCustomers, saveLegacyDecisions } from '../../../store/review/legacy.js';
import type { Workplace } from '../../workplace.js';
import { type DecisionContext, decideItems, type ItemDecision, type Reviewer } from '../decide-items.js';
import { toItemStamp } from '../item-stamp.js';
import { type JudgedRow, judgeLegacyRows } from './judge-legacy-rows.js';
import { type LegacyRow, readLegacyRows } from './read-legacy-rows.js';

/** How the list of an older system is taken. */
interface LegacyImport {
  path: string;
  /** Who brings it. */
  reviewer: Reviewer;
  /** Without it everything is tried and nothing stored. */
  apply: boolean;
  /** Takes what can be taken although some rows cannot. */
  partial: boolean;
}

/** What became of the list, row by row. */
export interface ImportedLegacy extends TakenRows {
  /** Whether anything was stored. */
  isApplied: boolean;
}

interface TakenRows {
  rows: readonly JudgedRow[];
  /** How many of the decided ones another person has still to confirm. */
  proposed: number;
}

/** How long what an older system has decided holds before somebody here looks at it. */
const holdsMs = 90 * 86_400_000;
const referencesAtOnce = 1_000;

/** Ends a transaction that must leave nothing behind. */
class RolledBack extends Error {
  constructor(readonly taken: TakenRows) {
    super('rolled back');
  }
}

/**
 * Takes over the decisions of an older system for 90 days: all rows or none, unless `partial`; false positives of the sample stay open. Without
 * `apply` they are tried in the same way and rolled back. Throws RosterError when the file is no such list.
 */
export async function importLegacy(workplace: Workplace, request: LegacyImport): Promise<ImportedLegacy> {
  const { database, settings, clock } = workplace;
  const { name, digestKey } = await readOrganisation(database, settings.organisation);
  const read = await readLegacyRows(request.path);
  const context = { digestKey, reviewer: request.reviewer, now: clock.now(), review: settings.review };
  const isWhole = (rows: readonly JudgedRow[]) => rows.every(({ kind }) => kind !== 'refused' && kind !== 'unmatched');
  try {
    const taken = await database.transaction(async (transaction) => {
      const tried = await takeRows(transaction, { organisation: name, ...context }, read);
      if (!request.apply || !(isWhole(tried.rows) || request.partial)) throw new RolledBack(tried);
      return tried;
    });
    return { isApplied: true, ...taken };
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    return { isApplied: false, ...error.taken };
  }
}

async function takeRows(
  transaction: Queryable,
  { organisation, ...context }: DecisionContext & { organisation: string },
  read: readonly LegacyRow[],
): Promise<TakenRows> {
  const { digestKey, reviewer, now } = context;
  const known = await readCustomers(transaction, organisation, read);
  // Held before anything is judged by them, so that nobody decides in between.
  const held = await holdItems(
    transaction,
    known.flatMap(({ items }) => items.map(({ itemId }) => itemId)),
  );
  const customers = (await readCustomers(transaction, organisation, read)).map((customer) => ({
    ...customer,
    items: customer.items.filter(({ itemId }) => held.has(itemId)),
  }));
  const rows = judgeLegacyRows(read, customers, (itemId) => isSampled(itemId, digestKey));
  const taken = rows.flatMap((row) => (row.kind === 'decided' || row.kind === 'sample' ? [row] : []));
  await saveLegacyDecisions(
    transaction,
    taken.map(({ itemId, facts, kind }) => ({ ...facts, itemId, isSample: kind === 'sample' })),
    { reviewer: reviewer.name, isAttested: reviewer.isAttested, now },
  );
  const expiresAt = new Date(now.getTime() + holdsMs);
  const decisions = taken.flatMap(({ itemId, facts: { verdict, reason, comment }, kind }): ItemDecision[] => {
    const item = held.get(itemId);
    if (kind === 'sample' || item === undefined) return [];
    const stamp = toItemStamp(item, digestKey);
    return [{ itemId, verdict, reason, comment, stamp, origin: 'legacy', sheetId: null, expiresAt }];
  });
  const results = await decideItems(transaction, context, decisions);
  const refused = results.find(({ kind }) => kind === 'refused');
  if (refused !== undefined) {
    throw new StoreError('legacy_not_decided', `item ${refused.itemId} was held and could not be decided`);
  }
  return { rows, proposed: results.filter(({ kind }) => kind === 'proposed').length };
}

async function readCustomers(
  transaction: Queryable,
  organisation: string,
  rows: readonly LegacyRow[],
): Promise<readonly LegacyCustomer[]> {
  const references = [...new Set(rows.flatMap(({ facts }) => ('problem' in facts ? [] : facts.reference)))];
  const customers: LegacyCustomer[] = [];
  for (let start = 0; start < references.length; start += referencesAtOnce) {
    const chunk = references.slice(start, start + referencesAtOnce);
    customers.push(...(await readLegacyCustomers(transaction, organisation, chunk)));
  }
  return customers;
}

/** Of the false positives of an older system, how many somebody here looks at. */
const share = 0.05;

/**
 * Whether an item belongs to the sample: always the same for an item, whatever list it comes by, and told by nobody without the organisation's
 * key, so that whoever brings the list does not choose what is looked at.
 */
export function isSampled(itemId: number, digestKey: Buffer): boolean {
  const digest = createHmac('sha256', digestKey).update(`legacy sample ${itemId}`).digest();
  return digest.readUInt32BE(0) < share * 2 ** 32;
}
