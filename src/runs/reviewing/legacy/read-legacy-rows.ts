import { type DispositionVerdict, dispositionVerdicts } from '../../../matches/review/disposition.js';
import { parseIsoDate } from '../../../roster/birth-date.js';
import { restoreFormula } from '../../../roster/restore-formula.js';
import { openListTable } from '../open-list-table.js';
import { parseVerdict } from '../parse-verdict.js';

/** The columns of a list of an older system, as they are called and as they are handed back. */
export const legacyColumns = [
  'customer_id',
  'roster',
  'match_id',
  'listed_name',
  'listed_birth_date',
  'decision',
  'reason',
  'decided_by',
  'decided_at',
  'comment',
] as const;
type LegacyColumn = (typeof legacyColumns)[number];

/** What an older system says of a customer and somebody who is listed. */
export interface LegacyFacts {
  reference: string;
  roster: string | null;
  matchId: string | null;
  listedName: string | null;
  listedBirthDate: string | null;
  verdict: DispositionVerdict;
  reason: string;
  decidedBy: string;
  /** In the older system's own words. */
  decidedAt: string;
  comment: string | null;
}

/** A row of such a list, with its cells as they came. */
export interface LegacyRow {
  line: number;
  cells: Readonly<Record<LegacyColumn, string>>;
  /** What it says, or why that cannot be told. */
  facts: LegacyFacts | { problem: string };
}

const required = ['customer_id', 'decision', 'reason', 'decided_by', 'decided_at'] as const;

/** Reads the list of an older system; throws RosterError when it is neither CSV nor a workbook, or lacks a column. */
export async function readLegacyRows(path: string): Promise<readonly LegacyRow[]> {
  const table = await openListTable(path, { names: legacyColumns, required, origin: 'a list of an older system' });
  try {
    const rows: LegacyRow[] = [];
    for await (const batch of table.records) {
      for (const { line, fields, fault } of batch) {
        const pick = (name: LegacyColumn): string => restoreFormula(table.pick(fields, name)).trim();
        const cells = {
          customer_id: pick('customer_id'),
          roster: pick('roster'),
          match_id: pick('match_id'),
          listed_name: pick('listed_name'),
          listed_birth_date: pick('listed_birth_date'),
          decision: pick('decision'),
          reason: pick('reason'),
          decided_by: pick('decided_by'),
          decided_at: pick('decided_at'),
          comment: pick('comment'),
        };
        const facts = fault === null ? toFacts(cells) : { problem: `the row cannot be read (${fault})` };
        rows.push({ line, cells, facts });
      }
    }
    return rows;
  } finally {
    await table.close();
  }
}

function toFacts(cells: LegacyRow['cells']): LegacyRow['facts'] {
  const empty = required.find((name) => cells[name] === '');
  if (empty !== undefined) return { problem: `${empty} is empty` };
  const verdict = parseVerdict(cells.decision);
  if (verdict === null || verdict === 'no_longer_matched')
    return { problem: `the decision is none of ${dispositionVerdicts.join(', ')}` };
  if (cells.match_id === '' && cells.listed_name === '') {
    return { problem: 'neither match_id nor listed_name says who is listed' };
  }
  const listedBirthDate = cells.listed_birth_date === '' ? null : parseIsoDate(cells.listed_birth_date);
  if (listedBirthDate === null && cells.listed_birth_date !== '') {
    return { problem: 'listed_birth_date is not written yyyy-mm-dd, yyyy-mm or yyyy' };
  }
  return {
    reference: cells.customer_id.normalize('NFC'),
    roster: cells.roster || null,
    matchId: cells.match_id || null,
    listedName: cells.listed_name || null,
    listedBirthDate,
    verdict,
    reason: cells.reason,
    decidedBy: cells.decided_by,
    decidedAt: cells.decided_at,
    comment: cells.comment || null,
  };
}
