import { StoreError } from '../errors.js';

/** The one row that a statement must give; throws StoreError naming the table when there is none. */
export function firstRow<Row>(rows: readonly Row[], table: string): Row {
  const row = rows[0];
  if (row === undefined) throw new StoreError('row_missing', `expected a row of ${table} and found none`);
  return row;
}
