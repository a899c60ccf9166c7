import { createHmac } from 'node:crypto';
import { toItemCode, toSeenVersion } from '../../matches/item-code.js';
import type { WaitingItem } from '../../reports/list-facts.js';
import type { Queryable } from '../../store/database/database.js';
import { type DecidableItem, readDecidableItems } from '../../store/review/decisions.js';
import { findPlainlyAbsent, readBulk, saveBulk } from '../../store/review/waiting.js';
import { toItemSeenVersion } from './items.js';
import type { ExpandBulk } from './list-table.js';
import type { Reviewer } from './people.js';

/** The most alerts that one row confirms. */
const mostAlerts = 500;
/** Of each such row these many customers are named for quality assurance: a share, and at least so many. */
const sample = { share: 0.05, least: 5 };

interface ListedAlert {
  itemId: number;
  shown: WaitingItem;
}

/**
 * Rows that each confirm the absent alerts of one listed party and one kind of absence as no longer matched: for alerts that nobody has
 * proposed anything about, that are no true match, of customers whose record is as it was and whose last answer is whole. The row is bound
 * to a digest of its alerts as they are now.
 */
export async function listBulkRows(
  database: Queryable,
  alerts: readonly ListedAlert[],
  { sheetId, digestKey }: { sheetId: number; digestKey: Buffer },
): Promise<readonly WaitingItem[]> {
  const absent = alerts.filter(({ shown }) => shown.absence !== null && shown.absence !== 'customer_changed');
  const accounts = await findPlainlyAbsent(
    database,
    absent.map(({ itemId }) => itemId),
  );
  const groups = new Map<string, ListedAlert[]>();
  for (const alert of absent) {
    const account = accounts.get(alert.itemId);
    if (account === undefined) continue;
    const { absence, listed } = alert.shown;
    const key = JSON.stringify([account, absence, listed.id, listed.schema, listed.name]);
    groups.set(key, [...(groups.get(key) ?? []), alert]);
  }
  const rows: WaitingItem[] = [];
  for (const group of groups.values()) {
    for (let start = 0; start < group.length; start += mostAlerts) {
      const chunk = group.slice(start, start + mostAlerts);
      const [first] = chunk;
      if (first === undefined || chunk.length < 2) continue;
      const itemIds = chunk.map(({ itemId }) => itemId).sort((left, right) => left - right);
      const bulkId = await saveBulk(database, sheetId, itemIds);
      const seenVersion = toBulkSeenVersion(await readDecidableItems(database, itemIds), itemIds, digestKey);
      rows.push({
        ...first.shown,
        mark: toItemCode({ itemId: bulkId, seenVersion }, digestKey, 'B'),
        party: { ...first.shown.party, reference: `${chunk.length} alerts`, name: '', birthDate: null, countries: [] },
        corroboration: { birthDate: 'unknown', country: 'unknown' },
        lastDecision: null,
        legacy: null,
        owner: null,
        bulk: { alerts: chunk.length, sample: chooseSample(chunk, digestKey) },
      });
    }
  }
  return rows;
}

/** Which customers are named depends on the organisation's key and the alert alone: nobody chooses them. */
function chooseSample(alerts: readonly ListedAlert[], digestKey: Buffer): readonly string[] {
  const place = ({ itemId }: ListedAlert): string =>
    createHmac('sha256', digestKey).update(`sample ${itemId}`).digest('hex');
  return alerts
    .toSorted((left, right) => (place(left) < place(right) ? -1 : 1))
    .slice(0, Math.max(sample.least, Math.ceil(sample.share * alerts.length)))
    .map(({ shown }) => shown.party.reference);
}

function toBulkSeenVersion(
  items: ReadonlyMap<number, DecidableItem>,
  itemIds: readonly number[],
  digestKey: Buffer,
): string {
  const seenVersions = itemIds.map((itemId) => {
    const item = items.get(itemId);
    return item === undefined ? 'unknown' : `${itemId} ${item.absence} ${toItemSeenVersion(item, digestKey)}`;
  });
  return toSeenVersion(
    createHmac('sha256', digestKey)
      .update(`bulk ${seenVersions.join(' ')}`)
      .digest('hex'),
  );
}

/** Gives the rows of the alerts that a bulk row names: only while every one of them is as it was when the list was written. */
export const openBulkRows =
  (database: Queryable, digestKey: Buffer, reviewer: Reviewer): ExpandBulk =>
  async ({ bulkId, seenVersion, ...row }) => {
    const fault = (problem: string) => ({ line: row.line, customer: row.customer, itemId: null, problem });
    if (row.verdict !== 'no_longer_matched') return fault('many alerts at once are decided as no_longer_matched only');
    const itemIds = await readBulk(database, bulkId);
    const items = await readDecidableItems(database, itemIds);
    const toRows = () =>
      itemIds.flatMap((itemId) => {
        const item = items.get(itemId);
        return item === undefined ? [] : [{ ...row, itemId, seenVersion: toItemSeenVersion(item, digestKey) }];
      });
    // The same list again decides nothing twice.
    const isOwn = ({ current }: DecidableItem): boolean =>
      current?.verdict === 'no_longer_matched' && current.reviewer === reviewer.name;
    if (items.size > 0 && [...items.values()].every(isOwn)) return toRows();
    const eligible = await findPlainlyAbsent(database, itemIds);
    const isAsListed = itemIds.length > 0 && seenVersion === toBulkSeenVersion(items, itemIds, digestKey);
    if (!isAsListed || eligible.size !== itemIds.length) {
      return fault('not all of these alerts are as they were when the list was written: export again');
    }
    return toRows();
  };
