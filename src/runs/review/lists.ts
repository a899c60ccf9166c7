import { createHmac } from 'node:crypto';
import { parseItemCode, toItemCode, toSeenVersion } from '../../matches/item-code.js';
import type { DiscrepancyList, WaitingItem } from '../../reports/list-facts.js';
import { discrepancyListColumns, workingListColumns } from '../../reports/review-list.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { type DecidableItem, readDecidableItems } from '../../store/review/decisions.js';
import {
  findPlainlyAbsent,
  insertReviewSheet,
  readBulk,
  readWaitingItems,
  saveBulk,
} from '../../store/review/waiting.js';
import { type DispositionVerdict, dispositionVerdicts } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { type AcceptanceList, listDiscrepancies, readAcceptances } from './accept-discrepancies.js';
import { toItemSeenVersion, toWaitingItem } from './items.js';
import { type ListTable, openListTable } from './list-table.js';
import { type Reviewer, requirePerson, requireRoster } from './people.js';

/** A working list. */
export interface WorkingList {
  sheetId: number;
  exportedAt: Date;
  items: readonly WaitingItem[];
  discrepancies: DiscrepancyList;
}

/** Which items a working list is made of, and by whom. */
interface WorkingListRequest {
  roster: string | null;
  exportedBy: string;
  /** Only what this person answers for. */
  assignee?: string | null;
  /** Only what waits for a second person. */
  onlyProposals?: boolean;
  /** Discrepancies beyond those that fit on a sheet as well. */
  allDiscrepancies?: boolean;
  /** Without what this person has proposed, which others have to confirm. */
  notProposedBy?: string | null;
}

/** Puts together what waits for reviewers, each item with the mark by which a decision about it is read back. Throws ConfigError for an unknown name. */
export async function exportItems(
  { database, settings, clock }: AppContext,
  {
    roster,
    exportedBy,
    assignee = null,
    onlyProposals = false,
    notProposedBy = null,
    allDiscrepancies = false,
  }: WorkingListRequest,
): Promise<WorkingList> {
  const now = clock.now();
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireRoster(database, organisationId, roster);
  await requirePerson(database, organisationId, { name: assignee, flag: '--assignee' });
  const sheetId = await insertReviewSheet(database, { exportedAt: now, exportedBy });
  const all = await readWaitingItems(database, { organisation: name, roster, assignee, now });
  const waiting = all.filter(
    ({ proposal }) =>
      (proposal !== null || !onlyProposals) && (proposal === null || proposal.reviewer !== notProposedBy),
  );
  const items = waiting.map((item) => ({ itemId: item.itemId, shown: toWaitingItem(item, { sheetId, digestKey }) }));
  const bulk = await listBulkRows(database, items, { sheetId, digestKey });
  const discrepancies = await chooseDiscrepancies(database, name, {
    ...{ roster, onlyProposals, notProposedBy, allDiscrepancies },
    isAssigned: assignee !== null,
  });
  return { sheetId, exportedAt: now, items: [...bulk, ...items.map(({ shown }) => shown)], discrepancies };
}

/** The discrepancies of a working list; nobody answers for one of them. */
async function chooseDiscrepancies(
  database: Database,
  organisation: string,
  choice: Required<Pick<WorkingListRequest, 'roster' | 'onlyProposals' | 'notProposedBy' | 'allDiscrepancies'>> & {
    isAssigned: boolean;
  },
): Promise<DiscrepancyList> {
  const { roster, onlyProposals, notProposedBy, allDiscrepancies, isAssigned } = choice;
  const isChosen = onlyProposals || notProposedBy !== null;
  const none = { count: 0, listed: [] };
  if (isAssigned) return none;
  const all =
    (await listDiscrepancies(database, organisation, { roster }, isChosen || allDiscrepancies ? null : undefined)) ??
    none;
  if (!isChosen) return all;
  const listed = all.listed.filter(({ acceptance }) => {
    const proposer = acceptance?.isFinal === false ? acceptance.reviewer : null;
    return (proposer !== null || !onlyProposals) && (proposer === null || proposer !== notProposedBy);
  });
  return { count: listed.length, listed };
}

/** A row of a working list that somebody has filled in. */
export interface FilledRow {
  line: number;
  /** Whom the row is about; null where nothing says it. */
  customer: string | null;
  itemId: number;
  seenVersion: string;
  /** The working list that it is on, where the row still says so. */
  sheetId: number | null;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
}

/** A row that cannot be taken, with why in words. */
export interface FaultyRow {
  line: number;
  customer: string | null;
  /** Where the cell can be read. */
  itemId: number | null;
  problem: string;
}

/** A filled row that names many absent alerts by one number. */
type BulkRow = Omit<FilledRow, 'itemId'> & { bulkId: number };

/** Gives the row of each alert that a bulk row names, or why they cannot be taken together. */
type ExpandBulk = (row: BulkRow) => Promise<readonly FilledRow[] | FaultyRow>;

/** What a working list holds. */
export interface FilledList {
  filled: readonly FilledRow[];
  faulty: readonly FaultyRow[];
  /** Rows that nobody has decided about yet. */
  undecided: number;
  /** Of these: rows with a reason all the same, where a decision may have been forgotten. */
  onlyReasons: number;
}

const { item, decision, reason } = workingListColumns;

