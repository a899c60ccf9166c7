import { z } from 'zod';
import type { Transaction } from '../database.js';
import { quoteName } from './describe-tables.js';

const constraintRow = z.object({ table: z.string(), name: z.string(), definition: z.string() });

/**
 * Lifts what would refuse rows because of the order in which they come, or because they are not written as a run or a reviewer writes them:
 * references between tables, constraints that older rows may break, and triggers. Gives how to put it all back, which checks every
 * reference anew; until then nothing must be committed.
 */
export async function liftChecks(transaction: Transaction, tables: readonly string[]): Promise<() => Promise<void>> {
  const constraints = await transaction.query(
    constraintRow,
    `select class.relname::text as "table", conname::text as name, pg_get_constraintdef(constrained.oid) as definition
     from pg_constraint constrained join pg_class class on class.oid = constrained.conrelid
     where class.relnamespace = (select oid from pg_namespace where nspname = current_schema())
       and class.relname = any ($1::text[]) and (contype = 'f' or contype = 'c' and not convalidated)
     order by 1, 2`,
    [[...tables]],
  );
  const names = tables.map(quoteName);
  for (const name of names) await transaction.execute(`alter table ${name} disable trigger user`);
  for (const { table, name } of constraints) {
    await transaction.execute(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`);
  }
  return async () => {
    for (const { table, name, definition } of constraints) {
      await transaction.execute(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`);
    }
    for (const name of names) await transaction.execute(`alter table ${name} enable trigger user`);
  };
}
