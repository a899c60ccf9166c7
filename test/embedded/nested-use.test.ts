import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeOnEachDatabase } from '../helpers/databases.js';

const numberRow = z.object({ n: z.number() });

describeOnEachDatabase('a database that is used inside its own transaction', (open) => {
  it('refuses instead of waiting for ever', async () => {
    const database = await open();
    const attempts: (() => Promise<unknown>)[] = [
      () => database.query(numberRow, 'select 1 as n'),
      () => database.execute('select 1'),
      () => database.runScript('select 1'),
      () => database.transaction(async () => 1),
      () => database.cursor(numberRow, 'select 1 as n', 1)[Symbol.asyncIterator]().next(),
    ];
    for (const attempt of attempts) {
      await expect(database.transaction(attempt)).rejects.toMatchObject({ code: 'transaction_nested' });
    }
  });
});
