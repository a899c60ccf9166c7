import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';

// A child process to be killed: opens the embedded database in argv[2] and prints the number of each row once it is committed.
const database = await openDatabase({ folder: process.argv[2] ?? '' }, 'writer');
await migrate(database);
await database.runScript('create table if not exists line (n int primary key, filler text)');
for (let n = 1; ; n += 1) {
  await database.transaction(async (transaction) => {
    await transaction.execute(sql`insert into line values (${n}, ${'x'.repeat(2_000)})`);
  });
  process.stdout.write(`${n}\n`);
}
