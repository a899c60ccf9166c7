import { z } from 'zod';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import type { Database } from '../../src/store/database/database.js';

/** Our ledger beside the service's own count. */
export interface LedgerFigures {
  /** Searches that the service counted. */
  calls: number;
  /** Attempts that our ledger holds as sent or as unknown. */
  noted: number;
  /** Those of them whose outcome nobody learned. */
  unknown: number;
  /** Those that were sent, or may have been, and have no answer: the only ones that a stop may cause to be made again. */
  unanswered: number;
  /** Names of which the ledger has fewer attempts than the service counted calls, or knows more of them to have been sent. */
  wrong: readonly string[];
}

const noteRow = z.object({ key: z.string(), noted: z.number(), known: z.number(), unanswered: z.number() });

/** Compares the ledger of all runs that began at or after `since` with the calls that the service counted, name by name. */
export async function countLedger(
  database: Database,
  since: Date,
  calls: readonly LedgerEntry[],
): Promise<LedgerFigures> {
  const rows = await database.query(
    noteRow,
    `select request.type || '/' || request.name as key,
       count(*) filter (where outcome <> 'not_sent')::integer as noted,
       count(*) filter (where outcome not in ('not_sent', 'in_flight', 'unknown'))::integer as known,
       count(*) filter (where outcome in ('in_flight', 'unknown', 'aborted'))::integer as unanswered
     from search_attempt join screening_request request using (request_id) join run using (run_id)
     where run.started_at >= $1 group by 1`,
    [since],
  );
  const counted = new Map<string, number>();
  for (const { searchType, searchName } of calls) {
    const key = `${searchType}/${searchName}`;
    counted.set(key, (counted.get(key) ?? 0) + 1);
  }
  const notes = new Map(rows.map((row) => [row.key, row]));
  const wrong = [...new Set([...counted.keys(), ...notes.keys()])].flatMap((key) => {
    const { noted, known } = notes.get(key) ?? { noted: 0, known: 0 };
    const called = counted.get(key) ?? 0;
    return noted >= called && known <= called ? [] : [`${key}: ${called} calls, ${noted} noted, ${known} known`];
  });
  const sum = (pick: (row: z.output<typeof noteRow>) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  return {
    calls: calls.length,
    noted: sum((row) => row.noted),
    unknown: sum((row) => row.noted - row.known),
    unanswered: sum((row) => row.unanswered),
    wrong,
  };
}
