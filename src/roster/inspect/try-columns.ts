import { bindColumns } from '../bind-columns.js';
import { checkRow } from '../check-row.js';
import { columnsSchema } from '../column-settings.js';
import type { RejectReason } from '../customer.js';
import type { ColumnGuess, GuessedColumns } from './guess.js';
import { createRepetitionCounter } from './repetitions.js';

type Dispensable = 'birthDate' | 'countries' | 'riskTier' | 'type';

/** What of a mapping a row is rejected for, where it can do without it. */
const dispensable: Partial<Record<RejectReason, Dispensable>> = {
  invalid_birth_date: 'birthDate',
  unknown_country: 'countries',
  unknown_risk_tier: 'riskTier',
  unknown_type: 'type',
  missing_type: 'type',
};

/** Tries a guessed mapping on the rows that were looked at, and leaves out what would reject more than half of them. */
export function tryColumns(
  guess: ColumnGuess,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): ColumnGuess {
  if (guess.columns.id === undefined || guess.columns.name === undefined) return guess;
  let tried = guess;
  for (const _ of Object.keys(dispensable)) {
    const reasons = countReasons(tried.columns, headers, rows);
    const rejected = [...reasons.values()].reduce((sum, count) => sum + count, 0);
    const [top] = [...reasons].toSorted(([, one], [, other]) => other - one);
    const key = top && dispensable[top[0]];
    if (rejected <= rows.length / 2 || top === undefined || key === undefined || tried.columns[key] === undefined)
      break;
    tried = leaveOut(tried, key, `${top[1]} of ${rows.length} rows would be rejected as ${top[0]}`);
  }
  return tried;
}

function leaveOut(guess: ColumnGuess, key: Dispensable, why: string): ColumnGuess {
  const { [key]: _out, ...columns } = guess.columns;
  const instead: GuessedColumns = key === 'type' ? { type: { value: 'person' } } : {};
  const { [key]: _because, ...because } = guess.because;
  return {
    columns: { ...columns, ...instead },
    because: { ...because, ...(key === 'type' && { type: 'no column tells' }) },
    doubts: [...guess.doubts, `${key} is left out: with it ${why}`],
  };
}

function countReasons(
  columns: GuessedColumns,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): ReadonlyMap<RejectReason, number> {
  const binding = bindColumns(columnsSchema.parse(columns), { headers, source: 'the sample', origin: 'first_line' });
  const repetitions = createRepetitionCounter();
  const reasons = new Map<RejectReason, number>();
  for (const [at, fields] of rows.entries()) {
    const row = checkRow(binding, { line: at + 1, file: null, fields, fault: null });
    if (row.kind === 'customer') repetitions.note(row.customer);
    else reasons.set(row.rejected.reason, (reasons.get(row.rejected.reason) ?? 0) + 1);
  }
  const { conflicting } = repetitions.sum();
  if (conflicting > 0) reasons.set('conflicting_id', conflicting);
  return reasons;
}