/**
 * Reads a working list back, as the spreadsheet has left it, of alerts, of discrepancies or, in a workbook, of both: only what names a row and
 * what is filled in; dates and ids beside it, which spreadsheets mangle, are never looked at. Throws RosterError when the file is no list or
 * lacks a column.
 */
export async function readReviewList(
  path: string,
  key: Buffer,
  expandBulk: ExpandBulk,
): Promise<{ decisions: FilledList; acceptances: AcceptanceList | null }> {
  const origin = 'a list of review export';
  const columns = Object.values(discrepancyListColumns);
  const ofDiscrepancies = await openListTable(path, { names: columns, required: columns, origin, isOptional: true });
  const acceptances =
    ofDiscrepancies && (await readAcceptances(ofDiscrepancies, key).finally(() => ofDiscrepancies.close()));
  const names = Object.values(workingListColumns);
  const required = [item, decision, reason];
  const table = await openListTable(path, { names, required, origin, isOptional: acceptances !== null });
  const decisions =
    table === null
      ? { filled: [], faulty: [], undecided: 0, onlyReasons: 0 }
      : await readDecisions(table, key, expandBulk);
  return { decisions, acceptances };
}

async function readDecisions(table: ListTable, key: Buffer, expandBulk: ExpandBulk): Promise<FilledList> {
  try {
    const rows: (FilledRow | BulkRow | FaultyRow)[] = [];
    let undecided = 0;
    let onlyReasons = 0;
    for await (const batch of table.records) {
      for (const { line, fields, fault } of batch) {
        const pick = (name: string): string => table.pick(fields, name);
        const itemId = parseItemCode(pick('item'), key)?.itemId ?? null;
        const about = { line, customer: pick('reference') || null, itemId };
        if (fault !== null) rows.push({ ...about, problem: `the row cannot be read (${fault})` });
        else if (pick('decision') === '') {
          if (pick('item') === '') continue;
          undecided += 1;
          if (pick('reason') !== '') onlyReasons += 1;
        } else rows.push(toRow(about, pick, key));
      }
    }
    const single: (FilledRow | FaultyRow)[] = [];
    for (const row of rows) {
      const named = 'bulkId' in row ? await expandBulk(row) : row;
      single.push(...('line' in named ? [named] : named));
    }
    return { ...refuseRepeated(single), undecided, onlyReasons };
  } finally {
    await table.close();
  }
}

/** Where an item stands twice nobody can know which row was meant, so that none of them is taken. */
function refuseRepeated(rows: readonly (FilledRow | FaultyRow)[]): Pick<FilledList, 'filled' | 'faulty'> {
  const lines = new Map<number, number[]>();
  for (const { itemId, line } of rows) {
    if (itemId !== null) lines.set(itemId, [...(lines.get(itemId) ?? []), line]);
  }
  const filled: FilledRow[] = [];
  const faulty: FaultyRow[] = [];
  for (const row of rows) {
    const { line, customer, itemId } = row;
    const others = (itemId === null ? [] : (lines.get(itemId) ?? [])).filter((each) => each !== line);
    const problems = [
      ...('problem' in row ? [row.problem] : []),
      ...(others.length === 0 ? [] : [`the same item as line ${others.join(', ')}`]),
    ];
    if (problems.length > 0) faulty.push({ line, customer, itemId, problem: problems.join('; ') });
    else if (!('problem' in row)) filled.push(row);
  }
  return { filled, faulty };
}

function toRow(
  about: Pick<FaultyRow, 'line' | 'customer' | 'itemId'>,
  pick: (name: string) => string,
  key: Buffer,
): FilledRow | BulkRow | FaultyRow {
  const bulk = parseItemCode(pick('item'), key, 'B');
  const mark = bulk ?? parseItemCode(pick('item'), key);
  if (mark === null)
    return { ...about, problem: `${JSON.stringify(pick('item'))} is no item of a list: a slip of the pen?` };
  const verdict = parseVerdict(pick('decision'));
  if (verdict === null) {
    return { ...about, problem: `the decision is none of ${dispositionVerdicts.join(', ')}` };
  }
  const reason = pick('reason');
  if (reason === '') return { ...about, problem: 'the decision has no reason' };
  const [, sheet] = /^S-?(\d{1,15})$/i.exec(pick('sheet')) ?? [];
  const said = {
    verdict,
    reason,
    sheetId: sheet === undefined ? null : Number(sheet),
    comment: pick('comment') || null,
  };
  const { line, customer } = about;
  if (bulk === null) return { line, customer, ...mark, ...said };
  return { line, customer, bulkId: mark.itemId, seenVersion: mark.seenVersion, ...said };
}

/** Reads a verdict in whatever case and spacing it was typed; null where it is none. */
export function parseVerdict(text: string): DispositionVerdict | null {
  const folded = text.toLowerCase().replace(/[\s-]+/g, '_');
  return dispositionVerdicts.find((verdict) => verdict === folded) ?? null;
}

/** An alert as a working list shows it. */
interface ListedAlert {
  itemId: number;
  shown: WaitingItem;
}

/** The most alerts that one row confirms. */
const mostAlerts = 500;
/** Of each such row these many customers are named for quality assurance: a share, and at least so many. */
const sample = { share: 0.05, least: 5 };

/**
 * Rows that each confirm the absent alerts of one listed party and one kind of absence as no longer matched: for alerts that nobody has
 * proposed anything about, that are no true match, of customers whose record is as it was and whose last answer is whole. The row is bound
 * to a digest of its alerts as they are now.
 */
async function listBulkRows(
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
