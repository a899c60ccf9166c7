import { type DispositionVerdict, dispositionVerdicts } from '../../matches/review/disposition.js';
import { parseItemMark } from '../../matches/review/item-code.js';
import { discrepancyListColumns } from '../../reports/discrepancy-list.js';
import { workingListColumns } from '../../reports/working-list.js';
import { type AcceptanceList, readAcceptances } from './accept-discrepancies.js';
import { type ListTable, openListTable } from './open-list-table.js';
import { parseVerdict } from './parse-verdict.js';

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
export type BulkRow = Omit<FilledRow, 'itemId'> & { bulkId: number };

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
