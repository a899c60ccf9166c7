import { type DispositionVerdict, dispositionVerdicts } from '../../matches/review/disposition.js';
import { parseItemMark } from '../../matches/review/item-code.js';
import { workingListColumns } from '../../reports/working-list.js';
import { openListTable } from './open-list-table.js';
import { parseVerdict } from './parse-verdict.js';

/** A row of a working list that somebody has filled in. */
export interface FilledRow {
  line: number;
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
  problem: string;
}

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
 * Reads a working list back, as the spreadsheet has left it: only the item, the decision, its reason and the comment; dates and ids beside
 * them, which spreadsheets mangle, are never looked at. Throws RosterError when the file is no list or lacks a column.
 */
export async function readDecisions(path: string, key: Buffer): Promise<FilledList> {
  const table = await openListTable(path, {
    names: Object.values(workingListColumns),
    required: [item, decision, reason],
    origin: 'a list of review export',
  });
  try {
    const rows: ReadRow[] = [];
    let undecided = 0;
    let onlyReasons = 0;
    for await (const batch of table.records) {
      for (const { line, fields, fault } of batch) {
        const pick = (name: string): string => table.pick(fields, name);
        const itemId = parseItemMark(pick('item'), key)?.itemId ?? null;
        if (fault !== null) rows.push({ itemId, row: { line, problem: `the row cannot be read (${fault})` } });
        else if (pick('decision') === '') {
          if (pick('item') === '') continue;
          undecided += 1;
          if (pick('reason') !== '') onlyReasons += 1;
        } else rows.push({ itemId, row: toRow(line, pick, key) });
      }
    }
    return { ...refuseRepeated(rows), undecided, onlyReasons };
  } finally {
    await table.close();
  }
}

interface ReadRow {
  /** Also of a row that cannot be taken, where it can be read. */
  itemId: number | null;
  row: FilledRow | FaultyRow;
}

/** Where an item stands twice nobody can tell which row was meant, so that none of them is taken. */
function refuseRepeated(rows: readonly ReadRow[]): Pick<FilledList, 'filled' | 'faulty'> {
  const lines = new Map<number, number[]>();
  for (const { itemId, row } of rows) {
    if (itemId !== null) lines.set(itemId, [...(lines.get(itemId) ?? []), row.line]);
  }
  const filled: FilledRow[] = [];
  const faulty: FaultyRow[] = [];
  for (const { itemId, row } of rows) {
    const { line } = row;
    const others = (itemId === null ? [] : (lines.get(itemId) ?? [])).filter((each) => each !== line);
    const problems = [
      ...('problem' in row ? [row.problem] : []),
      ...(others.length === 0 ? [] : [`the same item as line ${others.join(', ')}`]),
    ];
    if (problems.length > 0) faulty.push({ line, problem: problems.join('; ') });
    else if (!('problem' in row)) filled.push(row);
  }
  return { filled, faulty };
}

function toRow(line: number, pick: (name: string) => string, key: Buffer): FilledRow | FaultyRow {
  const mark = parseItemMark(pick('item'), key);
  if (mark === null)
    return { line, problem: `${JSON.stringify(pick('item'))} is no item of a list: a slip of the pen?` };
  const verdict = parseVerdict(pick('decision'));
  if (verdict === null) {
    return { line, problem: `the decision is none of ${dispositionVerdicts.join(', ')}` };
  }
  const reason = pick('reason');
  if (reason === '') return { line, problem: 'the decision has no reason' };
  const [, sheet] = /^S-?(\d{1,15})$/i.exec(pick('sheet')) ?? [];
  return {
    line,
    ...mark,
    sheetId: sheet === undefined ? null : Number(sheet),
    verdict,
    reason,
    comment: pick('comment') || null,
  };
}
