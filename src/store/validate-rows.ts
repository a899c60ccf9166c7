import type { z } from 'zod';
import { StoreError } from '../errors.js';

/** The rows as their schema types them; throws StoreError (`database_row`) that names the columns at fault, never their values. */
export function validateRows<Row>(row: z.ZodType<Row>, rows: readonly unknown[]): Row[] {
  return rows.map((candidate) => {
    const result = row.safeParse(candidate);
    if (result.success) return result.data;
    const columns = [
      ...new Set(result.error.issues.map((issue) => `${issue.path.join('.') || 'row'} (${issue.code})`)),
    ];
    throw new StoreError('database_row', `a row of the database breaks its schema at ${columns.join(', ')}`);
  });
}
