import { StoreError } from '../errors.js';

/** Nobody whom the roster names may be left out: throws StoreError unless as many rows were written as were to be; `what` names them. */
export function requireAll(saved: number, expected: number, what = 'parties'): void {
  if (saved === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `${saved} of ${expected} ${what} of the roster could be stored, so nothing of it was; please report this`,
  );
}

/** What was paid for is kept whole or not at all: throws StoreError unless as many rows of a table were written as were to be. */
export function requireRows(written: number, expected: number, table: string): void {
  if (written === expected) return;
  throw new StoreError(
    'rows_missing',
    `${written} of ${expected} rows of ${table} could be written, so the transaction was taken back; please report this`,
  );
}

/** What a statement gave for this key; throws StoreError naming the table when it gave nothing. */
export function requireFound<Key, Value>(found: ReadonlyMap<Key, Value>, key: Key, table: string): Value {
  const value = found.get(key);
  if (value === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return value;
}
