import { open } from 'node:fs/promises';
import { RosterError } from '../../errors.js';
import { findOddFile } from '../../files.js';
import { type DispositionVerdict, dispositionVerdicts } from '../../matches/review/disposition.js';
import { parseItemMark } from '../../matches/review/item-code.js';
import { type DiscrepancyList, discrepancyListColumns } from '../../reports/discrepancy-list.js';
import { type WaitingItem, workingListColumns } from '../../reports/review-list.js';
import { openCsvTable } from '../../roster/csv/csv-table.js';
import type { TableReading, TableRecord } from '../../roster/table-reading.js';
import { openWorkbookTable } from '../../roster/workbook/open-workbook-table.js';
import type { Database } from '../../store/database/database.js';
import { readOrganisation } from '../../store/organisations.js';
import { insertReviewSheet, readWaitingItems } from '../../store/review/waiting.js';
import type { Workplace } from '../workplace.js';
import { type AcceptanceList, listDiscrepancies, readAcceptances } from './accept-discrepancies.js';
import { listBulkRows } from './bulk-absences.js';
import { toWaitingItem } from './items.js';
import { requirePerson, requireRoster } from './people.js';

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
  { database, settings, clock }: Workplace,
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
  stamp: string;
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
export type ExpandBulk = (row: BulkRow) => Promise<readonly FilledRow[] | FaultyRow>;

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
        const itemId = parseItemMark(pick('item'), key)?.itemId ?? null;
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

/** Where an item stands twice nobody can tell which row was meant, so that none of them is taken. */
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
  const bulk = parseItemMark(pick('item'), key, 'B');
  const mark = bulk ?? parseItemMark(pick('item'), key);
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
  return { line, customer, bulkId: mark.itemId, stamp: mark.stamp, ...said };
}

/** A list that somebody has filled in, by the names of its columns. */
export interface ListTable {
  records: TableReading['records'];
  /** Whether it has a column of this name. */
  has(name: string): boolean;
  /** The trimmed text of a row in a column; empty where there is none. */
  pick(fields: readonly string[], name: string): string;
  close(): Promise<void>;
}

interface WantedList {
  names: readonly string[];
  required: readonly string[];
  /** What makes such lists. */
  origin: string;
  /** Null, where it lacks a required column. */
  isOptional?: boolean;
}

/**
 * Opens a CSV file or a workbook by what it begins with; columns are found by name in whatever case and spacing, a workbook's header by the
 * `required` ones. Throws RosterError when it is neither, when it cannot be read, when it lacks one of them, or has one of `names` twice.
 */
export async function openListTable(path: string, wanted: WantedList & { isOptional?: false }): Promise<ListTable>;
export async function openListTable(path: string, wanted: WantedList): Promise<ListTable | null>;
export async function openListTable(
  path: string,
  { names, required, origin, isOptional = false }: WantedList,
): Promise<ListTable | null> {
  const odd = findOddFile(path);
  if (odd !== null)
    throw new RosterError('roster_unreadable', `${path} ${odd}. Save the list as a file and name that.`);
  const isOurs = (header: string): boolean => names.includes(foldHeader(header));
  const table = (await isWorkbook(path))
    ? await openWorkbookTable(path, (cells) => required.every((name) => cells.map(foldHeader).includes(name)))
    : await openCsvTable({ path, delimiter: 'auto', encoding: 'auto', header: true }, isOurs).catch(adviseOnEncoding);
  const folded = table.headers.map(foldHeader);
  const places = new Map(folded.map((header, index) => [header, index]));
  const missing = required.filter((name) => !places.has(name));
  if (missing.length > 0) {
    await table.close();
    if (isOptional) return null;
    throw new RosterError('columns_missing', `${path} has no column ${missing.join(', ')}: is it ${origin}?`);
  }
  const repeated = names.filter((name) => folded.indexOf(name) !== folded.lastIndexOf(name));
  if (repeated.length > 0) {
    await table.close();
    const columns = repeated.map((name) => `${name} (${toOrdinals(folded, name)})`).join(', ');
    throw new RosterError('columns_repeated', `${path} has columns twice: ${columns}. Leave one of each.`);
  }
  return {
    records: advise(table.records),
    has: (name) => places.has(name),
    pick: (fields, name) => fields[places.get(name) ?? -1]?.trim() ?? '',
    close: () => table.close(),
  };
}

async function* advise(records: ListTable['records']): AsyncGenerator<readonly TableRecord[]> {
  try {
    yield* records;
  } catch (error) {
    adviseOnEncoding(error);
  }
}

/** There is no configuration to declare an encoding in, as there is for a roster. */
function adviseOnEncoding(error: unknown): never {
  if (!(error instanceof RosterError && error.code === 'encoding')) throw error;
  const [where] = error.message.split('. ');
  throw new RosterError('encoding', `${where}. Save it as CSV UTF-8, or as .xlsx.`, { cause: error });
}

const toOrdinals = (headers: readonly string[], name: string): string =>
  headers.flatMap((header, index) => (header === name ? `column ${index + 1}` : [])).join(' and ');

const foldHeader = (header: string): string =>
  header
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

const saveAs = 'Save it as .xlsx without a password, or as CSV UTF-8';

const zipHeaderLength = 30;

/** Throws RosterError where it is another file of an office program. */
async function isWorkbook(path: string): Promise<boolean> {
  const start = await readStart(path);
  if (start.startsWith('\xd0\xcf\x11\xe0')) {
    throw new RosterError(
      'not_a_workbook',
      `${path} has a password, or is a workbook of an old kind (.xls). ${saveAs}.`,
    );
  }
  if (start.startsWith('mimetypeapplication/vnd.oasis.opendocument', zipHeaderLength)) {
    throw new RosterError('not_a_workbook', `${path} is an OpenDocument file (.ods). ${saveAs}.`);
  }
  if (start.startsWith('PK')) return true;
  if (/\.xlsx$/i.test(path)) {
    throw new RosterError('not_a_workbook', `${path} is called .xlsx and is no workbook. ${saveAs}.`);
  }
  return false;
}

/** Nothing where there is no such file: patterns and missing files are CSV's to tell. */
async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => null);
  try {
    const found = await file?.read(Buffer.alloc(100), 0, 100, 0).catch(() => undefined);
    return found?.buffer.toString('latin1', 0, found.bytesRead) ?? '';
  } finally {
    await file?.close();
  }
}

/** Reads a verdict in whatever case and spacing it was typed; null where it is none. */
export function parseVerdict(text: string): DispositionVerdict | null {
  const folded = text.toLowerCase().replace(/[\s-]+/g, '_');
  return dispositionVerdicts.find((verdict) => verdict === folded) ?? null;
}
